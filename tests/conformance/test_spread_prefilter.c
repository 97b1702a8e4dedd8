/*
 * What PodTopologySpread's filter works with: matching pods per domain and their minimum. The
 * scenarios of upstream's TestPreFilterState (P rows), ...AddPod (A rows) and ...RemovePod (R
 * rows). How scenarios are written: unit/cluster_builder.h; how tables are read off: scenario.h.
 *
 * In A and R rows the cache has counted before the change, so what is tested is that counters are
 * kept right by events; a fresh cache that sees the final state only must give the same tables.
 * Where upstream removes a pod to ask what a preemption would change, engine_preempt() must give
 * the verdict of the cluster without that pod.
 */
#include "conformance/scenario.h"

#define REQUIRED(key, op, values)                                                                  \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"          \
    "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op       \
    "\",\"values\":[" values "]}]}]}}},"
#define NODE_IS_NOT_X REQUIRED("node", "NotIn", "\"x\"")
#define FOO_IS_NOT_BAR REQUIRED("foo", "NotIn", "\"bar\"")
#define NEEDS_FOO REQUIRED("foo", "Exists", "")
#define TOLERATES_ALL "\"tolerations\":[{\"operator\":\"Exists\"}],"
#define SERVICE_FOO "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"foo\":\"\"}}}"
#define ALL "a b x y"

/* ---- P rows ---- */

static const struct state_scenario {
    const char *name, *nodes, *pods;
    const char *labels, *constraints, *spec; /* of the incoming pod */
    const char *want;                        /* tables, or "Skip" */
    const char *defaults;                    /* default constraints, a List; NULL: none */
    const char *service;                     /* NULL: none */
} states[] = {
    {"P1 clean cluster", ALL, "", "foo=bar", "5/zone/foo=bar", "", "zone1:0 zone2:0 min 0", NULL,
     NULL},
    {"P2 normal case", ALL, "a:2 b:1 y:2", "foo", "1/zone/foo", "", "zone1:3 zone2:2 min 2", NULL,
     NULL},
    {"P3 nil selector", ALL, "a:2 b:1 y:2", "foo", "1/zone/nil", "", "zone1:0 zone2:0 min 0", NULL,
     NULL},
    {"P4 a third zone without pods", ALL " o p", "a:2 b:1 y:2", "foo", "1/zone/foo", "",
     "zone1:3 zone2:2 zone3:0 min 0", NULL, NULL},
    {"P5 mixed namespaces", ALL, "a:1 ns1/a:1 b:1 ns2/y:1 y:1", "foo", "1/zone/foo", "",
     "zone1:2 zone2:1 min 1", NULL, NULL},
    {"P6 zone and node", ALL, "a:2 b:1 y:4", "foo", "1/zone/foo 1/node/foo", "",
     "zone1:3 zone2:4 min 3; a:2 b:1 x:0 y:4 min 0", NULL, NULL},
    {"P7 a soft constraint is passed over", ALL, "a:2 b:1 y:4", "foo", "1/node/foo,soft 1/zone/foo",
     "", "zone1:3 zone2:4 min 3", NULL, NULL},
    {"P8 different selectors", ALL, "a:foo+bar b:foo y:bar y:foo", "foo+bar",
     "1/zone/foo 1/node/bar", "", "zone1:2 zone2:1 min 1; a:1 b:0 x:0 y:1 min 0", NULL, NULL},
    {"P9 affinity without x", ALL, "a:2 b:1 y:4", "foo", "1/zone/foo 1/node/foo", NODE_IS_NOT_X,
     "zone1:3 zone2:4 min 3; a:2 b:1 x:- y:4 min 1", NULL, NULL},
    {"P10 default constraints, service selects", ALL, "a:foo+baz b:foo y:baz", "foo+baz", "", "",
     "a:1 b:1 x:0 y:0 min 0; zone1:2 zone2:0 min 0", "3/node/nil 2/host/nil,soft 5/zone/nil",
     SERVICE_FOO},
    {"P11 default constraints, service does not select", ALL, "a:1", "baz", "", "", "Skip",
     "3/node/nil", SERVICE_FOO},
    {"P11 default constraints, no service", ALL, "a:1", "foo", "", "", "Skip", "3/node/nil", NULL},
    {"P12 own constraints replace the defaults", ALL, "a:bar b:foo", "foo+bar", "1/zone/bar", "",
     "zone1:1 zone2:0 min 0", "3/node/nil", SERVICE_FOO},
    {"P12 a soft one of its own is enough", ALL, "a:1", "foo", "1/zone/foo,soft", "", "Skip",
     "3/node/nil", SERVICE_FOO},
    {"P13 soft default constraints", ALL, "a:1", "foo", "", "", "Skip", "2/node/nil,soft",
     SERVICE_FOO},
    {"P14 matchLabelKeys", ALL, "a:foo+bar a:foo b:foo+bar y:foo+bar x:foo+bar=1", "foo+bar",
     "1/zone/foo,keys=bar", "", "zone1:2 zone2:1 min 1", NULL, NULL},
    {"P15 matchLabelKeys and {}", ALL, "a:bar a:foo b:foo+bar y:foo x:bar=1", "foo+bar",
     "1/zone/{},keys=bar", "", "zone1:2 zone2:0 min 0", NULL, NULL},
    {"P15a matchLabelKeys and nil", ALL, "a:foo+bar y:foo+bar", "foo+bar", "1/zone/nil,keys=bar",
     "", "zone1:0 zone2:0 min 0", NULL, NULL},
    {"P15b matchLabelKeys that the pod lacks", ALL, "a:2 b:1 y:2", "foo", "1/zone/foo,keys=bar", "",
     "zone1:3 zone2:2 min 2", NULL, NULL},
    {"P16 taints Honor", "a b c,!", "a:bar b:bar b:bar", "bar", "1/node/bar,taints=Honor", "",
     "a:1 b:2 c:- min 1", NULL, NULL},
    {"P17 taints Honor, tolerated", "a b c,!", "a:bar b:bar b:bar", "bar",
     "1/node/bar,taints=Honor", TOLERATES_ALL, "a:1 b:2 c:0 min 0", NULL, NULL},
    {"P18 affinity Honor and Ignore", "a,+foo b x,+foo", "b:2 x:1", "foo",
     "1/zone/foo,affinity=Honor 1/node/foo,affinity=Ignore", NEEDS_FOO,
     "zone1:0 zone2:1 min 0; a:0 b:2 x:1 min 0", NULL, NULL},
    {"P21 affinity Ignore and taints Honor", "a b,+foo,! x,+foo y,+foo", "a:2 x:2 y:1", "foo",
     "1/zone/foo,affinity=Ignore 1/node/foo,taints=Honor", NEEDS_FOO,
     "zone1:2 zone2:3 min 2; a:- b:- x:2 y:1 min 1", NULL, NULL},
    {"P22 one key, two selectors", ALL, "a:foo+bar b:foo x:bar y:foo+bar y:bar", "foo+bar",
     "1/zone/foo 1/zone/bar", "", "zone1:2 zone2:1 min 1; zone1:1 zone2:3 min 1", NULL, NULL},
    {"P23 no constraints", ALL, "a:1", "foo", "", "", "Skip", NULL, NULL},
};

static void run_state(void **state) {
    const struct state_scenario *s = *state;
    struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, s->nodes);
    cluster_pods(&c, s->pods);
    if (s->defaults != NULL)
        c.options.default_constraints =
            cluster_constraints(&c, s->defaults, &c.options.default_constraint_count);
    if (s->service != NULL)
        cluster_workload(&c, OBJECT_SERVICE, s->service);
    struct pod pod = cluster_pod(&c, s->labels, s->constraints, s->spec);
    assert_str(scenario_tables(&c, &pod), s->want);
    cluster_close(&c);
}

/* ---- A and R rows ---- */

static const struct change_scenario {
    const char *name, *nodes, *pods;
    const char *labels, *constraints, *spec; /* of the incoming pod */
    const char *before;
    const char *add, *remove; /* what happens then; "" nothing */
    const char *after;
} changes[] = {
    {"A1 add to one of two empty nodes", "a b", "", "foo", "1/node/foo", "", "a:0 b:0 min 0", "a:1",
     "", "a:1 b:0 min 0"},
    {"A2 add to the emptier node", "a b", "b:1", "foo", "1/node/foo", "", "a:0 b:1 min 0", "a:1",
     "", "a:1 b:1 min 1"},
    {"A3 add from another namespace", "a b", "b:1", "foo", "1/node/foo", "", "a:0 b:1 min 0",
     "ns1/a:1", "", "a:0 b:1 min 0"},
    {"A4 add to the fuller node", "a b", "b:1", "foo", "1/node/foo", "", "a:0 b:1 min 0", "b:1", "",
     "a:0 b:2 min 0"},
    {"A5 zone and node, empty", "a x", "", "foo", "1/zone/foo 1/node/foo", "",
     "zone1:0 zone2:0 min 0; a:0 x:0 min 0", "a:1", "", "zone1:1 zone2:0 min 0; a:1 x:0 min 0"},
    {"A6 zone and node, x:1", "a x", "x:1", "foo", "1/zone/foo 1/node/foo", "",
     "zone1:0 zone2:1 min 0; a:0 x:1 min 0", "a:1", "", "zone1:1 zone2:1 min 1; a:1 x:1 min 1"},
    {"A7 zone and node, b:2 x:1", "a b x", "b:2 x:1", "foo", "1/zone/foo 1/node/foo", "",
     "zone1:2 zone2:1 min 1; a:0 b:2 x:1 min 0", "a:1", "",
     "zone1:3 zone2:1 min 1; a:1 b:2 x:1 min 1"},
    {"A8 two selectors, add foo", "a b x", "b:foo+bar x:foo+bar x:bar", "foo+bar",
     "1/zone/foo 1/node/bar", "", "zone1:1 zone2:1 min 1; a:0 b:1 x:2 min 0", "a:foo", "",
     "zone1:2 zone2:1 min 1; a:0 b:1 x:2 min 0"},
    {"A9 two selectors, add foo and bar", "a b x", "b:bar x:foo+bar x:bar", "foo+bar",
     "1/zone/foo 1/node/bar", "", "zone1:0 zone2:1 min 0; a:0 b:1 x:2 min 0", "a:foo+bar", "",
     "zone1:1 zone2:1 min 1; a:1 b:1 x:2 min 1"},
    {"A10 add to an excluded node", "a,+foo=bar b,+zone=zone2", "a:1 b:1", "foo", "1/zone/foo",
     FOO_IS_NOT_BAR, "zone1:- zone2:1 min 1", "a:1", "", "zone1:- zone2:1 min 1"},
    {"A11 add without affinity", "a,+foo=bar b,+zone=zone2", "a:1 b:1", "foo", "1/zone/foo", "",
     "zone1:1 zone2:1 min 1", "b:1", "", "zone1:1 zone2:2 min 1"},
    {"A12 add a pod without the label", "a b,+zone=zone2", "a:1 b:1", "foo", "1/zone/foo", "",
     "zone1:1 zone2:1 min 1", "b:bar", "", "zone1:1 zone2:1 min 1"},
    {"A13 tainted node, taints Ignore", "a,! b,+zone=zone2", "a:1 b:1", "foo", "1/zone/foo", "",
     "zone1:1 zone2:1 min 1", "b:1", "", "zone1:1 zone2:2 min 1"},
    {"A13 tainted node, tolerated", "a,! b,+zone=zone2", "a:1 b:1", "foo",
     "1/zone/foo,taints=Honor", TOLERATES_ALL, "zone1:1 zone2:1 min 1", "b:1", "",
     "zone1:1 zone2:2 min 1"},

    {"R1 the minimum stays", ALL, "a:1 b:1 x:1", "foo", "1/zone/foo", "", "zone1:2 zone2:1 min 1",
     "", "a:1", "zone1:1 zone2:1 min 1"},
    {"R2 the minimum falls", ALL, "a:1 b:1 x:1 y:1", "foo", "1/zone/foo", "",
     "zone1:2 zone2:2 min 2", "", "a:1", "zone1:1 zone2:2 min 1"},
    {"R3 remove a pod that does not match", ALL, "a:1 a:bar b:1 x:1 y:1", "foo", "1/zone/foo", "",
     "zone1:2 zone2:2 min 2", "", "a:bar", "zone1:2 zone2:2 min 2"},
    {"R5 zone and node", "a b x", "a:2 b:1 x:2", "foo", "1/zone/foo 1/node/foo", "",
     "zone1:3 zone2:2 min 2; a:2 b:1 x:2 min 1", "", "x:1",
     "zone1:3 zone2:1 min 1; a:2 b:1 x:1 min 1"},
    {"R6 remove from an excluded node", "a,+foo=bar b,+zone=zone2", "a:1 b:1", "foo", "1/zone/foo",
     FOO_IS_NOT_BAR, "zone1:- zone2:1 min 1", "", "a:1", "zone1:- zone2:1 min 1"},
    {"R7 remove the last of a domain", "a b,+zone=zone2", "a:1 b:1", "foo", "1/zone/foo", "",
     "zone1:1 zone2:1 min 1", "", "b:1", "zone1:1 zone2:0 min 0"},
};

static void check_against_fresh(struct cluster *c, const struct pod *pod, const char *want) {
    struct cluster fresh;
    cluster_copy(c, true, &fresh);
    assert_str(scenario_tables(&fresh, pod), want);
    cluster_close(&fresh);
}

static void run_change(void **state) {
    const struct change_scenario *s = *state;
    struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, s->nodes);
    cluster_pods(&c, s->pods);
    struct pod pod = cluster_pod(&c, s->labels, s->constraints, s->spec);
    assert_str(scenario_tables(&c, &pod), s->before);
    uint32_t counters = cache_stats(c.cache).counters;
    assert_true(counters > 0);
    cluster_pods(&c, s->add);
    cluster_unpods(&c, s->remove);
    assert_str(scenario_tables(&c, &pod), s->after);
    assert_int_equal(cache_stats(c.cache).counters, counters); /* the same ones, not new */
    check_against_fresh(&c, &pod, s->after);
    cluster_close(&c);
}

/* R4, and rule 93: what the cache never had cannot be taken out of it. */
static void r4_remove_a_pod_that_never_existed(void **state) {
    (void)state;
    struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, ALL);
    cluster_pods(&c, "a:1 b:1 x:1 y:1");
    struct pod pod = cluster_pod(&c, "foo", "1/zone/foo", "");
    assert_str(scenario_tables(&c, &pod), "zone1:2 zone2:2 min 2");
    struct object stranger = c.pods[0].object;
    stranger.meta.uid = STR("never-seen");
    cluster_remove(&c, &stranger);
    assert_str(scenario_tables(&c, &pod), "zone1:2 zone2:2 min 2");
    cluster_close(&c);
}

/* ---- the same removals, asked as a preemption ---- */

static bool fits_without(struct cluster *c, const struct pod *pod, const struct object_meta *victim,
                         struct str node) {
    struct preemption preemption = {node, victim, 1};
    bool *fits;
    struct err err;
    if (engine_preempt(&c->options, c->cache, pod, &preemption, 1, &c->arena, &fits, &err) != 0)
        fail_msg("%s", err.text);
    return fits[0];
}

/* The pod that `remove` names: the last one with that token. */
static const struct object *victim_of(const struct cluster *c, struct cluster *without) {
    for (uint32_t i = 0; i < c->pod_count; i++)
        if (without->pods[i].gone)
            return &c->pods[i].object;
    fail();
    return NULL;
}

static void run_preemption(void **state) {
    const struct change_scenario *s = *state;
    struct cluster c, without;
    cluster_open(&c);
    cluster_nodes(&c, s->nodes);
    cluster_pods(&c, s->pods);
    cluster_open(&without);
    cluster_nodes(&without, s->nodes);
    cluster_pods(&without, s->pods);
    cluster_unpods(&without, s->remove);
    const struct object *victim = victim_of(&c, &without);
    struct pod pod = cluster_pod(&c, s->labels, s->constraints, s->spec);
    struct spread_constraint *constraints =
        arena_array(&c.arena, pod.constraint_count, sizeof *constraints);
    memcpy(constraints, pod.constraints, pod.constraint_count * sizeof *constraints);
    pod.constraints = constraints;
    for (int32_t max_skew = -3; max_skew <= 5; max_skew++) {
        for (uint32_t i = 0; i < pod.constraint_count; i++)
            constraints[i].max_skew = max_skew;
        struct str verdicts = scenario_verdicts(&without, &pod);
        for (uint32_t n = 0; n < c.node_count; n++)
            if (str_eq(c.nodes[n].meta.name, victim->pod.node_name))
                assert_int_equal(fits_without(&c, &pod, &victim->meta, c.nodes[n].meta.name),
                                 verdicts.p[n] == 'S');
    }
    cluster_close(&c);
    cluster_close(&without);
}

int main(void) {
    const struct CMUnitTest more[] = {cmocka_unit_test(r4_remove_a_pod_that_never_existed)};
    size_t change_count = sizeof changes / sizeof changes[0], removals = 0;
    while (changes[removals].remove[0] == '\0')
        removals++;
    int failed = scenario_run_all("prefilter states", states, sizeof states / sizeof states[0],
                                  sizeof states[0], run_state);
    failed +=
        scenario_run_all("pods come and go", changes, change_count, sizeof changes[0], run_change);
    failed += scenario_run_all("preemption", changes + removals, change_count - removals,
                               sizeof changes[0], run_preemption);
    return failed + CLUSTER_RUN_TESTS("more removals", more);
}
