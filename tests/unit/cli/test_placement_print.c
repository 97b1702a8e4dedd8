/* What is decided of a Placement, as a table for people. */
#include "cli/placement_print.h"

#include "unit/hub.h"

#include <stdio.h>

static const char *print(struct hub *f, struct str json) {
    struct strbuf out = {0};
    struct err err;
    if (answer_print(json, placement_print, NULL, &out, &err) != 0)
        fail_msg("%s", err.text);
    const char *text = arena_cstr(&f->arena, strbuf_str(&out));
    strbuf_done(&out);
    return text;
}

static void a_spread_placement(void **state) {
    static const struct placement_term terms[] = {
        {.key = {"region", 6}, .max_skew = 1, .min_domains = 2, .hard = true},
        {.key = {"zone", 4}, .is_claim = true, .max_skew = 2}};
    struct hub *f = *state;
    f->policy = (struct ocm_policy_terms){terms, 2, STR("fleet"), {0}};
    hub_clusters(f, "c1(region=us-east,claim:zone=1a) c2(region=us-east,claim:zone=1b) "
                    "c3(region=us-west,claim:zone=1a) c4(region=us-east,!k=v:NoSelect@-5) c5");
    hub_decided_by(f, "ns1/placement: c2 c4 gone");
    assert_string_equal(
        print(f, hub_answer(f, "{numberOfClusters: 4, tolerations: [{key: k, operator: Exists, "
                               "tolerationSeconds: 4}], prioritizerPolicy: {configurations: "
                               "[{scoreCoordinate: {builtIn: Balance}, weight: 3}]}}")),
        "ns1/placement: 3 selected, 1 unscheduled; 3 of 5 available clusters pass\n"
        "spread by policy fleet\n"
        "\n"
        "CLUSTER  DECISION  SUM  WHY\n"
        "c2       stays     400  Balance 100 x3, Steady 100\n"
        "c3       added     300  Balance 100 x3, Steady 0\n"
        "c1       added     300  Balance 100 x3, Steady 0\n"
        "c4       removed     -  taint k=v:NoSelect is not tolerated: tolerationSeconds are over\n"
        "gone     removed     -  not available: gone, or in no set that is bound\n"
        "c5       -           -  no label region, which a DoNotSchedule term needs\n"
        "\n"
        "DOMAIN   SELECTED  FEASIBLE\n"
        "us-east         2         2  ##############################\n"
        "  1a            1         1  ###############\n"
        "  1b            1         1  ###############\n"
        "us-west         1         1  ###############\n"
        "  1a            1         1  ###############\n"
        "\n"
        "TERM    TYPE   MAX SKEW  MIN DOMAINS  WHEN UNSATISFIABLE  SKEW\n"
        "region  Label         1            2  DoNotSchedule          1\n"
        "zone    Claim         2            0  ScheduleAnyway         0\n"
        "\n"
        "GROUP  NAME  DECISIONS             CLUSTERS\n"
        "    0        placement-decision-1  c1, c2, c3\n"
        "\n"
        "CONDITION               STATUS  REASON                    MESSAGE\n"
        "PlacementMisconfigured  False   Succeedconfigured         Placement configurations check "
        "pass\n"
        "PlacementSatisfied      False   NotAllDecisionsScheduled  1 cluster decisions "
        "unscheduled\n"
        "SpreadSatisfied         False   Unscheduled               1 of 4 clusters are not "
        "scheduled: DoNotSchedule terms allow none of the 1 that are left; 1 of 4 clusters lack "
        "the "
        "key of a DoNotSchedule term\n");
}

static void members_that_stay(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "a1(zone=a) a2(zone=a) a3(zone=a) b1(zone=b) c1");
    hub_decided_by(f, "ns1/placement: a1 a2 a3 c1");
    const char *const text = print(
        f, hub_answer(f, "{spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: "
                         "Label, whenUnsatisfiable: DoNotSchedule}]}, prioritizerPolicy: {mode: "
                         "Exact, configurations: [{scoreCoordinate: {builtIn: Steady}}]}}"));
    assert_contains(text, "CLUSTER  DECISION  SUM  WHY\n"
                          "a1       stays     100  Steady 100\n"
                          "b1       added       0  Steady 0\n"
                          "a2       stays     100  Steady 100\n"
                          "a3       kept      100  zone=a is above maxSkew 1: a member stays\n"
                          "c1       kept        -  no label zone: a member stays\n");
}

static void a_plain_placement(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1(cloud=Amazon) c2(!k=v:NoSelect@-5)");
    hub_decided_by(f, "ns1/placement: c2");
    hub_scored(f, "c1/r: s=1 until=-1");
    assert_string_equal(
        print(f,
              hub_answer(
                  f, "{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: "
                     "[x]}}}], tolerations: [{operator: Exists, tolerationSeconds: 60}], "
                     "prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {type: "
                     "AddOn, addOn: {resourceName: r, scoreName: s}}}]}}")),
        "ns1/placement: 2 selected, 0 unscheduled; 2 of 2 available clusters pass\n"
        "a predicate has CEL, which is taken as matching\n"
        "a toleration ends in 55 s\n"
        "\n"
        "CLUSTER  DECISION  SUM  WHY\n"
        "c1       added       0  AddOn/r/s 0\n"
        "c2       stays       0  AddOn/r/s 0\n"
        "\n"
        "GROUP  NAME  DECISIONS             CLUSTERS\n"
        "    0        placement-decision-1  c1, c2\n"
        "\n"
        "CONDITION               STATUS  REASON                 MESSAGE\n"
        "PlacementMisconfigured  False   Succeedconfigured      Placement configurations check "
        "pass\n"
        "PlacementSatisfied      True    AllDecisionsScheduled  All cluster decisions scheduled\n"
        "\n"
        "warning: AddOnPlacementScores c1/r expired\n");
}

static void an_error_stands_in_front(void **state) {
    struct hub *f = *state;
    hub_clusters(f, "c1");
    hub_decided_by(f, "ns1/placement: c1");
    assert_string_equal(
        print(f, hub_answer(f, "{prioritizerPolicy: {mode: Wrong}}")),
        "ns1/placement: 0 selected, 0 unscheduled; 1 of 1 available clusters pass\n"
        "error: incorrect prioritizer policy mode: Wrong\n"
        "\n"
        "CLUSTER  DECISION  SUM  WHY\n"
        "c1       removed     -\n"
        "\n"
        "GROUP  NAME  DECISIONS             CLUSTERS\n"
        "    0        placement-decision-1\n"
        "\n"
        "CONDITION               STATUS  REASON                   MESSAGE\n"
        "PlacementMisconfigured  True    Misconfigured            :incorrect prioritizer policy "
        "mode: "
        "Wrong\n"
        "PlacementSatisfied      False   NoManagedClusterMatched  No ManagedCluster matches any of "
        "the cluster predicate\n");
}

static void an_empty_fleet(void **state) {
    struct hub *f = *state;
    assert_contains(print(f, hub_answer(f, "{}")),
                    "ns1/placement: 0 selected, 0 unscheduled; 0 of 0 available clusters pass\n\n"
                    "GROUP");
}

/* Many clusters: the selected ones are shown first. */
static void many_clusters(void **state) {
    struct hub *f = *state;
    for (unsigned i = 0; i < 130; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, i == 129 ? "z(zone=a)" : "c%03u(zone=z%03u)", i, i);
        hub_clusters(f, name);
    }
    hub_scored(f, "z/r: s=100");
    const char *text = print(
        f, hub_answer(f, "{numberOfClusters: 20, spreadPolicy: {spreadConstraints: [{topologyKey: "
                         "zone, topologyKeyType: Label}]}, prioritizerPolicy: {configurations: "
                         "[{scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: "
                         "s}}}]}}"));
    assert_contains(text, "SUM  WHY\n"
                          "z        added     200  AddOn/r/s 100, Balance 100, Steady 0\n"
                          "c000     added");
    assert_contains(text, "and 30 more clusters; -o json has all\n");
    assert_contains(text, "and 30 more domains; -o json has all\n");
    assert_contains(text,
                    "c000, c001, c002, c003, c004, c005, c006, c007, c008, c009 and 10 more\n");
}

static void what_is_no_answer(void **state) {
    static const char *const texts[] = {"",
                                        "[]",
                                        "{\"filter\":[]}",
                                        "{\"sum\":{\"c1\":\"x\"}}",
                                        "{\"planner\":{\"leads\":1}}",
                                        "{\"historyForgotten\":-1}",
                                        "{\"unscheduled\":-1}",
                                        "{\"requeueAfterSeconds\":-3}",
                                        "{\"planner\":{\"movesWaiting\":-2}}",
                                        "{\"celUnknown\":\"no\"}",
                                        "{\"selected\":{\"c1\":1}}",
                                        "{\"sum\":{\"c1\":1.5}}",
                                        "{\"keptReasons\":3}",
                                        "{\"prioritizers\":3}",
                                        "{\"history\":[{\"omitted\":{\"add\":-1}}]}",
                                        "{\"domains\":[{\"path\":[\"a\"],\"feasible\":-2}]}",
                                        "{\"domains\":[{\"selected\":1},{\"selected\":-3}]}",
                                        "{\"domains\":{}}",
                                        "{\"terms\":3}",
                                        "{\"warnings\":[1]}",
                                        "{\"conditions\":[1]}",
                                        "{\"history\":3}",
                                        "{\"history\":[1]}",
                                        "{\"planner\":3}",
                                        "{\"planner\":{\"mode\":1}}",
                                        "{\"historyForgotten\":\"1\"}",
                                        "{\"unscheduled\":\"1\"}"};
    struct hub *f = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct strbuf out = {0};
        struct err err;
        print_message("# %s\n", texts[i]);
        assert_int_not_equal(answer_print(str_of(texts[i]), placement_print, NULL, &out, &err), 0);
        assert_true(err.text[0] != '\0');
        strbuf_done(&out);
    }
    assert_contains(print(f, STR("{\"placement\":\"a/b\",\"more\":[{}]}")), "a/b: 0 selected");
    /* what a server writes cannot move the cursor */
    assert_contains(print(f, STR("{\"placement\":\"a\\u001bb\"}")), "a?b: 0 selected");
}

/* The line of the planner, by what its process said. */
static void the_planner(void **state) {
    static const struct {
        const char *planner, *line;
    } rows[] = {
        {"null", "planner: none here; this replica decides no Placements\n"},
        {"{\"leads\":false}", "planner: this replica does not lead, so it has no history\n"},
        {"{\"leads\":true}", "planner: it has not looked at the Placement yet\n"},
        {"{\"leads\":true,\"mode\":\"OCM\",\"result\":null,\"kept\":null,\"movesWaiting\":0,"
         "\"waitsFor\":null,\"waitSeconds\":null}",
         "planner: OCM\n"},
        {"{\"leads\":true,\"mode\":\"Owner\",\"result\":\"Decided\",\"kept\":null,"
         "\"movesWaiting\":3,\"waitsFor\":\"settleAfter\",\"waitSeconds\":7}",
         "planner: Owner, Decided; 3 moves wait for settleAfter, 7 s\n"},
        {"{\"leads\":true,\"mode\":\"Owner\",\"result\":\"Skewed\",\"kept\":null,"
         "\"movesWaiting\":1,\"waitsFor\":\"movesPerMinute\",\"waitSeconds\":null}",
         "planner: Owner, Skewed; 1 move waits for movesPerMinute\n"},
        {"{\"leads\":true,\"mode\":\"Owner\",\"result\":\"Decided\",\"movesWaiting\":0,"
         "\"waitsFor\":\"write\"}",
         "planner: Owner, Decided; it waits for write\n"},
        {"{\"leads\":true,\"mode\":\"Owner\",\"result\":\"Kept\",\"kept\":"
         "\"CELNotEvaluated\",\"more\":[{}]}",
         "planner: Owner, Kept (CELNotEvaluated)\n"},
        {"{\"leads\":true,\"mode\":\"a\\u001bb\"}", "planner: a?b\n"},
    };
    struct hub *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "{\"placement\":\"a/b\",\"planner\":%s}",
                       rows[i].planner);
        assert_contains(print(f, str_of(text)), rows[i].line);
    }
    assert_null(strstr(print(f, STR("{\"placement\":\"a/b\"}")), "planner"));
}

static void the_history(void **state) {
    struct hub *f = *state;
    assert_contains(
        print(f, STR("{\"placement\":\"a/b\",\"history\":["
                     "{\"time\":\"T1\",\"reason\":\"size\",\"result\":\"Decided\",\"add\":["
                     "\"c1\",\"c2\"],\"remove\":[],\"omitted\":{\"add\":7}},"
                     "{\"time\":\"T2\",\"reason\":null,\"result\":\"Kept\",\"add\":[],"
                     "\"remove\":[]}],\"historyForgotten\":81}")),
        "\n"
        "TIME  REASON  RESULT   ADDED   REMOVED\n"
        "T1    size    Decided  c1, c2   (not kept: 7 added, 0 removed)\n"
        "T2    -       Kept\n"
        "and 81 older ones, which are not kept\n");
    assert_null(strstr(print(f, STR("{\"placement\":\"a/b\",\"history\":[]}")), "TIME"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HUB_TEST(a_spread_placement), HUB_TEST(members_that_stay),
        HUB_TEST(a_plain_placement),  HUB_TEST(an_error_stands_in_front),
        HUB_TEST(an_empty_fleet),     HUB_TEST(many_clusters),
        HUB_TEST(what_is_no_answer),  HUB_TEST(the_planner),
        HUB_TEST(the_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
