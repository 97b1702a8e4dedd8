/* A decision as JSON: the members of the one object, and the answers of single verbs. */
#include "unit/hub.h"

#include <stdio.h>

/* The names of an object's members, in their order: "a b c". */
static struct str member_names(struct hub *f, struct str json) {
    struct strbuf names = {0};
    struct json_reader r;
    struct str key;
    struct err err;
    json_reader_init(&r, json, &f->arena, "answer");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        strbuf_append_str(&names, names.n > 0 ? STR(" ") : STR(""));
        strbuf_append_str(&names, key);
        (void)json_skip(&r);
    }
    assert_int_equal(json_finish(&r, &err), 0);
    const struct str ret = arena_str(&f->arena, strbuf_str(&names));
    strbuf_done(&names);
    return ret;
}

static struct str member(struct hub *f, struct str json, const char *name) {
    struct json_reader r;
    struct str key, found = {0};
    json_reader_init(&r, json, &f->arena, "answer");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        const struct str value = json_skip(&r);
        found = str_eq(key, str_of(name)) ? value : found;
    }
    return found;
}

static const char members[] =
    "placement eligibleSets available filter celUnknown prioritizers sum policy terms domains "
    "current selected kept keptReasons moves unscheduled groups conditions publish spreadSatisfied "
    "requeueAfterSeconds warnings error";

static void members_in_their_order(void **state) {
    struct hub *f = *state;
    assert_str(member_names(f, hub_answer(f, "{}")), members); /* no cluster at all */
    hub_clusters(f, "c1(zone=a)");
    assert_str(member_names(f, hub_answer(f, "{}")), members);
    assert_str(member_names(f, hub_answer(f, "{prioritizerPolicy: {mode: Wrong}}")), members);
    f->with_rounds = true;
    const struct str with_rounds = hub_answer(
        f,
        "{spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Label}]}, "
        "prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: Spread}}, "
        "{scoreCoordinate: {builtIn: Steady}}]}}");
    assert_str(member_names(f, with_rounds),
               "placement eligibleSets available filter celUnknown prioritizers sum policy terms "
               "domains rounds current selected kept keptReasons moves unscheduled groups "
               "conditions publish "
               "spreadSatisfied requeueAfterSeconds warnings error");
    hub_expect(f, with_rounds,
               "{domains: [{path: [a], feasible: 1, selected: 1}], rounds: [{picked: c1, dropped: "
               "[], raw: {c1: 0}, final: {c1: 0}}], current: []}");
    static const struct {
        const char *of, *names;
    } parts[] = {
        {"moves", "add remove"},
        {"spreadSatisfied", "status reason message"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_str(member_names(f, member(f, with_rounds, parts[i].of)), parts[i].names);
}

/* Without spaces, as a whole. */
static void the_whole_object(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(!k=v:NoSelect)");
    hub_decided_by(f, "ns1/placement: c3");
    assert_str(
        hub_answer(f, "{numberOfClusters: 1, spreadPolicy: {spreadConstraints: [{topologyKey: "
                      "zone, topologyKeyType: Label, whenUnsatisfiable: DoNotSchedule}]}}"),
        "{\"placement\":\"ns1/"
        "placement\",\"eligibleSets\":[\"set1\"],\"available\":[\"c1\",\"c2\"],"
        "\"filter\":{\"c1\":{\"verdict\":\"Pass\",\"reason\":\"\"},\"c2\":{\"verdict\":"
        "\"TaintToleration\",\"reason\":\"taint k=v:NoSelect is not tolerated\"}},\"celUnknown\":"
        "false,\"prioritizers\":[{\"name\":\"Balance\",\"weight\":1,\"scores\":{\"c1\":100}},"
        "{\"name\":\"Steady\",\"weight\":1,\"scores\":{\"c1\":0}}],\"sum\":{\"c1\":100},\"policy\":"
        "null,\"terms\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Label\",\"maxSkew\":1,"
        "\"whenUnsatisfiable\":\"DoNotSchedule\",\"minDomains\":0,\"skew\":0}],\"domains\":[{"
        "\"path\":[\"a\"],\"feasible\":1,\"selected\":1}],\"current\":[\"c3\"],\"selected\":["
        "\"c1\"],\"kept\":[],\"keptReasons\":{},"
        "\"moves\":{\"add\":[\"c1\"],\"remove\":[\"c3\"]},\"unscheduled\":0,\"groups\":[{\"index\":"
        "0,"
        "\"name\":\"\",\"decisions\":[\"placement-decision-1\"],\"clusters\":[\"c1\"]}],"
        "\"conditions\":[{\"type\":\"PlacementMisconfigured\",\"status\":\"False\",\"reason\":"
        "\"Succeedconfigured\",\"message\":\"Placement configurations check pass\"},{\"type\":"
        "\"PlacementSatisfied\",\"status\":\"True\",\"reason\":\"AllDecisionsScheduled\","
        "\"message\":\"All cluster decisions scheduled\"}],\"publish\":[],\"spreadSatisfied\":{"
        "\"status\":\"True\",\"reason\":\"Even\",\"message\":\"zone: skew 0, maxSkew 1; 1 "
        "cluster\"},"
        "\"requeueAfterSeconds\":null,\"warnings\":[],\"error\":\"\"}");
}

static void why_members_stay(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "a1(claim:zone=a,tier=x) a2(claim:zone=a,tier=x) a3(claim:zone=a,tier=x) "
                    "b1(claim:zone=b,tier=x) n1(claim:zone=b)");
    hub_decided_by(f, "ns1/placement: a1 a2 a3 n1");
    const char *const placement =
        "{numberOfClusters: 6, spreadPolicy: {spreadConstraints: [{topologyKey: zone, "
        "topologyKeyType: Claim, whenUnsatisfiable: DoNotSchedule}, {topologyKey: tier, "
        "topologyKeyType: Label, maxSkew: 9, whenUnsatisfiable: DoNotSchedule}]}}";
    hub_decides(f, placement,
                "{selected: [a1, b1, a2, a3, n1], kept: [a3, n1], keptReasons: {$is: {a3: 'claim "
                "zone=a is above maxSkew 1: a member stays', n1: 'no label tier: a member "
                "stays'}}, unscheduled: 1, filter: {a3: {verdict: Pass, reason: ''}, n1: {verdict: "
                "TopologyKey}}, domains: [{path: [a], selected: 3}, {path: [a, x]}, {path: [b], "
                "selected: 1}, {path: [b, x]}]}");
    f->limit = 1;
    hub_decides(f, placement,
                "{kept: [a3], keptReasons: {$is: {a3: 'claim zone=a is above maxSkew 1: a member "
                "stays'}}, omitted: {kept: 1}}");
}

static void a_part_of_a_second_is_waited_for(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(!k=v:NoSelect@-8)");
    hub_decided_by(f, "ns1/placement: c1");
    const char *const placement =
        "{tolerations: [{key: k, operator: Exists, tolerationSeconds: 10}]}";
    f->now_ms += 1;
    hub_decides(f, placement, "{requeueAfterSeconds: 2}");
    f->now_ms += 999;
    hub_decides(f, placement, "{requeueAfterSeconds: 1}");
    f->now_ms += 999;
    hub_decides(f, placement, "{requeueAfterSeconds: 1, selected: [c1]}");
    f->now_ms += 1;
    hub_decides(f, placement, "{requeueAfterSeconds: null, selected: []}");
}

static void texts_are_escaped(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_decides(f, "{prioritizerPolicy: {mode: \"a\\\"b\\\\\\n\"}}",
                "{error: \"incorrect prioritizer policy mode: a\\\"b\\\\\\n\"}");
}

static void a_limit(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(zone=a) c2(zone=b) c3(zone=c) c4(!k=v:NoSelect)");
    hub_decided_by(f, "ns1/placement: d1 d2 d3");
    const char *const placement =
        "{spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Label}]}, "
        "decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2}}}";
    f->with_rounds = true;
    f->limit = 2;
    const struct str answer = hub_answer(f, placement);
    hub_expect(
        f, answer,
        "{available: [c1, c2], filter: {$is: {c1: {verdict: Pass, reason: ''}, c2: {verdict: Pass, "
        "reason: ''}}}, prioritizers: [{scores: {$is: {c1: 100, c2: 100}}}, {scores: {$is: {c1: 0, "
        "c2: 0}}}], sum: {$is: {c1: 100, c2: 100}}, domains: [{path: [a]}, {path: [b]}], rounds: "
        "[{raw: {$is: {c1: 0, c2: 0}}}, {raw: {$is: {c2: 63, c3: 63}}}], current: [d1, d2], "
        "selected: [c1, c2], moves: {add: [c1, c2], remove: [d1, d2]}, groups: [{clusters: [c1, "
        "c2]}, {clusters: [c3]}], omitted: {$is: {available: 2, filter: 2, sum: 1, domains: 1, "
        "rounds: 1, current: 1, selected: 1, add: 1, remove: 1}}}");
    f->limit = 4;
    hub_decides(f, placement, "{available: [c1, c2, c3, c4], omitted: {$absent: 1}}");
    f->limit = 3;
    hub_decides(f, placement, "{omitted: {$is: {available: 1, filter: 1}}}");
    f->limit = 1;
    hub_decides(f, placement,
                "{groups: [{clusters: [c1]}], prioritizers: [{name: Balance}], sum: {$is: {c1: "
                "100}}, omitted: {groups: 1, prioritizers: 1, sum: 2}}");
}

/* ---- filter ---- */

#define CLOUD(value)                                                                               \
    "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {cloud: " value "}}}}]" \
    "}"

static void filter(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cloud=a) c2(cloud=b) c3(cloud=a,!k=v:NoSelect) c0(set=)");
    assert_str(
        hub_filter_answer(f, CLOUD("a")),
        "{\"clusterNames\":[\"c1\"],\"failedClusters\":{\"c2\":\"label cloud in (a) does not "
        "hold\",\"c3\":\"taint k=v:NoSelect is not tolerated\"},\"error\":\"\"}");
    assert_str(
        hub_filter_answer(f, CLOUD("'-'")),
        "{\"clusterNames\":[],\"failedClusters\":{},\"error\":\"Predicate: values[0][cloud]: "
        "Invalid value: \\\"-\\\": a valid label must be an empty string or consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')\"}");
    /* which clusters pass does not depend on prioritizers */
    hub_expect(f, hub_filter_answer(f, "{prioritizerPolicy: {mode: Wrong}}"),
               "{clusterNames: [c1, c2], error: ''}");
    hub_expect(f,
               hub_filter_answer(f, "{spreadPolicy: {spreadConstraints: [{topologyKey: zone, "
                                    "topologyKeyType: Label, whenUnsatisfiable: "
                                    "DoNotSchedule}]}}"),
               "{clusterNames: [], failedClusters: {c1: 'no label zone, which a DoNotSchedule term "
               "needs'}}");
}

static void filter_of_names(void **state) {
    static const struct str names[] = {{"c3", 2}, {"c9", 2}, {"c1", 2}, {"c0", 2}, {"c9", 2},
                                       {"", 0},   {"c5", 2}, {"c1", 2}, {"c7", 2}};
    struct hub *f = *state;
    hub_clusters(f, "c1 c2 c3(!k=v:NoSelect) c0(set=) c5(terminating)");
    hub_decided_by(f, "ns1/placement: c7"); /* a name without a cluster */
    f->names = names;
    f->name_count = sizeof names / sizeof names[0];
    assert_str(
        hub_filter_answer(f, "{}"),
        "{\"clusterNames\":[\"c1\"],\"failedClusters\":{\"\":\"there is no ManagedCluster of "
        "this name\",\"c0\":\"the ManagedCluster is in none of the sets that the Placement may "
        "use\",\"c3\":\"taint k=v:NoSelect is not tolerated\",\"c5\":\"the ManagedCluster is "
        "being deleted\",\"c7\":\"there is no ManagedCluster of this name\",\"c9\":\"there is "
        "no ManagedCluster of this name\"},\"error\":\"\"}");
    hub_decides(f, "{}", "{available: [c1, c3], selected: [c1], filter: {c3: {}}}");
    f->name_count = 0; /* none at all is not the same as no list */
    assert_str(hub_filter_answer(f, "{}"),
               "{\"clusterNames\":[],\"failedClusters\":{},\"error\":\"\"}");
}

/* ---- prioritize ---- */

static void prioritize(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c10 c2(cpu=1/2) c3(!k=v:NoSelect) c1");
    hub_decided_by(f, "ns1/placement: c2");
    assert_str(
        hub_scores_answer(f, "{}"),
        "{\"scores\":[{\"cluster\":\"c2\",\"score\":200,\"by\":{\"Balance\":100,\"Steady\":100}"
        "},{\"cluster\":\"c1\",\"score\":100,\"by\":{\"Balance\":100,\"Steady\":0}},"
        "{\"cluster\":\"c10\",\"score\":100,\"by\":{\"Balance\":100,\"Steady\":0}}],"
        "\"error\":\"\"}");
    /* before weights; one entry of each name; no entry where there is no score */
    assert_str(
        hub_scores_answer(
            f,
            "{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: "
            "[{scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: s}}, weight: 2}, "
            "{scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: s}}, weight: 3}, "
            "{scoreCoordinate: {builtIn: ResourceAllocatableCPU}, weight: -4}]}}"),
        "{\"scores\":[{\"cluster\":\"c1\",\"score\":0,\"by\":{\"AddOn/r/"
        "s\":0}},{\"cluster\":\"c10\","
        "\"score\":0,\"by\":{\"AddOn/r/s\":0}},{\"cluster\":\"c2\",\"score\":-400,\"by\":{"
        "\"AddOn/r/s\":0,\"ResourceAllocatableCPU\":100}}],\"error\":\"\"}");
    assert_str(hub_scores_answer(f, "{prioritizerPolicy: {mode: Wrong}}"),
               "{\"scores\":[],\"error\":\"incorrect prioritizer policy mode: Wrong\"}");
    hub_expect(f, hub_scores_answer(f, CLOUD("b")), "{scores: [], error: ''}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HUB_TEST(members_in_their_order),
        HUB_TEST(the_whole_object),
        HUB_TEST(why_members_stay),
        HUB_TEST(a_part_of_a_second_is_waited_for),
        HUB_TEST(texts_are_escaped),
        HUB_TEST(a_limit),
        HUB_TEST(filter),
        HUB_TEST(filter_of_names),
        HUB_TEST(prioritize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
