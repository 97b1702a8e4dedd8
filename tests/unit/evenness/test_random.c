/*
 * Random clusters, measured and then measured again by trying everything: every way to put the pods
 * of a workload into domains that have a node for them. What a node allows is worked out here from
 * what the test itself wrote down, not from anything decoded.
 */
#include "base/json_reader.h"
#include "evenness/best.h"
#include "evenness/evenness.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

enum { CLUSTERS = 12000, NODES = 8, ZONES = 4, WORKLOADS = 3, PODS = 7, NO_ZONE = -1 };

static const char zone_key[] = "topology.kubernetes.io/zone";

struct model_node {
    int zone;
    int disk;  /* 0: no such label, 1: ssd, 2: hdd */
    int taint; /* 0: none, 1: NoSchedule, 2: NoExecute, 3: PreferNoSchedule */
    bool cordoned, known;
};

struct model_pod {
    int node;
    int wants;     /* 0: any disk, 1: nodeSelector ssd, 2: affinity In (hdd), 3: none has it */
    int tolerates; /* 0: nothing, 1: the taint, 2: cordons, 3: everything */
    int volume;    /* 0: none, 1 and so on: a disk of that zone */
    bool on_ssd;   /* another volume needs a node with that disk */
    bool terminating, finished;
};

struct model {
    struct model_node nodes[NODES];
    struct model_pod pods[WORKLOADS][PODS];
    uint32_t node_count, pod_count[WORKLOADS];
};

static bool allows(const struct model_node *node, const struct model_pod *pod) {
    if (!node->known)
        return false;
    if (node->cordoned && pod->tolerates < 2)
        return false;
    if ((node->taint == 1 || node->taint == 2) && pod->tolerates != 1 && pod->tolerates != 3)
        return false;
    if (pod->volume > 0 && node->zone != pod->volume - 1)
        return false;
    if (pod->on_ssd && node->disk != 1)
        return false;
    return pod->wants == 0 || node->disk == pod->wants;
}

/* ---- the cluster ---- */

static void put_node(struct cluster *c, uint32_t n, const struct model_node *node) {
    static const char *const disks[] = {"", ",\"disk\":\"ssd\"", ",\"disk\":\"hdd\""},
                             *const effects[] = {"", "NoSchedule", "NoExecute", "PreferNoSchedule"};
    char text[600], zone[80] = "", taint[80] = "";
    if (!node->known)
        return;
    if (node->zone != NO_ZONE)
        (void)snprintf(zone, sizeof zone, ",\"%s\":\"z%d\"", zone_key, node->zone);
    if (node->taint > 0)
        (void)snprintf(taint, sizeof taint, "{\"key\":\"gone\",\"effect\":\"%s\"}",
                       effects[node->taint]);
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"a\":\"b\"%s%s}},\"spec\":{"
                   "\"unschedulable\":%s,\"taints\":[%s]}}",
                   n, zone, disks[node->disk], node->cordoned ? "true" : "false", taint);
    cluster_apply_json(c, OBJECT_NODE, text);
}

static void put_pod(struct cluster *c, uint32_t w, uint32_t p, const struct model_pod *pod) {
    static const char *const wants[] = {
        "", ",\"nodeSelector\":{\"disk\":\"ssd\"}",
        ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
        "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"In\","
        "\"values\":[\"hdd\"]}]}]}}}",
        ",\"nodeSelector\":{\"disk\":\"tape\"}"};
    static const char *const tolerates[] = {
        "", "{\"key\":\"gone\",\"operator\":\"Exists\"}",
        "{\"key\":\"node.kubernetes.io/unschedulable\",\"operator\":\"Exists\"}",
        "{\"operator\":\"Exists\"}"};
    char text[1400], zonal[80] = "", local[80] = "";
    if (pod->volume > 0)
        (void)snprintf(zonal, sizeof zonal,
                       "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"z%d-%u-%u\"}},",
                       pod->volume - 1, w, p);
    if (pod->on_ssd)
        (void)snprintf(local, sizeof local,
                       "{\"persistentVolumeClaim\":{\"claimName\":\"ssd-%u-%u\"}},", w, p);
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"p%u-%u\",\"namespace\":\"shop\",%s\"labels\":{\"n\":\"%u\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"apps/"
        "v1\",\"kind\":\"StatefulSet\",\"name\":\"w%u\","
        "\"controller\":true}]},\"spec\":{\"nodeName\":\"n%d\",\"tolerations\":[%s]%s,"
        "\"volumes\":[%s%s{\"persistentVolumeClaim\":{\"claimName\":\"free\"}}]},"
        "\"status\":{\"phase\":\"%s\"}}",
        w, p, pod->terminating ? "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"," : "", p % 2, w,
        pod->node, tolerates[pod->tolerates], wants[pod->wants], zonal, local,
        pod->finished ? "Succeeded" : "Running");
    cluster_apply_json(c, OBJECT_POD, text);
}

static void draw(struct model *m, uint64_t *seed) {
    bool plain = unit_below(seed, 2) == 0; /* pods of a workload are alike, as they usually are */
    *m = (struct model){.node_count = 1 + unit_below(seed, NODES)};
    uint32_t zones = 1 + unit_below(seed, ZONES);
    for (uint32_t n = 0; n < m->node_count; n++)
        m->nodes[n] = (struct model_node){
            .zone = unit_below(seed, 10) == 0 ? NO_ZONE : (int)unit_below(seed, zones),
            .disk = (int)unit_below(seed, 3),
            .taint = unit_below(seed, 3) == 0 ? (int)unit_below(seed, 4) : 0,
            .cordoned = unit_below(seed, 6) == 0,
            .known = unit_below(seed, 12) != 0,
        };
    for (uint32_t w = 0; w < WORKLOADS; w++) {
        struct model_pod first = {.wants = (int)unit_below(seed, 4),
                                  .tolerates = (int)unit_below(seed, 4)};
        bool stateful = unit_below(seed, 3) == 0;
        m->pod_count[w] = unit_below(seed, PODS + 1);
        for (uint32_t p = 0; p < m->pod_count[w]; p++) {
            struct model_pod *pod = &m->pods[w][p];
            *pod = first;
            if (!plain && unit_below(seed, 3) == 0)
                *pod = (struct model_pod){.wants = (int)unit_below(seed, 4),
                                          .tolerates = (int)unit_below(seed, 4)};
            pod->node = (int)unit_below(seed, m->node_count);
            if (stateful && unit_below(seed, 3) > 0)
                pod->volume =
                    1 + (m->nodes[pod->node].zone != NO_ZONE ? m->nodes[pod->node].zone
                                                             : (int)unit_below(seed, zones));
            pod->on_ssd = stateful && unit_below(seed, 6) == 0;
            pod->terminating = unit_below(seed, 10) == 0;
            pod->finished = unit_below(seed, 10) == 0;
        }
    }
}

/* ---- what is expected ---- */

struct expected {
    uint32_t pods, in[ZONES], skew, best;
    bool feasible[ZONES];
};

struct search {
    uint32_t count;
    bool may[PODS][ZONES];
    bool feasible[ZONES];
    uint32_t load[ZONES], best;
};

static uint32_t spread_of(const uint32_t *load, const bool *feasible) {
    uint32_t most = 0, fewest = UINT32_MAX;
    for (int z = 0; z < ZONES; z++) {
        if (!feasible[z])
            continue;
        most = load[z] > most ? load[z] : most;
        fewest = load[z] < fewest ? load[z] : fewest;
    }
    return fewest == UINT32_MAX ? 0 : most - fewest;
}

/* All ways, as a number in base ZONES. */
static void try_all(struct search *s) {
    uint32_t ways = 1;
    for (uint32_t p = 0; p < s->count; p++)
        ways *= ZONES;
    s->best = UINT32_MAX;
    for (uint32_t way = 0; way < ways; way++) {
        uint32_t rest = way, load[ZONES] = {0};
        bool good = true;
        for (uint32_t p = 0; good && p < s->count; p++, rest /= ZONES) {
            good = s->may[p][rest % ZONES];
            load[rest % ZONES]++;
        }
        uint32_t spread = good ? spread_of(load, s->feasible) : UINT32_MAX;
        s->best = spread < s->best ? spread : s->best;
    }
}

static void expect(const struct model *m, uint32_t w, struct expected *ret) {
    struct search s = {0};
    bool may[PODS][ZONES] = {{false}}, nowhere[PODS];
    *ret = (struct expected){0};
    for (uint32_t p = 0; p < m->pod_count[w]; p++) {
        const struct model_pod *pod = &m->pods[w][p];
        nowhere[p] = true;
        for (uint32_t n = 0; n < m->node_count; n++)
            if (!pod->terminating && !pod->finished && m->nodes[n].zone != NO_ZONE &&
                allows(&m->nodes[n], pod)) {
                may[p][m->nodes[n].zone] = s.feasible[m->nodes[n].zone] = true;
                nowhere[p] = false;
            }
    }
    for (uint32_t p = 0; p < m->pod_count[w]; p++) {
        const struct model_pod *pod = &m->pods[w][p];
        const struct model_node *node = &m->nodes[pod->node];
        if (pod->terminating || pod->finished)
            continue;
        ret->pods++;
        if (!node->known || node->zone == NO_ZONE)
            continue;
        ret->in[node->zone]++;
        if (!s.feasible[node->zone])
            continue;
        memcpy(s.may[s.count], may[p], sizeof may[p]);
        if (nowhere[p])
            s.may[s.count][node->zone] = true;
        s.count++;
    }
    memcpy(ret->feasible, s.feasible, sizeof s.feasible);
    ret->skew = spread_of(ret->in, s.feasible);
    try_all(&s);
    ret->best = s.best;
}

/* ---- comparing ---- */

static void compare(const struct evenness_report *report, const char *name,
                    const struct expected *want) {
    uint32_t number = evenness_find(report, STR("shop"), str_of(name), STR("StatefulSet"));
    const struct evenness_key *key = &report->keys[0];
    if (want->pods == 0) {
        assert_int_equal(number, UINT32_MAX);
        return;
    }
    assert_int_not_equal(number, UINT32_MAX);
    const struct evenness_result *got = &key->results[number];
    assert_int_equal(report->workloads[number].pods, want->pods);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < got->count; i++) {
        const struct evenness_count *count = &key->counts[got->first + i];
        int zone = key->domains[count->domain].name.p[1] - '0';
        assert_int_equal(count->pods, want->in[zone]);
        assert_int_equal(count->feasible, want->feasible[zone]);
        seen |= 1u << zone;
    }
    for (int z = 0; z < ZONES; z++)
        assert_int_equal((seen >> z) & 1, want->in[z] > 0 || want->feasible[z]);
    assert_int_equal(got->skew, want->skew);
    assert_int_equal(got->best, want->best);
    assert_string_equal(evenness_state_names[got->state], want->skew <= 1 ? "even"
                                                          : want->best < want->skew
                                                              ? "uneven"
                                                              : "unavoidable");
}

/* What the volumes of claims ask for, by the claims' names. */
static int pins_of(void *ctx, struct str namespace, const struct cache_may_run *pod,
                   struct arena *arena, const struct node_affinity **ret, uint32_t *ret_count) {
    struct node_affinity *pins = arena_array(arena, pod->claim_count, sizeof *pins);
    (void)ctx;
    assert_str(namespace, "shop");
    *ret_count = 0;
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        struct str claim = pod->claims[i];
        bool zonal = claim.p[0] == 'z';
        struct json_reader r;
        char *text = arena_alloc(arena, 300);
        if (str_eq(claim, STR("free")))
            continue; /* it is not bound */
        (void)snprintf(text, 300,
                       "{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                       "\"%s\",\"operator\":\"In\",\"values\":[\"%.*s\"]}]}]}}",
                       zonal ? zone_key : "disk", zonal ? 2 : 3, claim.p);
        json_reader_init(&r, str_of(text), arena, "test");
        volume_affinity_decode(&r, &pins[*ret_count]);
        assert_int_equal(json_finish(&r, NULL), 0);
        assert_true(pins[(*ret_count)++].required);
    }
    *ret = pins;
    return 0;
}

static uint32_t totals[EVENNESS_STATES];

static void check_cluster(const struct model *m) {
    struct cluster c;
    struct evenness_report *report = NULL;
    struct err err;
    struct str key = str_of(zone_key);
    cluster_open(&c);
    for (uint32_t n = 0; n < m->node_count; n++)
        put_node(&c, n, &m->nodes[n]);
    for (uint32_t w = 0; w < WORKLOADS; w++)
        for (uint32_t p = 0; p < m->pod_count[w]; p++)
            put_pod(&c, w, p, &m->pods[w][p]);
    struct evenness_round *round = NULL;
    assert_int_equal(evenness_round_new(c.cache, &key, 1, &round, &err), 0);
    evenness_round_pin(round, pins_of, NULL);
    assert_int_equal(evenness_round_run(round, &report, &err), 0);
    evenness_round_free(round);
    for (uint32_t w = 0; w < WORKLOADS; w++) {
        struct expected want;
        char name[8];
        (void)snprintf(name, sizeof name, "w%u", w);
        expect(m, w, &want);
        compare(report, name, &want);
    }
    for (int s = 0; s < EVENNESS_STATES; s++)
        totals[s] += report->keys[0].totals[s];
    evenness_report_free(report);
    cluster_close(&c);
}

static void random_clusters(void **state) {
    uint64_t seed = unit_seed();
    (void)state;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        struct model m;
        draw(&m, &seed);
        check_cluster(&m);
    }
    print_message("# even %u, unavoidable %u, uneven %u\n", totals[EVENNESS_EVEN],
                  totals[EVENNESS_UNAVOIDABLE], totals[EVENNESS_UNEVEN]);
    assert_true(totals[EVENNESS_UNAVOIDABLE] > 100);
    assert_true(totals[EVENNESS_UNEVEN] > 100);
    assert_int_equal(totals[EVENNESS_UNKNOWN], 0);
}

/* More groups than clusters of this size have, and pods without a choice; without a cluster. */
static void random_groups(void **state) {
    uint64_t seed = unit_seed();
    (void)state;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        struct best_group groups[LIMIT_EVENNESS_SETS];
        uint64_t bits[LIMIT_EVENNESS_SETS], all = unit_below(&seed, 1u << ZONES);
        uint32_t fixed[64] = {0};
        uint8_t masks[64];
        struct search s = {0};
        uint32_t count = unit_below(&seed, 6);
        for (uint32_t g = 0; g < count; g++) {
            bits[g] = 1 + unit_below(&seed, (1u << ZONES) - 1);
            groups[g] = (struct best_group){&bits[g], 0};
            all |= bits[g];
        }
        for (int z = 0; z < ZONES; z++)
            s.feasible[z] = (all >> z & 1) != 0;
        s.count = all == 0 ? 0 : unit_below(&seed, PODS + 1);
        for (uint32_t p = 0; p < s.count; p++) {
            uint32_t g = unit_below(&seed, count + 1), z = unit_below(&seed, ZONES);
            if (g < count) {
                groups[g].pods++;
                for (z = 0; z < ZONES; z++)
                    s.may[p][z] = (bits[g] >> z & 1) != 0;
                continue;
            }
            while (!s.feasible[z])
                z = (z + 1) % ZONES;
            fixed[z]++;
            s.may[p][z] = true;
        }
        try_all(&s);
        const struct best_question question = {groups, count, &all, 1, fixed, masks};
        assert_int_equal(best_skew(&question), s.best);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_groups),
        cmocka_unit_test(random_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
