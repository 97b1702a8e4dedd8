/*
 * A whole decision without spread terms: the tables of upstream's schedule_test.go and
 * scheduling_controller_test.go (OCM v1.2.0): sets, selection, decision groups, conditions.
 */
#include "unit/hub.h"

#include "base/limits.h"

#include <stdio.h>

/* ---- schedule_test.go ---- */

static void one_cluster(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_decides(f, "{}",
                "{placement: ns1/placement, eligibleSets: [set1], available: [c1], selected: [c1], "
                "filter: {$is: {c1: {verdict: Pass, reason: ''}}}, prioritizers: [{name: Balance, "
                "weight: 1, scores: {c1: 100}}, {name: Steady, weight: 1, scores: {c1: 0}}], sum: "
                "{c1: 100}, unscheduled: 0, celUnknown: false, policy: null, terms: [], domains: "
                "[], spreadSatisfied: null, publish: [], warnings: [], requeueAfterSeconds: null, "
                "error: ''}");
    hub_decides(f, "{numberOfClusters: 3}", "{selected: [c1], unscheduled: 2}");
}

static void what_is_decided_stays(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decided_by(f, "ns1/placement: c1 c2");
    hub_decides(f, "{numberOfClusters: 2}",
                "{selected: [c1, c2], current: [c1, c2], moves: {add: [], remove: []}, "
                "prioritizers: [{}, {scores: {c1: 100, c2: 100, c3: 0}}]}");
    hub_decides(f, "{numberOfClusters: 2, prioritizerPolicy: {mode: ''}}", "{selected: [c1, c2]}");
}

static void a_taint_leaves_one_unscheduled(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!key1=value1:NoSelect) c2(!key2=value2:NoSelect) c3");
    hub_decides(f,
                "{numberOfClusters: 3, tolerations: [{key: key1, operator: Equal, value: value1}]}",
                "{selected: [c1, c3], unscheduled: 1}");
}

static void prioritizers_together(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(memory=100/100) c2(memory=50/100) c3(memory=0/100)");
    hub_scored(f, "c1/demo: demo=30");
    hub_scored(f, "c2/demo: demo=40");
    hub_scored(f, "c3/demo: demo=50");
    hub_decides(
        f,
        "{numberOfClusters: 2, prioritizerPolicy: {mode: Additive, configurations: ["
        "{scoreCoordinate: {type: BuiltIn, builtIn: Balance}, weight: 3},"
        "{scoreCoordinate: {type: BuiltIn, builtIn: ResourceAllocatableMemory}, weight: 1},"
        "{scoreCoordinate: {type: AddOn, addOn: {resourceName: demo, scoreName: demo}}, weight: "
        "1}]}}",
        "{prioritizers: [{name: AddOn/demo/demo, scores: {c1: 30, c2: 40, c3: 50}}, {name: "
        "Balance, "
        "weight: 3, scores: {c1: 100, c2: 100, c3: 100}}, {name: ResourceAllocatableMemory, "
        "scores: "
        "{c1: 100, c2: 0, c3: -100}}, {name: Steady, scores: {c1: 0, c2: 0, c3: 0}}], "
        "sum: {$is: {c1: 430, c2: 340, c3: 250}}, selected: [c1, c2]}");
    hub_decides(
        f,
        "{numberOfClusters: 2, prioritizerPolicy: {mode: Exact, configurations: ["
        "{scoreCoordinate: {builtIn: Balance}, weight: 3},"
        "{scoreCoordinate: {builtIn: ResourceAllocatableMemory}}]}}",
        "{prioritizers: [{name: Balance}, {name: ResourceAllocatableMemory}], sum: {$is: {c1: 400, "
        "c2: 300, c3: 200}}, selected: [c1, c2]}");
}

static void more_than_there_are(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2");
    hub_decided_by(f, "ns1/placement: c1");
    hub_decides(f, "{numberOfClusters: 4}", "{selected: [c1, c2], unscheduled: 2}");
}

static void decisions_of_others(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decided_by(f, "ns1/: c1 c2");
    hub_decides(f, "{numberOfClusters: 1}",
                "{prioritizers: [{scores: {c1: -100, c2: -100, c3: 100}}, {}], selected: [c3]}");
}

static void it_does_not_move_for_balance(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decided_by(f, "ns1/: c2 c3");
    hub_decided_by(f, "ns1/: c1 c2");
    hub_decided_by(f, "ns1/placement: c3");
    hub_decides(f, "{numberOfClusters: 1}",
                "{prioritizers: [{scores: {c1: 0, c2: -100, c3: 0}}, {scores: {c1: 0, c2: 0, c3: "
                "100}}], selected: [c3]}");
}

/* ---- how many, and in which order ---- */

static void numbers(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c10 c2 c1 d");
    hub_decides(f, "{}", "{selected: [c1, c10, c2, d], unscheduled: 0}");
    hub_decides(f, "{numberOfClusters: 0}",
                "{selected: [], unscheduled: 0, sum: {d: 100}, conditions: [{status: 'False'}, "
                "{reason: NoManagedClusterMatched}]}");
    hub_decides(f, "{numberOfClusters: 3}", "{selected: [c1, c10, c2], unscheduled: 0}");
    hub_decides(f, "{numberOfClusters: 4}", "{selected: [c1, c10, c2, d], unscheduled: 0}");
    hub_decides(f, "{numberOfClusters: 5}", "{selected: [c1, c10, c2, d], unscheduled: 1}");
    hub_decides(f, "{numberOfClusters: 2147483647}", "{unscheduled: 2147483643}");
}

/* Membership counts through Steady only. */
static void without_terms_members_are_like_others(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3");
    hub_decided_by(f, "ns1/placement: c3 c2");
    hub_decides(f, "{numberOfClusters: 2, prioritizerPolicy: {mode: Exact}}",
                "{selected: [c1, c2], current: [c2, c3], moves: {add: [c1], remove: [c3]}}");
}

/* What is decided may name clusters that are gone, and one more than once. */
static void clusters_that_are_gone_are_removed(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1 c2(set=) c3(terminating)");
    hub_decided_by(f, "ns1/placement: gone c2 c1");
    hub_decided_by(f, "ns1/placement: c1 c3 also-gone");
    hub_decides(f, "{}",
                "{available: [c1], selected: [c1], current: [also-gone, c1, c2, c3, gone], moves: "
                "{add: [], remove: [also-gone, c2, c3, gone]}}");
}

/* ---- bindings and sets ---- */

#define REASON(reason)                                                                             \
    "{error: '', conditions: [{status: 'False'}, {status: 'False', reason: " reason "}]}"

static void bindings_and_sets(void **state) {
    struct hub f;
    (void)state;
    hub_open_empty(&f);
    hub_clusters(&f, "c1 c2(set=set2) c3(set=set3)");
    hub_decides(&f, "{}",
                "{eligibleSets: [], available: [], conditions: [{type: PlacementMisconfigured, "
                "status: 'False', reason: Succeedconfigured, message: Placement configurations "
                "check pass}, {type: PlacementSatisfied, status: 'False', reason: "
                "NoManagedClusterSetBindings, message: No valid ManagedClusterSetBindings found in "
                "placement namespace}], groups: [{index: 0, name: '', decisions: "
                "[placement-decision-1], clusters: []}]}");
    hub_object(&f, "{kind: ManagedClusterSetBinding, metadata: {name: set1, namespace: ns1}}");
    hub_decides(&f, "{}", REASON("NoManagedClusterSetBindings")); /* there is no such set */
    hub_object(&f, "{kind: ManagedClusterSet, metadata: {name: set1}}");
    hub_object(&f, "{kind: ManagedClusterSet, metadata: {name: set2}}");
    hub_object(&f, "{kind: ManagedClusterSetBinding, metadata: {name: set3, namespace: ns1}}");
    hub_object(&f, "{kind: ManagedClusterSetBinding, metadata: {name: set2, namespace: ns2}}");
    hub_decides(&f, "{}", "{eligibleSets: [set1], available: [c1]}");
    hub_object(&f, "{kind: ManagedClusterSetBinding, metadata: {name: set2, namespace: ns1}}");
    hub_decides(&f, "{}", "{eligibleSets: [set1, set2], available: [c1, c2]}");
    hub_decides(&f, "{clusterSets: [set3, set2, set2, other]}",
                "{eligibleSets: [set2], available: [c2]}");
    hub_decides(
        &f, "{clusterSets: [set3, x]}",
        "{eligibleSets: [], available: [], conditions: [{}, {reason: NoIntersection, "
        "message: 'None of ManagedClusterSets [set3,x] is bound to placement namespace'}]}");
    hub_close(&f);
}

static void sets_without_clusters(void **state) {
    struct hub *f = *state;
    hub_object(f, "{kind: ManagedClusterSet, metadata: {name: other}}");
    hub_object(f, "{kind: ManagedClusterSetBinding, metadata: {name: other, namespace: ns1}}");
    hub_clusters(f, "c1(set=) c2(terminating)");
    hub_decides(f, "{numberOfClusters: 5}",
                "{available: [], unscheduled: 5, conditions: [{}, {reason: "
                "AllManagedClusterSetsEmpty, message: 'All ManagedClusterSets [other,set1] have no "
                "member ManagedCluster'}]}");
}

static void selectors_of_sets(void **state) {
    struct hub *f = *state;
    static const char *const sets[] = {
        "{kind: ManagedClusterSet, metadata: {name: shift}, spec: {clusterSelector: {selectorType: "
        "LabelSelector, labelSelector: {matchLabels: {vendor: openShift}}}}}",
        "{kind: ManagedClusterSet, metadata: {name: all}, spec: {clusterSelector: {selectorType: "
        "LabelSelector, labelSelector: {}}}}",
        "{kind: ManagedClusterSet, metadata: {name: none}, spec: {clusterSelector: {selectorType: "
        "LabelSelector}}}",
        "{kind: ManagedClusterSet, metadata: {name: exclusive}, spec: {clusterSelector: "
        "{selectorType: ExclusiveClusterSetLabel}}}",
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        hub_object(f, sets[i]);
    for (const char *const *name = (const char *const[]){"shift", "all", "none", "exclusive", NULL};
         *name != NULL; name++) {
        char binding[128];
        (void)snprintf(binding, sizeof binding,
                       "{kind: ManagedClusterSetBinding, metadata: {name: %s, namespace: ns1}}",
                       *name);
        hub_object(f, binding);
    }
    hub_clusters(f, "c1 c2(set=,vendor=openShift) c3(set=) c4(set=exclusive) "
                    "c5(set=,vendor=openShift,terminating)");
    hub_decides(f, "{clusterSets: [set1]}", "{available: [c1]}");
    hub_decides(f, "{clusterSets: [shift]}", "{available: [c2]}");
    hub_decides(f, "{clusterSets: [all]}", "{available: [c1, c2, c3, c4]}");
    hub_decides(f, "{clusterSets: [none]}", "{available: [], eligibleSets: [none]}");
    hub_decides(f, "{clusterSets: [exclusive]}", "{available: [c4]}");
    hub_decides(f, "{clusterSets: [set1, exclusive, shift, none]}", "{available: [c1, c2, c4]}");
    hub_decides(f, "{}",
                "{eligibleSets: [all, exclusive, none, set1, shift], available: [c1, c2, "
                "c3, c4]}");
}

/* An object of more clusters than come while some that go are still in it. */
static void a_decision_that_is_too_large(void **state) {
    struct hub *f = *state;
    const unsigned most = LIMIT_DECISION_CLUSTERS;
    for (unsigned count = most; count <= most + 1; count++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_append_str(&text, STR("{kind: PlacementDecision, metadata: {name: big, namespace: "
                                     "ns1, labels: {cluster.open-cluster-management.io/placement: "
                                     "placement}}, status: {decisions: ["));
        for (unsigned i = 0; i < count; i++)
            strbuf_appendf(&text, "%s{clusterName: c1, reason: ''}", i > 0 ? ", " : "");
        strbuf_append_str(&text, STR("]}}"));
        strbuf_append_char(&text, '\0');
        hub_object(f, text.p);
        hub_clusters(f, "c1");
        hub_decides(f, "{}",
                    count == most ? "{current: [c1], warnings: []}"
                                  : "{current: [], warnings: [\"PlacementDecision 'big' is too "
                                    "large: its clusters do not count\"]}");
    }
}

/* Upstream gives up before it schedules, and writes nothing. */
static void a_bad_set_changes_nothing(void **state) {
    struct hub *f = *state;
    hub_object(f, "{kind: ManagedClusterSet, metadata: {name: bad}, spec: {clusterSelector: "
                  "{selectorType: LabelSelector, labelSelector: {matchExpressions: [{key: a, "
                  "operator: Like}]}}}}");
    hub_object(f, "{kind: ManagedClusterSetBinding, metadata: {name: bad, namespace: ns1}}");
    hub_clusters(f, "c1 c2");
    hub_decided_by(f, "ns1/placement: gone c2");
    hub_decides(f, "{clusterSets: [set1]}", "{error: '', selected: [c2, c1]}");
    hub_decides(f, "{}",
                "{error: 'failed to get clusterset: bad, clusters, Error: \"Like\" is not a valid "
                "label selector operator', eligibleSets: [bad, set1], available: [], filter: {$is: "
                "{}}, prioritizers: [], current: [c2, gone], selected: [c2, gone], moves: {add: "
                "[], remove: []}, unscheduled: 0, groups: [], conditions: []}");
}

/* ---- conditions ---- */

static void satisfied(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_decides(f, "{numberOfClusters: 1}",
                "{conditions: [{type: PlacementMisconfigured, status: 'False', reason: "
                "Succeedconfigured, message: Placement configurations check pass}, {type: "
                "PlacementSatisfied, status: 'True', reason: AllDecisionsScheduled, message: All "
                "cluster decisions scheduled}]}");
    hub_decides(f, "{numberOfClusters: 2}",
                "{conditions: [{status: 'False'}, {status: 'False', reason: "
                "NotAllDecisionsScheduled, message: 1 cluster decisions unscheduled}]}");
    hub_decides(f,
                "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {a: "
                "b}}}}]}",
                "{conditions: [{status: 'False'}, {status: 'False', reason: "
                "NoManagedClusterMatched, message: No ManagedCluster matches any of the cluster "
                "predicate}]}");
}

/* ---- groups ---- */

#define STRATEGY(length, groups)                                                                   \
    "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: " length                        \
    ", decisionGroups: [" groups "]}}}"
#define GROUP(name, key, value)                                                                    \
    "{groupName: " name ", groupClusterSelector: {labelSelector: {matchLabels: {" key ": " value   \
    "}}}}"
#define IS(index, name, decision, clusters)                                                        \
    "{index: " index ", name: " name ", decisions: [placement-decision-" decision                  \
    "], clusters: [" clusters "]}"

static void upstreams_groups(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cloud=Amazon) c2(cloud=Amazon) c3(cloud=Azure) c4(cloud=Azure)");
    hub_decides(f, "{}", "{groups: [" IS("0", "''", "1", "c1, c2, c3, c4") "]}");
    hub_decides(f, STRATEGY("1", GROUP("canary", "cloud", "Azure")),
                "{groups: [" IS("0", "canary", "1", "c3") "," IS("1", "canary", "2", "c4") "," IS(
                    "2", "''", "3", "c1") "," IS("3", "''", "4", "c2") "]}");
    hub_decides(f, STRATEGY("25%", GROUP("canary", "cloud", "Azure")),
                "{groups: [" IS("0", "canary", "1", "c3") "," IS("1", "canary", "2", "c4") "," IS(
                    "2", "''", "3", "c1") "," IS("3", "''", "4", "c2") "]}");
    hub_decides(
        f,
        STRATEGY("100%", GROUP("group1", "cloud", "Amazon") "," GROUP("group2", "cloud", "Azure")),
        "{groups: [" IS("0", "group1", "1", "c1, c2") "," IS("1", "group2", "2", "c3, c4") "]}");
    hub_decides(f, STRATEGY("2", GROUP("canary", "cloud", "Other")),
                "{groups: [" IS("0", "''", "1", "c1, c2") "," IS("1", "''", "2", "c3, c4") "]}");
    /* a cluster is in the first group that picks it */
    hub_decides(f,
                STRATEGY("3", GROUP("a", "cloud", "Azure") ", {groupName: b, groupClusterSelector: "
                                                           "{}}"),
                "{groups: [" IS("0", "a", "1", "c3, c4") "," IS("1", "b", "2", "c1, c2") "]}");
    hub_decides(
        f, STRATEGY("3", "{groupName: b, groupClusterSelector: {}}," GROUP("a", "cloud", "Azure")),
        "{groups: [" IS("0", "b", "1", "c1, c2, c3") "," IS("1", "b", "2", "c4") "]}");
}

/* Groups are of what is selected, by name whatever the order of picking. */
static void groups_are_of_what_is_selected(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(claim:a=b) c2(claim:a=b) c3(a=b) c4");
    hub_decided_by(f, "ns1/placement: c4 c2");
    hub_decides(
        f,
        "{numberOfClusters: 3, decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: "
        "first, groupClusterSelector: {claimSelector: {matchExpressions: [{key: a, operator: "
        "Exists}]}}}]}}}",
        "{selected: [c2, c4, c1], groups: [" IS("0", "first", "1", "c1, c2") "," IS("1", "''", "2",
                                                                                    "c4") "]}");
}

static void lengths(void **state) {
    static const struct {
        const char *length;
        unsigned first, groups;
    } cases[] = {
        {"28%", 8, 4}, /* of 25: 7.000000000000001 in doubles */
        {"4%", 1, 25},  {"1%", 1, 25}, {"100%", 25, 1}, {"99%", 25, 1},
        {"96%", 24, 2}, {"1", 1, 25},  {"24", 24, 2},   {"25", 25, 1},
        {"26", 25, 1},  {"0", 25, 1},  {"10", 10, 3},   {"2147483647", 25, 1},
    };
    struct hub *f = *state;
    for (unsigned i = 0; i < 25; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "c%02u", i);
        hub_clusters(f, name);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char placement[128];
        struct strbuf expected = {0};
        (void)snprintf(placement, sizeof placement, STRATEGY("%s", ""), cases[i].length);
        strbuf_append_str(&expected, STR("{groups: ["));
        for (unsigned g = 0, n = 0; g < cases[i].groups; g++) {
            strbuf_appendf(&expected, "{index: %u, decisions: [placement-decision-%u], clusters: [",
                           g, g + 1);
            for (unsigned k = 0; k < cases[i].first && n < 25; k++, n++)
                strbuf_appendf(&expected, "%sc%02u", k > 0 ? "," : "", n);
            strbuf_append_str(&expected, STR("]},"));
        }
        strbuf_append(&expected, "]}", 3);
        print_message("# %s\n", cases[i].length);
        hub_decides(f, placement, expected.p);
        strbuf_done(&expected);
    }
}

static void a_length_that_is_none(void **state) {
    static const char *const lengths[] = {"'10'", "'1'", "'100'"}; /* the reader refuses others */
    struct hub *f = *state;
    hub_clusters(f, "c1 c2");
    hub_decided_by(f, "ns1/placement: c1");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char placement[128];
        (void)snprintf(placement, sizeof placement, STRATEGY("%s", ""), lengths[i]);
        print_message("# %s\n", lengths[i]);
        hub_decides(f, placement,
                    "{selected: [c1, c2], groups: [], error: '', conditions: [{status: 'True', "
                    "reason: Misconfigured, message: {$text: '^:.* invalid type: string is not a "
                    "percentage$'}}, {status: 'True', reason: AllDecisionsScheduled}], warnings: "
                    "{$has: [2 selected clusters are in no decision group]}}");
    }
    hub_decides(f, STRATEGY("'10'", ""),
                "{conditions: [{message: ':10 invalid type: string is not a percentage'}, {}]}");
}

#define BAD                                                                                        \
    "{groupName: bad, groupClusterSelector: {labelSelector: {matchExpressions: [{key: a, "         \
    "operator: In}]}}}"

static void a_bad_group(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cloud=Amazon) c2(cloud=Azure)");
    hub_decides(
        f, STRATEGY("1", GROUP("one", "cloud", "Amazon") "," BAD),
        "{selected: [c1, c2], groups: [" IS(
            "0", "one", "1",
            "c1") "], conditions: "
                  "[{status: 'True', message: {$text: '^:values: Invalid value: null: for'}}, "
                  "{status: 'True'}], warnings: {$has: [1 selected clusters are in no decision "
                  "group]}}");
    hub_decides(f, STRATEGY("1", BAD "," GROUP("one", "cloud", "Amazon")), "{groups: []}");
    /* nobody is left for it, and still it is read */
    hub_decides(f, STRATEGY("2", "{groupName: all, groupClusterSelector: {}}, " BAD),
                "{groups: [" IS("0", "all", "1", "c1, c2") "], conditions: [{status: 'True'}, {}], "
                                                           "warnings: []}");
    /* it is reported in the place of what was wrong before */
    hub_decides(f,
                "{prioritizerPolicy: {mode: Wrong}, decisionStrategy: {groupStrategy: "
                "{decisionGroups: [" BAD "]}}}",
                "{error: 'incorrect prioritizer policy mode: Wrong', groups: [], selected: [], "
                "conditions: [{message: {$text: '^:values'}}, {reason: NoManagedClusterMatched}]}");
}

static void hundred_clusters_an_object(void **state) {
    static const struct {
        unsigned clusters;
        const char *groups;
    } cases[] = {
        {100, "[{decisions: [placement-decision-1]}]"},
        {101, "[{decisions: [placement-decision-1, placement-decision-2]}]"},
        {200, "[{decisions: [placement-decision-1, placement-decision-2]}]"},
        {201, "[{decisions: [placement-decision-1, placement-decision-2, placement-decision-3]}]"},
    };
    struct hub *f = *state;
    for (unsigned i = 0; i < 250; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, i < 240 ? "c%03u" : "d%03u(a=b)", i);
        hub_clusters(f, name);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char placement[64], expected[256];
        (void)snprintf(placement, sizeof placement, "{numberOfClusters: %u}", cases[i].clusters);
        (void)snprintf(expected, sizeof expected, "{groups: %s}", cases[i].groups);
        hub_decides(f, placement, expected);
    }
    /* numbers go on from group to group */
    hub_decides(f, STRATEGY("150", GROUP("b", "a", "b")),
                "{groups: [{index: 0, name: b, decisions: [placement-decision-1]}, {index: 1, "
                "decisions: [placement-decision-2, placement-decision-3]}, {index: 2, decisions: "
                "[placement-decision-4]}]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HUB_TEST(one_cluster),
        HUB_TEST(what_is_decided_stays),
        HUB_TEST(a_taint_leaves_one_unscheduled),
        HUB_TEST(prioritizers_together),
        HUB_TEST(more_than_there_are),
        HUB_TEST(decisions_of_others),
        HUB_TEST(it_does_not_move_for_balance),
        HUB_TEST(numbers),
        HUB_TEST(without_terms_members_are_like_others),
        HUB_TEST(clusters_that_are_gone_are_removed),
        cmocka_unit_test(bindings_and_sets),
        HUB_TEST(sets_without_clusters),
        HUB_TEST(selectors_of_sets),
        HUB_TEST(a_decision_that_is_too_large),
        HUB_TEST(a_bad_set_changes_nothing),
        HUB_TEST(satisfied),
        HUB_TEST(upstreams_groups),
        HUB_TEST(groups_are_of_what_is_selected),
        HUB_TEST(lengths),
        HUB_TEST(a_length_that_is_none),
        HUB_TEST(a_bad_group),
        HUB_TEST(hundred_clusters_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
