/*
 * Random fleets that change, with decision groups that are cut anew each time, so that clusters
 * change their objects: one that is selected before and after a change is in some object all the
 * while, and in the end there is what is decided. Members stay at each write, and no hard term is
 * broken by one that comes.
 */
#include "unit/hub/played_hub.h"

#include <stdio.h>

enum { CLUSTERS = 18, ZONES = 3, ROUNDS = 60 };

static struct played_hub hub;
static uint64_t seed;
static bool known[CLUSTERS], missing[CLUSTERS]; /* in no object after some write of the round */
static bool tainted[CLUSTERS], held[CLUSTERS];  /* held: before the write that is looked at */
static int zone_of[CLUSTERS];
static int number; /* of clusters; -1: none */
static bool is_hard;

static const char *name_at(unsigned i) {
    static char name[8];
    (void)snprintf(name, sizeof name, "c%02u", i);
    return name;
}

/* By the terms alone: maxSkew 1, of zones in which some cluster fits. */
static bool is_above(const unsigned *count, const bool *exists, int zone) {
    unsigned least = CLUSTERS;
    for (int z = 0; z < ZONES; z++)
        least = exists[z] && count[z] < least ? count[z] : least;
    return count[zone] > least + 1;
}

/* No write takes one away that fits where fewer than asked for are left; none adds to a zone that
 * is then above the hard term. */
static void members_stay(struct played_hub *h) {
    unsigned count[ZONES] = {0}, left = 0;
    bool exists[ZONES] = {false}, now[CLUSTERS];
    for (unsigned i = 0; i < CLUSTERS; i++) {
        now[i] = played_holds(h, name_at(i)) > 0;
        exists[zone_of[i]] = exists[zone_of[i]] || (known[i] && !tainted[i]);
        count[zone_of[i]] += now[i] && known[i] && !tainted[i];
        left += now[i] && known[i] && !tainted[i];
    }
    for (unsigned i = 0; i < CLUSTERS; i++) {
        if (held[i] && !now[i] && known[i] && !tainted[i] &&
            (number < 0 || left < (unsigned)number))
            fail_msg("%s was taken away, %u of %d are left", name_at(i), left, number);
        if (is_hard && !held[i] && now[i] && is_above(count, exists, zone_of[i]))
            fail_msg("%s came to zone %d, which is above maxSkew", name_at(i), zone_of[i]);
        held[i] = now[i];
    }
}

static void note_write(struct played_hub *h) {
    for (unsigned i = 0; i < CLUSTERS; i++)
        missing[i] = missing[i] || played_holds(h, name_at(i)) == 0;
    members_stay(h);
}

static void change_cluster(void) {
    const unsigned i = (unsigned)(unit_random(&seed) % CLUSTERS);
    char labels[32];
    if (known[i] && unit_random(&seed) % 2 == 0) {
        fleet_drop(&hub.fleet, FLEET_CLUSTERS, NULL, name_at(i));
        known[i] = false;
        return;
    }
    if (!known[i])
        zone_of[i] = (int)(unit_random(&seed) % ZONES);
    known[i] = true;
    (void)snprintf(labels, sizeof labels, "'zone':'z%d'", zone_of[i]);
    tainted[i] = unit_random(&seed) % 4 == 0;
    played_cluster(&hub, name_at(i), labels,
                   tainted[i] ? "'spec':{'taints':[{'key':'a','effect':'NoSelect'}]}" : "");
}

static void change_placement(bool hard) {
    char spec[500], text[40] = "";
    is_hard = hard;
    number = unit_random(&seed) % 3 != 0 ? (int)(unit_random(&seed) % CLUSTERS) : -1;
    if (number >= 0)
        (void)snprintf(text, sizeof text, ",'numberOfClusters':%d", number);
    (void)snprintf(spec, sizeof spec,
                   "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone','topologyKeyType':"
                   "'Label'%s}]},'decisionStrategy':{'groupStrategy':{'clustersPerDecisionGroup':"
                   "%u}}%s",
                   hard ? ",'whenUnsatisfiable':'DoNotSchedule'" : "",
                   3 + (unsigned)(unit_random(&seed) % 8), text);
    played_placement(
        &hub, "'" PLACEMENT_MODE_ANNOTATION "':'Owner','" PLACEMENT_DISABLE_ANNOTATION "':'true'",
        spec);
}

/* What is decided of the state that there is now. */
static void is_as_decided(void) {
    struct fleet_view *view = (struct fleet_view *)(uintptr_t)fleet_look(&hub.fleet);
    struct arena arena;
    struct placement p;
    struct ocm_decision d;
    struct json_reader r;
    struct err err;
    if (fleet_lacks_all(view))
        return; /* a hub without a cluster says nothing: what is decided stays */
    arena_init(&arena, 64u << 20);
    json_reader_init(&r, fleet_placement_json(view, STR("n"), STR("p")), &arena, "Placement");
    placement_decode(&r, &p);
    assert_int_equal(json_finish(&r, &err), 0);
    const struct ocm_question q = {
        .placement = &p, .now_ms = 1800000000000 + hub.now_ms, .reachable = true};
    assert_int_equal(ocm_decide(view, &q, &arena, &d, &err), 0);
    unsigned count = 0;
    for (unsigned i = 0; i < CLUSTERS; i++)
        count += played_holds(&hub, name_at(i));
    assert_int_equal(count, d.plan.selected_count); /* each in one object */
    for (uint32_t i = 0; i < d.plan.selected_count; i++) {
        char name[8] = "";
        const struct str selected = ocm_cluster_name(&d, d.plan.selected[i]);
        memcpy(name, selected.p, selected.n < sizeof name ? selected.n : 0);
        assert_int_equal(played_holds(&hub, name), 1);
    }
    arena_done(&arena);
}

static void one_round(bool hard) {
    bool before[CLUSTERS];
    for (unsigned i = 0; i < CLUSTERS; i++) {
        before[i] = played_holds(&hub, name_at(i)) > 0;
        missing[i] = false;
    }
    for (uint64_t n = 1 + unit_random(&seed) % 3; n > 0; n--)
        change_cluster();
    if (unit_random(&seed) % 3 == 0)
        change_placement(hard);
    for (int i = 0; i < 4; i++) { /* until all that waits has moved */
        (void)played_settle(&hub);
        hub.now_ms += 61000;
    }
    assert_int_equal(played_settle(&hub), 0);
    for (unsigned i = 0; i < CLUSTERS; i++)
        if (before[i] && played_holds(&hub, name_at(i)) > 0 && missing[i])
            fail_msg("%s was in no object for a moment", name_at(i));
    is_as_decided();
}

static void fleets_that_change(void **state) {
    (void)state;
    seed = unit_seed();
    for (int fleet = 0; fleet < 12; fleet++) {
        played_open(&hub);
        hub.check = note_write;
        memset(known, 0, sizeof known);
        memset(held, 0, sizeof held);
        memset(tainted, 0, sizeof tainted);
        change_placement(fleet % 2 == 0);
        for (int round = 0; round < ROUNDS; round++)
            one_round(fleet % 2 == 0);
        played_close(&hub);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fleets_that_change)};
    return cmocka_run_group_tests_name("owned placements at random", tests, NULL, NULL);
}
