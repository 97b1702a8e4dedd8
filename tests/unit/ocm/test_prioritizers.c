/*
 * Prioritizers and their weights: the tables of upstream's own tests (balance_test.go,
 * steady_test.go, resource_test.go, addon_test.go of OCM v1.2.0), and what was seen of the real
 * scheduler.
 */
#include "unit/hub.h"

#include "fleet/internal.h"

#include <stdio.h>

/* ---- each of them ---- */

#define ONLY(name)                                                                                 \
    "{prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: " name "}}]}}"
#define SCORES(name, scores)                                                                       \
    "{prioritizers: [{name: " name ", weight: 1, scores: {$is: {" scores "}}}], error: ''}"

static void balance(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decides(f, ONLY("Balance"), SCORES("Balance", "c1: 100, c2: 100, c3: 100"));
    hub_decided_by(f, "ns1/placement: c1"); /* its own */
    hub_decides(f, ONLY("Balance"), SCORES("Balance", "c1: 100, c2: 100, c3: 100"));
    hub_decided_by(f, "ns1/others: c1");
    hub_decides(f, ONLY("Balance"), SCORES("Balance", "c1: -100, c2: 100, c3: 100"));
}

static void balance_of_two_others(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decided_by(f, "ns1/other1: c1 c2");
    hub_decided_by(f, "ns1/other2: c1 c3");
    hub_decides(f, ONLY("Balance"), SCORES("Balance", "c1: -100, c2: 0, c3: 0"));
}

/* The same name in another namespace is another Placement; a decision without a label counts. */
static void balance_counts_all_but_its_own(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decided_by(f, "ns2/placement: c1 c1");
    hub_decided_by(f, "ns1/: c2");
    hub_decided_by(f, "ns1/placement: c3 c3 c3");
    hub_decides(f, ONLY("Balance"), SCORES("Balance", "c1: -100, c2: 0, c3: 100"));
}

/* 2 x trunc(100 x (0.5 - n / 7)), in doubles; the fullest need not be a candidate. */
static void balance_of_seven(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c0 c1 c2 c3 c4 c5 c6 full(set=)");
    hub_decided_by(f, "ns1/other: full full full full full full full");
    hub_decided_by(f, "ns1/other: c1 c2 c2 c3 c3 c3 c4 c4 c4 c4 c5 c5 c5 c5 c5");
    hub_decided_by(f, "ns1/other: c6 c6 c6 c6 c6 c6 unknown");
    hub_decides(f, ONLY("Balance"),
                SCORES("Balance", "c0: 100, c1: 70, c2: 42, c3: 14, c4: -14, c5: -42, c6: -70"));
}

/* In exact arithmetic, 100 x (0.5 - 2 / 5) is 10, and twice that 20. */
static void balance_is_computed_in_doubles(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2");
    hub_decided_by(f, "ns1/other: c1 c1 c1 c1 c1 c2 c2");
    hub_decides(f, ONLY("Balance"), SCORES("Balance", "c1: -100, c2: 18"));
}

static void steady(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decides(f, ONLY("Steady"), SCORES("Steady", "c1: 0, c2: 0, c3: 0"));
    hub_decided_by(f, "ns1/placement: c1");
    hub_decides(f, ONLY("Steady"), SCORES("Steady", "c1: 100, c2: 0, c3: 0"));
    hub_decided_by(f, "ns1/placement: c3"); /* another object */
    hub_decided_by(f, "ns1/other: c2");
    hub_decided_by(f, "ns2/placement: c2");
    hub_decided_by(f, "ns1/: c2");
    hub_decides(f, ONLY("Steady"), SCORES("Steady", "c1: 100, c2: 0, c3: 100"));
}

static void upstreams_resources(void **state) {
    static const struct {
        const char *clusters, *name, *scores;
    } cases[] = {
        {"c1(memory=20/100) c2(memory=60/100) c3(memory=100/100)", "ResourceAllocatableMemory",
         "c1: -100, c2: 0, c3: 100"},
        {"c1(memory=50/100) c2(memory=50/100) c3(memory=50/100)", "ResourceAllocatableMemory",
         "c1: 100, c2: 100, c3: 100"},
        {"c1(memory=0/100) c2(memory=0/100) c3(memory=0/100)", "ResourceAllocatableMemory",
         "c1: 100, c2: 100, c3: 100"},
        {"c1 c2 c3", "ResourceAllocatableMemory", ""},
        {"c1(cpu=10/10) c2(cpu=6/10) c3(cpu=2/10)", "ResourceAllocatableCPU",
         "c1: 100, c2: 0, c3: -100"},
        {"c1(cpu=5/10) c2(cpu=5/10) c3(cpu=5/10)", "ResourceAllocatableCPU",
         "c1: 100, c2: 100, c3: 100"},
        {"c1(cpu=0/10) c2(cpu=0/10) c3(cpu=0/10)", "ResourceAllocatableCPU",
         "c1: 100, c2: 100, c3: 100"},
        {"c1 c2 c3", "ResourceAllocatableCPU", ""},
        /* not upstream's: without allocatable, or without capacity, it has none */
        {"c1(cpu=4/8) c2(cpu=/8) c3(cpu=8/)", "ResourceAllocatableCPU", "c1: 100"},
        {"c1(cpu=4/8,memory=1/2) c2(cpu=2/8,memory=2/2)", "ResourceAllocatableCPU",
         "c1: 100, c2: -100"},
        {"c0(cpu=0/7) c1(cpu=1/7) c2(cpu=2/7) c3(cpu=3/7) c4(cpu=4/7) c5(cpu=5/7) c6(cpu=6/7) "
         "c7(cpu=7/7)",
         "ResourceAllocatableCPU",
         "c0: -100, c1: -71, c2: -42, c3: -14, c4: 14, c5: 42, c6: 71, c7: 100"},
        {"c1(cpu=500m/8) c2(cpu=1500m/8) c3(cpu=1/8)", "ResourceAllocatableCPU",
         "c1: -100, c2: 100, c3: 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hub f;
        char placement[256], expected[256];
        hub_open(&f);
        hub_clusters(&f, cases[i].clusters);
        (void)snprintf(placement, sizeof placement, ONLY("%s"), cases[i].name);
        (void)snprintf(expected, sizeof expected, SCORES("%s", "%s"), cases[i].name,
                       cases[i].scores);
        print_message("# %s\n", cases[i].clusters);
        hub_decides(&f, placement, expected);
        hub_close(&f);
    }
}

/* Of a cluster that is filtered out, nothing counts. */
static void resources_of_what_is_filtered(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cpu=1/8) c2(cpu=3/8) c3(cpu=9/9,!k=v:NoSelect) c4(cpu=0/9,set=)");
    hub_decides(f, ONLY("ResourceAllocatableCPU"),
                SCORES("ResourceAllocatableCPU", "c1: -100, c2: 100"));
    /* a cluster that has no score is better than the poorer half */
    hub_clusters(f, "c0");
    hub_decides(f, ONLY("ResourceAllocatableCPU"), "{selected: [c2, c0, c1], sum: {c0: 0}}");
}

#define ADD_ON                                                                                     \
    "{prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {type: AddOn, addOn: "   \
    "{resourceName: test, scoreName: score1}}}]}}"

static void add_on(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decides(f, ADD_ON, SCORES("AddOn/test/score1", "c1: 0, c2: 0, c3: 0"));
    hub_scored(f, "c1/test: score1=30");
    hub_decides(f, ADD_ON, SCORES("AddOn/test/score1", "c1: 30, c2: 0, c3: 0"));
    hub_scored(f, "c2/test: score2=40 until=1");
    hub_scored(f, "c3/test: score2=1 score1=-7 until=100");
    hub_scored(f, "c3/other: score1=9");
    hub_decides(f, ADD_ON, SCORES("AddOn/test/score1", "c1: 30, c2: 0, c3: -7"));
}

static void an_expired_score_is_0(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "cluster1 cluster2 cluster3 cluster4(!k=v:NoSelect)");
    hub_scored(f, "cluster1/test: score1=30 until=-30");
    hub_scored(f, "cluster2/test: score1=40 until=0"); /* now is not after it */
    hub_scored(f, "cluster3/test: score1=50");
    hub_scored(f, "cluster4/test: score1=50 until=-1"); /* nobody looks at it */
    hub_decides(f, ADD_ON,
                "{prioritizers: [{scores: {$is: {cluster1: 0, cluster2: 40, cluster3: 50}}}], "
                "warnings: ['AddOnPlacementScores cluster1/test expired'], conditions: [{status: "
                "'False'}, {status: 'True'}]}");
}

static void each_expired_object_has_a_warning(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2");
    hub_scored(f, "c1/b: x=1 until=-1");
    hub_scored(f, "c1/a: x=1 until=-1");
    hub_scored(f, "c2/a: z=1 until=-1");
    hub_scored(f, "c2/unused: z=1 until=-1");
    hub_decides(f,
                "{prioritizerPolicy: {configurations: ["
                "{scoreCoordinate: {type: AddOn, addOn: {resourceName: b, scoreName: x}}},"
                "{scoreCoordinate: {type: AddOn, addOn: {resourceName: a, scoreName: x}}},"
                "{scoreCoordinate: {type: AddOn, addOn: {resourceName: a, scoreName: z}}},"
                "{scoreCoordinate: {type: AddOn, addOn: {resourceName: unused, scoreName: z}}, "
                "weight: 0}]}}",
                "{warnings: ['AddOnPlacementScores c1/a expired', 'AddOnPlacementScores c1/b "
                "expired', 'AddOnPlacementScores c2/a expired']}");
}

/* What finds no room says so, but for one whose time is over: that does not count in OCM, either.
 */
static void each_object_without_room_has_a_warning(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3 c4");
    struct fleet_contents *c = informer_write(fleet_informer(f->fleet));
    c->charged_max = 0; /* there is no room */
    informer_write_done(fleet_informer(f->fleet));
    hub_scored(f, "c2/test: score1=40");
    hub_scored(f, "c1/test: score2=30");
    hub_scored(f, "c3/test: score1=40 until=-1");
    hub_decides(f, ADD_ON,
                "{prioritizers: [{scores: {$is: {c1: 0, c2: 0, c3: 0, c4: 0}}}], warnings: ["
                "\"scores of cluster c1: object 'test' is too large: none of them counts\", "
                "\"scores of cluster c2: object 'test' is too large: none of them counts\", "
                "'AddOnPlacementScores c3/test expired']}");
}

/* ---- weights ---- */

#define POLICY(mode, configurations)                                                               \
    "{prioritizerPolicy: {mode: " mode ", configurations: [" configurations "]}}"
#define BUILT_IN(name, weight) "{scoreCoordinate: {builtIn: " name "}, weight: " weight "}"
#define SCORE(resource, score, weight)                                                             \
    "{scoreCoordinate: {type: AddOn, addOn: {resourceName: " resource ", scoreName: " score        \
    "}}, weight: " weight "}"

static void which_are_asked(void **state) {
    static const struct {
        const char *policy, *prioritizers;
    } cases[] = {
        {"{}", "[{name: Balance, weight: 1}, {name: Steady, weight: 1}]"},
        {POLICY("Additive", ""), "[{name: Balance, weight: 1}, {name: Steady, weight: 1}]"},
        {POLICY("''", BUILT_IN("Steady", "3")),
         "[{name: Balance, weight: 1}, {name: Steady, weight: 3}]"},
        {POLICY("Exact", ""), "[]"},
        {POLICY("Exact", BUILT_IN("Steady", "3")), "[{name: Steady, weight: 3}]"},
        {POLICY("Exact", BUILT_IN("Steady", "0")), "[]"},
        {POLICY("Additive", BUILT_IN("Balance", "0")), "[{name: Steady, weight: 1}]"},
        {POLICY("Additive", BUILT_IN("Balance", "-10")),
         "[{name: Balance, weight: -10}, {name: Steady, weight: 1}]"},
        /* of one built-in, the last counts */
        {POLICY("Exact",
                BUILT_IN("Steady", "3") "," BUILT_IN("Balance", "2") "," BUILT_IN("Steady", "5")),
         "[{name: Balance, weight: 2}, {name: Steady, weight: 5}]"},
        {POLICY("Exact", BUILT_IN("Steady", "3") "," BUILT_IN("Steady", "0")), "[]"},
        /* an add-on score that is listed twice counts twice */
        {POLICY("Exact", SCORE("r", "s", "10") "," SCORE("r", "s", "9")),
         "[{name: AddOn/r/s, weight: 10}, {name: AddOn/r/s, weight: 9}]"},
        {POLICY("Exact", SCORE("r", "s", "0") "," SCORE("q", "s", "1")),
         "[{name: AddOn/q/s, weight: 1}]"},
        {POLICY("Exact", BUILT_IN("ResourceAllocatableMemory", "1") "," BUILT_IN(
                             "ResourceAllocatableCPU",
                             "2") "," BUILT_IN("Balance", "3") "," SCORE("r", "s", "4")),
         "[{name: AddOn/r/s, weight: 4}, {name: Balance, weight: 3}, {name: "
         "ResourceAllocatableCPU, "
         "weight: 2}, {name: ResourceAllocatableMemory, weight: 1}]"},
        /* weight 0 is not looked at */
        {POLICY("Exact", BUILT_IN("Spread", "0")), "[]"},
        {POLICY("Exact", "{scoreCoordinate: {type: AddOn}, weight: 0}"), "[]"},
        /* what is given beside a built-in makes it another one than the default */
        {POLICY("Additive", "{scoreCoordinate: {type: BuiltIn, builtIn: Balance, addOn: "
                            "{resourceName: r, scoreName: s}}, weight: 4}"),
         "[{name: Balance, weight: 1}, {name: Balance, weight: 4}, {name: Steady, weight: 1}]"},
    };
    struct hub *f = *state;
    hub_clusters(f, "c1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[512];
        (void)snprintf(expected, sizeof expected, "{error: '', prioritizers: %s}",
                       cases[i].prioritizers);
        print_message("# %s\n", cases[i].policy);
        hub_decides(f, cases[i].policy, expected);
    }
}

static void misconfigured_weights(void **state) {
    static const struct {
        const char *policy, *message;
    } cases[] = {
        {POLICY("Wrong", ""), "incorrect prioritizer policy mode: Wrong"},
        {POLICY("exact", ""), "incorrect prioritizer policy mode: exact"},
        {POLICY("Exact", BUILT_IN("Other", "1")), "incorrect builtin prioritizer: Other"},
        {POLICY("Exact", BUILT_IN("balance", "1")), "incorrect builtin prioritizer: balance"},
        {POLICY("Exact", BUILT_IN("''", "1")), "incorrect builtin prioritizer: "},
        /* without terms, as OCM */
        {POLICY("Exact", BUILT_IN("Spread", "2")), "incorrect builtin prioritizer: Spread"},
        {POLICY("Exact", BUILT_IN("Spread", "0") "," BUILT_IN("Spread", "2")),
         "incorrect builtin prioritizer: Spread"},
        {POLICY("Exact", "{scoreCoordinate: {type: AddOn}}"), "addOn should not be empty"},
        {POLICY("Exact", "{weight: 1}"), "scoreCoordinate field is required"},
        {POLICY("Exact", "{weight: 0}"), "scoreCoordinate field is required"},
        /* the mode is looked at before any configuration, and all of these before what they name */
        {POLICY("Wrong", "{weight: 1}"), "incorrect prioritizer policy mode: Wrong"},
        {POLICY("Exact", BUILT_IN("Other", "1") ",{weight: 1}"),
         "scoreCoordinate field is required"},
    };
    struct hub *f = *state;
    hub_clusters(f, "c1(!k=v:NoSelect) c2");
    hub_decided_by(f, "ns1/placement: c1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[1024];
        (void)snprintf(
            expected, sizeof expected,
            "{error: '%s', selected: [], unscheduled: 0, prioritizers: [], sum: {$is: "
            "{}}, filter: {c1: {verdict: TaintToleration}, c2: {verdict: Pass}}, current: "
            "[c1], moves: {add: [], remove: [c1]}, groups: [{index: 0, name: '', "
            "decisions: [placement-decision-1], clusters: []}], conditions: [{status: "
            "'True', reason: Misconfigured, message: ':%s'}, {status: 'False', reason: "
            "NoManagedClusterMatched}], publish: [], requeueAfterSeconds: null}",
            cases[i].message, cases[i].message);
        print_message("# %s\n", cases[i].policy);
        hub_decides(f, cases[i].policy, expected);
    }
}

/* Upstream looks decisions up by a label with the Placement's name. */
static void a_name_that_is_no_label_value(void **state) {
    struct hub *f = *state;
    char name[80], placement[256], exact[256];
    (void)snprintf(name, sizeof name, "%064d", 7);
    hub_clusters(f, "c1");
    (void)snprintf(placement, sizeof placement, "{metadata: {name: p%s, namespace: ns1}, spec: {}}",
                   name + 1);
    hub_decides(f, placement,
                "{selected: [], prioritizers: [], error: {$text: 'Steady: values.0..cluster.*"
                "placement.: Invalid value: \"p0*7\": must be no more than 63 characters'}, "
                "conditions: [{status: 'False'}, {status: 'False', reason: "
                "NotAllDecisionsScheduled, message: {$text: '^values.*63 characters$'}}]}");
    (void)snprintf(
        exact, sizeof exact,
        "{metadata: {name: p%s, namespace: ns1}, spec: {prioritizerPolicy: {mode: Exact}}}",
        name + 1);
    hub_decides(f, exact, "{selected: [c1], error: ''}");
    /* what is wrong with groups is reported in its place */
    (void)snprintf(exact, sizeof exact,
                   "{metadata: {name: p%s, namespace: ns1}, spec: {decisionStrategy: "
                   "{groupStrategy: {clustersPerDecisionGroup: '7'}}}}",
                   name + 1);
    hub_decides(
        f, exact,
        "{selected: [], conditions: [{status: 'True', message: {$text: '^:7 invalid type'}}, "
        "{status: 'False', reason: NoManagedClusterMatched}]}");
    (void)snprintf(placement, sizeof placement, "{metadata: {name: p%s, namespace: ns1}, spec: {}}",
                   name + 2);
    hub_decides(f, placement, "{selected: [c1], error: ''}");
}

/* ---- sums ---- */

static void the_sum_decides(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "a1 a2 a3 b1");
    hub_scored(f, "a1/r: s=100");
    hub_scored(f, "a2/r: s=-100");
    hub_scored(f, "b1/r: s=100 until=-1");
    hub_decides(
        f,
        "{numberOfClusters: 2, prioritizerPolicy: {configurations: [" SCORE("r", "s", "10") "]}}",
        "{sum: {$is: {a1: 1100, a2: -900, a3: 100, b1: 100}}, selected: [a1, a3]}");
}

static void a_negative_weight(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_scored(f, "c1/r: s=30");
    hub_scored(f, "c2/r: s=50");
    hub_decides(f,
                "{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: [" SCORE(
                    "r", "s", "-1") "]}}",
                "{sum: {$is: {c1: -30, c2: -50, c3: 0}}, selected: [c3]}");
}

static void twice_the_same_score(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_scored(f, "c1/r: s=100");
    hub_decides(f, POLICY("Exact", SCORE("r", "s", "10") "," SCORE("r", "s", "10")),
                "{sum: {c1: 2000}, prioritizers: [{scores: {c1: 100}}, {scores: {c1: 100}}]}");
}

/* Nothing clamps what an add-on says, and sums are wider than scores. */
static void scores_are_not_clamped(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2");
    hub_scored(f, "c1/r: s=2147483647");
    hub_scored(f, "c2/r: s=-2147483648");
    hub_decides(f, POLICY("Exact", SCORE("r", "s", "10") "," SCORE("r", "s", "10")),
                "{sum: {c1: 42949672940, c2: -42949672960}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HUB_TEST(balance),
        HUB_TEST(balance_of_two_others),
        HUB_TEST(balance_counts_all_but_its_own),
        HUB_TEST(balance_of_seven),
        HUB_TEST(balance_is_computed_in_doubles),
        HUB_TEST(steady),
        cmocka_unit_test(upstreams_resources),
        HUB_TEST(resources_of_what_is_filtered),
        HUB_TEST(add_on),
        HUB_TEST(an_expired_score_is_0),
        HUB_TEST(each_expired_object_has_a_warning),
        HUB_TEST(each_object_without_room_has_a_warning),
        HUB_TEST(which_are_asked),
        HUB_TEST(misconfigured_weights),
        HUB_TEST(a_name_that_is_no_label_value),
        HUB_TEST(the_sum_decides),
        HUB_TEST(a_negative_weight),
        HUB_TEST(twice_the_same_score),
        HUB_TEST(scores_are_not_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
