/*
 * How often a Placement moves when nothing forces it to: 24 hours in which the scores of 500
 * clusters move by -10 to 10 each minute, on virtual time. Three lists of prioritizers, each
 * decided by OCM's own selection (no terms, decided anew each minute) and by Owner mode with two
 * terms, with three settings. Prints one JSON object for each pair:
 *
 *     churn [SEED]
 *
 * "moves": clusters that the Placement had and has no more, after its first decision; "spread": how
 * many of these began because it became more even. The same seed gives the same figures.
 */
#include "bench/hub.h"
#include "bench/number.h"
#include "hub/owned.h"
#include "ocm/decide.h"

#include <stdio.h>

enum {
    CLUSTERS = 500,
    ZONES = 20,
    REGIONS = 5,
    MINUTES = 24 * 60,
    MINUTE_MS = 60000,
    STEP = 10,
    MOST = 100,
};

#define SCORE(weight)                                                                              \
    "{'scoreCoordinate':{'type':'AddOn','addOn':{'resourceName':'r','scoreName':'s'}},'weight'"    \
    ":" weight "}"
#define STEADY(weight) ",{'scoreCoordinate':{'builtIn':'Steady'},'weight':" weight "}"
#define BY(list) "'prioritizerPolicy':{'mode':'Exact','configurations':[" list "]}"
#define TERM(key) "{'topologyKey':'" key "','topologyKeyType':'Label'}"
#define TERMS "'spreadPolicy':{'spreadConstraints':[" TERM("region") "," TERM("zone") "]},"
#define NUMBER "'numberOfClusters':50,"

static const struct {
    const char *name, *plain, *spread; /* specs without terms, and with them */
} policies[] = {
#define ROW(name, list)                                                                            \
    { name, NUMBER BY(list), NUMBER TERMS BY(list) }
    ROW("the score", SCORE("1")),
    ROW("the score, Steady 1", SCORE("1") STEADY("1")),
    ROW("the score, Steady 3", SCORE("1") STEADY("3")),
};

static const struct decider {
    const char *name;
    bool is_ocm;
    struct owned_settings settings;
} deciders[] = {
    {.name = "OCM alone", .is_ocm = true},
    {.name = "Owner", .settings = {.moves = {10000, 10}}},
    {.name = "Owner, movesPerMinute 1", .settings = {.moves = {10000, 1}}},
    {.name = "Owner, settleAfter 2m", .settings = {.moves = {120000, 10}}},
};

enum {
    POLICIES = sizeof policies / sizeof policies[0],
    DECIDERS = sizeof deciders / sizeof deciders[0],
    ALL = POLICIES * DECIDERS,
};

/* Placement i is of policy i / DECIDERS and of decider i % DECIDERS. */
static struct hub hub;
static struct owned owned[ALL];
static uint64_t spread_moves[ALL];
static struct arena arena;

/* ---- scores ---- */

static uint64_t random_state;
static int scores[CLUSTERS];

static uint32_t next_number(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static void move_scores(void) {
    for (int c = 0; c < CLUSTERS; c++) {
        const int to = scores[c] + (int)(next_number() % (2 * STEP + 1)) - STEP;
        scores[c] = to > MOST ? MOST : to < -MOST ? -MOST : to;
        hub_give(&hub, FLEET_SCORES,
                 "{'metadata':{'name':'r','namespace':'c%03d'},'status':{'scores':[{'name':'s',"
                 "'value':%d}]}}",
                 c, scores[c]);
    }
}

/* ---- OCM ---- */

static void put_status(const struct ocm_decision *d, struct strbuf *out) {
    strbuf_append_str(out, STR("{\"decisions\":["));
    for (uint32_t k = 0; k < d->plan.selected_count; k++)
        strbuf_appendf(out, "%s{\"clusterName\":\"%.*s\",\"reason\":\"\"}", k > 0 ? "," : "",
                       STR_ARG(ocm_cluster_name(d, d->plan.selected[k])));
    strbuf_append_str(out, STR("]}"));
}

static void decide_as_ocm(uint32_t i, int64_t now_ms) {
    CLEANUP(strbuf_done) struct strbuf status = {0};
    struct placement placement;
    struct ocm_decision d;
    struct fleet_view view;
    struct json_reader r;
    struct err err = {0};
    arena_reset(&arena);
    fleet_view_open(hub.fleet, &view);
    json_reader_init(&r, fleet_placement_json(&view, hub_namespace(i, &arena), hub_name(i, &arena)),
                     &arena, "Placement");
    placement_decode(&r, &placement);
    const struct ocm_question question = {.placement = &placement, .now_ms = now_ms};
    if (json_finish(&r, &err) != 0 || ocm_decide(&view, &question, &arena, &d, &err) != 0)
        hub_fail("%s", err.text);
    put_status(&d, &status);
    fleet_view_close(&view);
    hub_decide(&hub, i, strbuf_str(&status));
}

/* ---- Owner mode ---- */

/* Looks, and writes what there is to be written. Returns when to look again. */
static int64_t look_once(uint32_t i, int64_t now_ms, bool *ret_wrote) {
    struct owned_answer a;
    struct fleet_view view;
    struct err err = {0};
    arena_reset(&arena);
    fleet_view_open(hub.fleet, &view);
    const struct owned_question q = {.view = &view,
                                     .namespace = hub_namespace(i, &arena),
                                     .name = hub_name(i, &arena),
                                     .wall_ms = 1800000000000 + now_ms,
                                     .now_ms = now_ms,
                                     .settings = &deciders[i % DECIDERS].settings};
    if (owned_look(&owned[i], &q, &arena, &a, &err) != 0)
        hub_fail("%s", err.text);
    fleet_view_close(&view);
    if (a.why == MOVED_SPREAD)
        spread_moves[i] += a.moves;
    *ret_wrote = a.write.what != OWNED_NOTHING;
    if (*ret_wrote) {
        const struct write write = {
            .verb = a.write.verb, .path = a.write.path, .body = a.write.body};
        owned_taken(&owned[i], &a.write, now_ms);
        hub_apply(&hub, i, &write);
        owned_ended(&owned[i], WRITE_DONE, 200, now_ms);
    }
    owned_write_done(&a.write);
    return a.wake_ms;
}

/* Until the next minute begins. */
static void decide_as_owner(uint32_t i, int64_t now_ms) {
    const int64_t end_ms = now_ms + MINUTE_MS;
    while (now_ms < end_ms) {
        bool wrote = true;
        int64_t wake_ms = 0;
        while (wrote)
            wake_ms = look_once(i, now_ms, &wrote);
        if (wake_ms >= end_ms - now_ms)
            break;
        now_ms += wake_ms > 0 ? wake_ms : 1;
    }
}

static void decide_all(int64_t now_ms) {
    for (uint32_t i = 0; i < ALL; i++) {
        if (deciders[i % DECIDERS].is_ocm)
            decide_as_ocm(i, now_ms);
        else
            decide_as_owner(i, now_ms);
    }
}

int main(int argc, char **argv) {
    int64_t seed = 1;
    if (argc > 2 || (argc == 2 && !number_in(argv[1], 0, INT64_MAX, &seed))) {
        (void)fprintf(stderr, "usage: churn [SEED]\n"); /* nowhere else to report to */
        return 2;
    }
    random_state = (uint64_t)seed;
    arena_init(&arena, 64u << 20);
    hub_open(&hub, ALL);
    for (int c = 0; c < CLUSTERS; c++)
        hub_give(&hub, FLEET_CLUSTERS,
                 "{'metadata':{'name':'c%03d','labels':{'region':'r%d','zone':'z%d'}}}", c,
                 c % ZONES % REGIONS, c % ZONES);
    for (uint32_t i = 0; i < ALL; i++)
        hub_place(&hub, i,
                  deciders[i % DECIDERS].is_ocm ? policies[i / DECIDERS].plain
                                                : policies[i / DECIDERS].spread);
    for (int minute = 0; minute < MINUTES; minute++) {
        move_scores();
        decide_all((int64_t)minute * MINUTE_MS);
    }
    for (uint32_t i = 0; i < ALL; i++) {
        printf("{\"prioritizers\":\"%s\",\"by\":\"%s\",\"moves\":%llu,\"spread\":%llu}\n",
               policies[i / DECIDERS].name, deciders[i % DECIDERS].name,
               (unsigned long long)hub_moves(&hub, i), (unsigned long long)spread_moves[i]);
        owned_done(&owned[i]);
    }
    hub_close(&hub);
    arena_done(&arena);
    return 0;
}
