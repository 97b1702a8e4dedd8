/*
 * The filters Predicate and TaintToleration: the tables of upstream's own tests (predicate_test.go,
 * taint_toleration_test.go of OCM v1.2.0) but CEL, and their edges.
 */
#include "unit/hub.h"

#include <stdio.h>

/* ---- Predicate ---- */

#define LABEL(key, value)                                                                          \
    "requiredClusterSelector: {labelSelector: {matchLabels: {" key ": " value "}}}"
#define CLAIM(key, value)                                                                          \
    "requiredClusterSelector: {claimSelector: {matchExpressions: [{key: " key                      \
    ", operator: In, values: [" value "]}]}}"

static void upstreams_predicates(void **state) {
    static const struct {
        const char *clusters, *predicates, *selected;
    } cases[] = {
        {"c1(cloud=Amazon) c2(cloud=Google)", "[{" LABEL("cloud", "Amazon") "}]", "[c1]"},
        {"c1(claim:cloud=Amazon) c2(claim:cloud=Google)", "[{" CLAIM("cloud", "Amazon") "}]",
         "[c1]"},
        {"c1(cloud=Amazon,claim:region=us-east-1) c2(cloud=Amazon,claim:region=us-east-2)",
         "[{requiredClusterSelector: {labelSelector: {matchLabels: {cloud: Amazon}}, "
         "claimSelector: "
         "{matchExpressions: [{key: region, operator: In, values: [us-east-1]}]}}}]",
         "[c1]"},
        {"c1(cloud=Amazon) c2(claim:region=us-east-1) c3(claim:region=us-east-2)",
         "[{" LABEL("cloud", "Amazon") "}, {" CLAIM("region", "us-east-1") "}]", "[c1, c2]"},
        /* not upstream's: */
        {"c1 c2", "[]", "[c1, c2]"},
        {"c1 c2", "[{}]", "[c1, c2]"}, /* no part matches everything */
        {"c1(cloud=Amazon) c2", "[{" LABEL("cloud", "Amazon") "}, {}]", "[c1, c2]"},
        /* a label is no claim, and a claim is no label */
        {"c1(cloud=Amazon) c2(claim:cloud=Amazon)", "[{" LABEL("cloud", "Amazon") "}]", "[c1]"},
        {"c1(cloud=Amazon) c2(claim:cloud=Amazon)", "[{" CLAIM("cloud", "Amazon") "}]", "[c2]"},
        /* both parts */
        {"c1(a=x,claim:b=w) c2(a=x,claim:b=n) c3(a=n,claim:b=w) c4",
         "[{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a, operator: In, "
         "values: [x]}]}, claimSelector: {matchExpressions: [{key: b, operator: In, values: "
         "[w]}]}}}"
         "]",
         "[c1]"},
        {"c1(a=x) c2(a=y) c3",
         "[{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a, operator: NotIn, "
         "values: [x]}]}}}]",
         "[c2, c3]"},
        {"c1(a=x) c2(a=y) c3",
         "[{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a, operator: "
         "Exists}]}}}]",
         "[c1, c2]"},
        {"c1(a=x) c2(a=y) c3",
         "[{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a, operator: "
         "DoesNotExist}]}}}]",
         "[c3]"},
        {"c1(a=) c2(a=y) c3",
         "[{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a, operator: In, "
         "values: ['']}]}}}]",
         "[c1]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hub f;
        char placement[512], expected[64];
        hub_open(&f);
        hub_clusters(&f, cases[i].clusters);
        (void)snprintf(placement, sizeof placement, "{predicates: %s}", cases[i].predicates);
        (void)snprintf(expected, sizeof expected, "{selected: %s}", cases[i].selected);
        print_message("# %s\n", placement);
        hub_decides(&f, placement, expected);
        hub_close(&f);
    }
}

static void a_refusal_has_a_reason(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cloud=Amazon) c2(cloud=Google) c3");
    hub_decides(f, "{predicates: [{" LABEL("cloud", "Amazon") "}]}",
                "{filter: {$is: {c1: {verdict: Pass, reason: ''},"
                " c2: {verdict: Predicate, reason: 'label cloud in (Amazon) does not hold'},"
                " c3: {verdict: Predicate, reason: 'label cloud in (Amazon) does not hold'}}}}");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: "
                "[{key: region, operator: In, values: [f, e, d, c, b, a]}]}}}]}",
                "{filter: {c1: {reason: 'claim region in (a,b,c,d,e and 1 more) does not hold'}}}");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: "
                "[{key: cloud, operator: NotIn, values: [Amazon, Google]}]}}},"
                "{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: cloud, "
                "operator: DoesNotExist}]}}}]}",
                "{filter: {c1: {reason: 'none of 2 predicates holds; of the first: label cloud "
                "notin (Amazon,Google) does not hold'}, c3: {verdict: Pass}}}");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: "
                "[{key: cloud, operator: DoesNotExist}]}}}]}",
                "{filter: {c1: {reason: 'label !cloud does not hold'}}}");
    /* of several requirements the one that does not hold, not the first */
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {cloud: "
                "Google}}, claimSelector: {matchExpressions: [{key: b, operator: Exists}]}}}]}",
                "{filter: {c1: {reason: 'label cloud in (Google) does not hold'}, c2: {reason: "
                "'claim b does not hold'}}}");
}

/* Of the first predicate, also where a later one fails at another requirement. */
static void the_first_predicate_is_the_one_named(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(a=x)");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {cloud: "
                "Amazon}}}}, {requiredClusterSelector: {labelSelector: {matchLabels: {a: x, b: "
                "z}}}}]}",
                "{filter: {c1: {reason: 'none of 2 predicates holds; of the first: label cloud in "
                "(Amazon) does not hold'}}}");
}

static void cel_is_taken_as_matching(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cloud=Amazon) c2");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: "
                "['false']}}}]}",
                "{celUnknown: true, selected: [c1, c2]}");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {cloud: "
                "Amazon}}, celSelector: {celExpressions: ['x']}}}]}",
                "{celUnknown: true, selected: [c1]}");
    hub_decides(f, "{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: []}}}]}",
                "{celUnknown: false, selected: [c1, c2]}");
    hub_decides(f, "{predicates: [{" LABEL("cloud", "Amazon") "}]}", "{celUnknown: false}");
}

#define EMPTY_ANSWER                                                                               \
    "selected: [], unscheduled: 0, prioritizers: [], sum: {$is: {}}, filter: {$is: {}}, groups: "  \
    "[{index: 0, name: '', decisions: [placement-decision-1], clusters: []}]"
#define MISCONFIGURED(message)                                                                     \
    "conditions: [{type: PlacementMisconfigured, status: 'True', reason: Misconfigured, message: " \
    "'" message "'}, {type: PlacementSatisfied, status: 'False', reason: "                         \
    "NoManagedClusterMatched, message: 'No "                                                       \
    "ManagedCluster matches any of the cluster predicate'}]"

static void a_bad_selector_misconfigures(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_decides(
        f,
        "{numberOfClusters: 3, predicates: [{}, {requiredClusterSelector: {labelSelector: "
        "{matchExpressions: [{key: a, operator: In}]}}}]}",
        "{" EMPTY_ANSWER ", error: \"Predicate: values: Invalid value: null: for 'in', "
        "'notin' operators, values set can't be empty\", " MISCONFIGURED(
            "Predicate:values: Invalid value: null: for ''in'', ''notin'' operators, values "
            "set can''t be empty") "}");
    /* labels are looked at before claims */
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: [{key: "
                "a, operator: In}]}, labelSelector: {matchExpressions: [{key: a, operator: "
                "in}]}}}]}",
                "{conditions: [{message: 'Predicate:\"in\" is not a valid label selector "
                "operator'}, {}]}");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: [{key: "
                "a, operator: Exists, values: [b]}]}}}]}",
                "{conditions: [{message: 'Predicate:values: Invalid value: [\"b\"]: values set "
                "must be empty for exists and does not exist'}, {}]}");
}

static void without_clusters_no_selector_is_looked_at(void **state) {
    struct hub *f = *state;
    hub_decides(
        f,
        "{predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: "
        "a, operator: In}]}}}], tolerations: [{operator: Equal}]}",
        "{error: '', conditions: [{status: 'False'}, {reason: AllManagedClusterSetsEmpty}]}");
    /* and no toleration where no cluster passes the predicates */
    hub_clusters(f, "c1");
    hub_decides(f, "{predicates: [{" LABEL("a", "b") "}], tolerations: [{operator: Equal}]}",
                "{error: '', selected: []}");
}

/* ---- TaintToleration ---- */

#define NONE "[]"
#define EQUAL(key, value) "[{key: " key ", operator: Equal, value: " value "}]"
#define EXISTS(key) "[{key: " key ", operator: Exists}]"

static void upstreams_taints(void **state) {
    static const struct {
        const char *clusters, *tolerations, *decided, *selected;
    } cases[] = {
        {"c1(!key1=value1:NoSelect)", NONE, NULL, "[]"},
        {"c1(!key1=value1:NoSelect)", EQUAL("key1", "value1"), NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect)", EQUAL("key1", "''"), NULL, "[]"},
        {"c1(!key1=value2:NoSelect) c2(!key2=value1:NoSelect)", EQUAL("key1", "value1"), NULL,
         "[]"},
        {"c1(!key1=value1:NoSelect)", EXISTS("key1"), NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect)", "[{key: key1, operator: Exists, value: ''}]", NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect)", EXISTS("key2"), NULL, "[]"},
        {"c1(!key1=value1:NoSelectIfNew)", NONE, NULL, "[]"},
        {"c1(!key1=value1:NoSelectIfNew)", NONE, "c1", "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)", EXISTS("key1"), NULL, "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)", EXISTS("key1"), "c1", "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)", EXISTS("key2"), NULL, "[]"},
        {"c1(!key1=value1:NoSelectIfNew)", EXISTS("key2"), "c1", "[c1]"},
        {"c1(!key1=value1:PreferNoSelect)", NONE, NULL, "[c1]"},
        {"c1(!key1=value1:PreferNoSelect)", EXISTS("key1"), NULL, "[c1]"},
        {"c1(!key1=value1:PreferNoSelect)", EXISTS("key2"), NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect,!key2=v:NoSelect) c2(!key1=value1:NoSelect,!key2=v:NoSelect)",
         "[{key: key1, operator: Equal, value: value1}, {key: key2, operator: Exists}]", NULL,
         "[c1, c2]"},
        {"c1(!key1=value1:NoSelect,!key2=v:NoSelect)", EXISTS("key1"), NULL, "[]"},
        {"c1(!key1=value1:NoSelect)", "[{key: key1, operator: Exists, effect: ''}]", NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect)", "[{key: key1, operator: Exists, effect: NoSelectIfNew}]",
         NULL, "[]"},
        {"c1(!key1=value1:NoSelect)", "[{key: key1, operator: Exists, effect: NoSelect}]", NULL,
         "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)", "[{key: key1, operator: Exists, effect: ''}]", NULL,
         "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)", "[{key: key1, operator: Exists, effect: NoSelectIfNew}]",
         NULL, "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)", "[{key: key1, operator: Equal, value: value2}]", NULL,
         "[]"},
        {"c1(!key1=value1:NoSelectIfNew)", "[{key: key1, operator: Equal, value: value2}]", "c1",
         "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)",
         "[{key: key1, operator: Equal, value: value2, effect: NoSelectIfNew}]", "c1", "[c1]"},
        {"c1(!key1=value1:NoSelectIfNew)",
         "[{key: key1, operator: Equal, value: value2, effect: NoSelect}]", "c1", "[c1]"},
        /* not upstream's: an operator that nobody knows matches nothing; "" is Equal */
        {"c1(!key1=value1:NoSelect)", "[{key: key1, operator: Like, value: value1}]", NULL, "[]"},
        {"c1(!key1=value1:NoSelect)", "[{key: key1, operator: '', value: value1}]", NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect)", "[{operator: Exists}]", NULL, "[c1]"},
        {"c1(!key1=value1:NoSelect)", "[{operator: Exists, effect: NoSelectIfNew}]", NULL, "[]"},
        {"c1(!key1:NoSelect)", "[{key: key1}]", NULL, "[c1]"},
        /* that it is decided helps against NoSelectIfNew only */
        {"c1(!key1=value1:NoSelect)", NONE, "c1", "[]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hub f;
        char placement[512], expected[64];
        hub_open(&f);
        hub_clusters(&f, cases[i].clusters);
        if (cases[i].decided != NULL) {
            (void)snprintf(placement, sizeof placement, "ns1/placement: %s", cases[i].decided);
            hub_decided_by(&f, placement);
        }
        (void)snprintf(placement, sizeof placement, "{tolerations: %s}", cases[i].tolerations);
        (void)snprintf(expected, sizeof expected, "{selected: %s}", cases[i].selected);
        print_message("# %s, %s\n", cases[i].clusters, placement);
        hub_decides(&f, placement, expected);
        hub_close(&f);
    }
}

static void bad_tolerations_misconfigure(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1"); /* without a taint */
    hub_decides(f, "{tolerations: [{key: '', operator: Equal, value: v}]}",
                "{" EMPTY_ANSWER ", " MISCONFIGURED(
                    "TaintToleration:If the key is empty, operator must be Exists.") "}");
    hub_decides(f, "{tolerations: [{operator: Exists, value: v}]}",
                "{" EMPTY_ANSWER ", " MISCONFIGURED(
                    "TaintToleration:If the operator is Exists, the value should be empty.") "}");
    hub_decides(f, "{tolerations: [{key: k, operator: Exists, value: v}]}",
                "{error: {$text: '^TaintToleration: If the operator'}}");
}

static void a_taint_is_named(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=value1:NoSelect) c2(!a=b:PreferNoSelect,!key1:NoSelectIfNew) "
                    "c3(!old=x:NoSelect@-10)");
    hub_decides(
        f, "{tolerations: [{key: old, operator: Exists, tolerationSeconds: 10}]}",
        "{filter: {$is: {"
        "c1: {verdict: TaintToleration, reason: 'taint key1=value1:NoSelect is not tolerated'},"
        "c2: {verdict: TaintToleration, reason: 'taint key1:NoSelectIfNew is not tolerated'},"
        "c3: {verdict: TaintToleration, reason: 'taint old=x:NoSelect is not tolerated: "
        "tolerationSeconds are over'}}}}");
}

/* ---- tolerationSeconds ---- */

#define SECONDS(n) "{tolerations: [{key: key1, operator: Exists, tolerationSeconds: " n "}]}"

static void a_toleration_ends(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect@-8) c2(!key1=v:NoSelect@-9) c3(!key1=v:NoSelect@-10)");
    hub_decides(f, SECONDS("10"), "{selected: [c1, c2], requeueAfterSeconds: null}");
    hub_decides(f, SECONDS("11"), "{selected: [c1, c2, c3]}");
    hub_decides(f, SECONDS("0"), "{selected: []}");
    hub_decides(f, SECONDS("-5"), "{selected: []}");
    /* as soon as the first of today's clusters */
    hub_decided_by(f, "ns1/placement: c1 c2");
    hub_decides(f, SECONDS("10"), "{selected: [c1, c2], requeueAfterSeconds: 1}");
}

static void the_wait_is_that_of_current_clusters(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect@-8) c2(!key1=v:NoSelect@-9)");
    hub_decided_by(f, "ns1/placement: c1 gone");
    hub_decides(f, SECONDS("10"), "{selected: [c1, c2], requeueAfterSeconds: 2}");
    hub_decided_by(f, "ns1/placement: c2");
    hub_clusters(f, "c1(!key1=v:NoSelect@-9) c2(!key1=v:NoSelect@-7)");
    hub_decides(f, SECONDS("10"), "{requeueAfterSeconds: 1}"); /* whichever it is of */
    hub_clusters(f, "c1(!key1=v:NoSelect@-7) c2(!key1=v:NoSelect@-9)");
    hub_decides(f, SECONDS("10"), "{requeueAfterSeconds: 1}");
    hub_clusters(f, "c2");
    /* also of one that is in no set of the Placement's any more */
    hub_clusters(f, "c1(set=,!key1=v:NoSelect@-8)");
    hub_decides(f, SECONDS("10"), "{selected: [c2], requeueAfterSeconds: 2}");
    /* but not of one that is not tolerated any more */
    hub_clusters(f, "c1(!key1=v:NoSelect@-8,!key2=v:NoSelect@-8)");
    hub_decides(f, SECONDS("10"), "{selected: [c2], requeueAfterSeconds: null}");
}

static void the_first_toleration_that_matches_decides(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect@-8)");
    hub_decided_by(f, "ns1/placement: c1");
    hub_decides(f,
                "{tolerations: [{key: key1, operator: Exists, tolerationSeconds: 10}, {operator: "
                "Exists}]}",
                "{requeueAfterSeconds: 2}");
    hub_decides(f,
                "{tolerations: [{operator: Exists}, {key: key1, operator: Exists, "
                "tolerationSeconds: 10}]}",
                "{requeueAfterSeconds: null}");
    /* one that is over is passed by */
    hub_decides(f,
                "{tolerations: [{key: key1, operator: Exists, tolerationSeconds: 8}, {operator: "
                "Exists, tolerationSeconds: 20}]}",
                "{selected: [c1], requeueAfterSeconds: 12}");
    /* of several taints the first that ends */
    hub_clusters(f, "c1(!key1=v:NoSelect@-8,!key2=v:NoSelect@-1,!key3=v:PreferNoSelect@-50)");
    hub_decides(f,
                "{tolerations: [{key: key1, operator: Exists, tolerationSeconds: 300}, {operator: "
                "Exists, tolerationSeconds: 20}]}",
                "{requeueAfterSeconds: 19}");
    hub_decides(f,
                "{tolerations: [{key: key1, operator: Exists, tolerationSeconds: 10}, {operator: "
                "Exists, tolerationSeconds: 20}]}",
                "{requeueAfterSeconds: 2}");
}

static void a_misconfigured_placement_waits_for_nothing(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect@-8)");
    hub_decided_by(f, "ns1/placement: c1");
    hub_decides(f,
                "{tolerations: [{key: key1, operator: Exists, tolerationSeconds: 10}], "
                "prioritizerPolicy: {mode: Wrong}}",
                "{requeueAfterSeconds: null, moves: {add: [], remove: [c1]}}");
}

/* Go multiplies seconds by 10^9 in 64 bits: what wraps to a time before is over. */
static void seconds_wrap_as_upstream(void **state) {
    static const struct {
        const char *seconds;
        bool tolerated;
    } cases[] = {
        {"9223372036", true},                                   /* 292 years */
        {"9223372037", false},                                  /* wraps below 0 */
        {"10000000000", false},         {"18446744073", false}, /* -0.7 s */
        {"18446744082", false},         /* 8.29 s: over, for the taint is 9 s old */
        {"18446744083", true},          /* 9.29 s */
        {"9223372036854775807", false}, /* -10^9 ns */
    };
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect@-9)");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char placement[160];
        (void)snprintf(placement, sizeof placement, SECONDS("%s"), cases[i].seconds);
        print_message("# %s\n", placement);
        hub_decides(f, placement, cases[i].tolerated ? "{selected: [c1]}" : "{selected: []}");
    }
}

/* 18446744083 s wrap to 9290.448 ms: over after 9291 ms, and not after 9290. */
static void a_part_of_a_millisecond_counts(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect@-9)");
    f->now_ms += 290;
    hub_decides(f, SECONDS("18446744083"), "{selected: [c1]}");
    f->now_ms += 1;
    hub_decides(f, SECONDS("18446744083"), "{selected: []}");
}

static void a_taint_without_a_time_is_old(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=v:NoSelect)");
    hub_decides(f, SECONDS("9223372036"), "{selected: []}");
    hub_decides(f, "{tolerations: [{key: key1, operator: Exists}]}", "{selected: [c1]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upstreams_predicates),
        HUB_TEST(a_refusal_has_a_reason),
        HUB_TEST(the_first_predicate_is_the_one_named),
        HUB_TEST(cel_is_taken_as_matching),
        HUB_TEST(a_bad_selector_misconfigures),
        HUB_TEST(without_clusters_no_selector_is_looked_at),
        cmocka_unit_test(upstreams_taints),
        HUB_TEST(bad_tolerations_misconfigure),
        HUB_TEST(a_taint_is_named),
        HUB_TEST(a_toleration_ends),
        HUB_TEST(the_wait_is_that_of_current_clusters),
        HUB_TEST(the_first_toleration_that_matches_decides),
        HUB_TEST(a_misconfigured_placement_waits_for_nothing),
        HUB_TEST(seconds_wrap_as_upstream),
        HUB_TEST(a_part_of_a_millisecond_counts),
        HUB_TEST(a_taint_without_a_time_is_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
