/*
 * What a decision costs: every list that a user writes takes steps as it grows, about twice as many
 * for twice the list; a budget of fewer ends it, and so does an arena that is too small.
 */
#include "unit/hub.h"

#include <errno.h>
#include <stdio.h>

enum { CLUSTERS = 60, ITEMS = 150 };

static int setup(void **state) {
    (void)hub_setup(state);
    struct hub *f = *state;
    for (unsigned i = 0; i < CLUSTERS; i++) {
        char text[96];
        (void)snprintf(text, sizeof text, "c%02u(zone=z%u,id=i%u,!k%u=v:NoSelect)", i, i % 7, i,
                       i % 3);
        hub_clusters(f, text);
        (void)snprintf(text, sizeof text, "c%02u/r: s=%u until=-5", i, i);
        hub_scored(f, text);
    }
    hub_decided_by(f, "ns1/placement: c01 c02 c03 c01 c02 c03");
    return 0;
}

/* A Placement with a list of `count` items, each made of a pattern with one %u. */
struct list {
    const char *before, *item, *after;
};

#define TOLERATE "tolerations: [{operator: Exists}]"
#define LABELS(requirement)                                                                        \
    "{requiredClusterSelector: {labelSelector: {matchExpressions: [" requirement "]}}}"

static const struct list lists[] = {
    {"{" TOLERATE ", clusterSets: [set1, ", "s%u", "]}"},
    {"{" TOLERATE ", predicates: [", LABELS("{key: key%u, operator: Exists}"), "]}"},
    {"{" TOLERATE ", predicates: [", LABELS("{key: zone, operator: In, values: [v%u]}"), "]}"},
    {"{" TOLERATE ", predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: [",
     "{key: key%u, operator: DoesNotExist}", "]}}}]}"},
    {"{" TOLERATE ", predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: "
     "[{key: a, operator: NotIn, values: [",
     "v%u", "]}]}}}]}"},
    {"{tolerations: [", "{key: key%u, operator: Exists, tolerationSeconds: 10}", "]}"},
    {"{" TOLERATE ", prioritizerPolicy: {configurations: [",
     "{scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: s%u}}}", "]}}"},
    {"{" TOLERATE ", prioritizerPolicy: {configurations: [",
     "{scoreCoordinate: {builtIn: Other%u}, weight: 0}", "]}}"},
    {"{" TOLERATE ", decisionStrategy: {groupStrategy: {decisionGroups: [",
     "{groupName: group%u, groupClusterSelector: {labelSelector: {matchLabels: {zone: z1}}}}",
     "]}}}"},
    {"{" TOLERATE ", decisionStrategy: {groupStrategy: {decisionGroups: [",
     "{groupName: group%u, groupClusterSelector: {labelSelector: {matchLabels: {zone: none}}}}",
     "]}}}"},
    {"{" TOLERATE ", decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: all, "
     "groupClusterSelector: {}}, ",
     "{groupName: group%u, groupClusterSelector: {}}", "]}}}"},
};

static struct str list_text(struct hub *f, const struct list *list, unsigned count) {
    struct strbuf text = {0};
    strbuf_append_str(&text, str_of(list->before));
    for (unsigned i = 0; i < count; i++) {
        const char *mark = strstr(list->item, "%u");
        strbuf_append_str(&text, i > 0 ? STR(", ") : STR(""));
        strbuf_append(&text, list->item, (size_t)(mark - list->item));
        strbuf_appendf(&text, "%u%s", i, mark + 2);
    }
    strbuf_append_str(&text, str_of(list->after));
    strbuf_append_char(&text, '\0');
    const struct str ret = arena_str(&f->arena, strbuf_str(&text));
    strbuf_done(&text);
    return ret;
}

/* Decides with so many steps and bytes; returns the code, and the steps that were used. */
static int decide(struct hub *f, const struct ocm_question *q, uint64_t max_steps, size_t max_bytes,
                  uint64_t *ret_used) {
    CLEANUP(arena_done) struct arena arena;
    struct fleet_view view;
    struct ocm_decision d;
    struct err err = {0};
    arena_init(&arena, max_bytes);
    arena.steps.max = max_steps;
    fleet_view_open(f->fleet, &view);
    const int r = ocm_decide(&view, q, &arena, &d, &err);
    fleet_view_close(&view);
    *ret_used = arena.steps.used;
    if (r == -E2BIG)
        assert_string_equal(err.text,
                            "deciding placement 'ns1/placement' takes more steps than it may");
    if (r == -ENOMEM)
        assert_string_equal(err.text, "no memory for deciding placement 'ns1/placement'");
    return r;
}

static uint64_t steps_of(struct hub *f, const struct list *list, unsigned count) {
    const struct ocm_question q = {.placement = hub_placement(f, list_text(f, list, count).p),
                                   .now_ms = f->now_ms};
    uint64_t used, again = 0;
    do { /* each leaves some columns to the next */
        used = again;
        assert_int_equal(decide(f, &q, 0, 1 << 26, &again), 0);
    } while (used != again);
    assert_int_equal(decide(f, &q, used, 1 << 26, &again), 0);
    assert_int_equal(decide(f, &q, used - 1, 1 << 26, &again), -E2BIG);
    assert_int_equal(decide(f, &q, used / 2, 1 << 26, &again), -E2BIG);
    return used;
}

static void steps_grow_with_lists(void **state) {
    struct hub *f = *state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const uint64_t one = steps_of(f, &lists[i], ITEMS), two = steps_of(f, &lists[i], 2 * ITEMS),
                       three = steps_of(f, &lists[i], 3 * ITEMS);
        print_message("# %s: %llu %llu %llu\n", lists[i].item, (unsigned long long)one,
                      (unsigned long long)two, (unsigned long long)three);
        assert_true(two >= one + ITEMS / 2);
        assert_true((three - two) * 10 <= (two - one) * 12);
    }
}

static void names_take_steps(void **state) {
    struct hub *f = *state;
    struct str names[2 * ITEMS];
    char texts[2 * ITEMS][8];
    uint64_t used[3], again;
    for (unsigned i = 0; i < 2 * ITEMS; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "c%u", i);
        names[i] = str_of(texts[i]);
    }
    struct ocm_question q = {.placement = hub_placement(f, "{" TOLERATE "}"),
                             .now_ms = f->now_ms,
                             .has_names = true,
                             .names = names};
    for (unsigned i = 0; i < 3; i++) {
        q.name_count = i * ITEMS;
        assert_int_equal(decide(f, &q, 0, 1 << 26, &used[i]), 0);
        assert_int_equal(decide(f, &q, 0, 1 << 26, &used[i]), 0);
        assert_int_equal(decide(f, &q, used[i] - 1, 1 << 26, &again), -E2BIG);
    }
    assert_true(used[1] > used[0] + ITEMS);
    assert_true(used[2] - used[0] <= (used[1] - used[0]) * 24 / 10); /* they are sorted */
}

/* Decisions of others in the spread group, and of its own. */
static void decisions_take_steps(void **state) {
    struct hub *f = *state;
    uint64_t used[3], again;
    const struct ocm_question q = {
        .placement = hub_placement(
            f, "{metadata: {name: placement, namespace: ns1, annotations: "
               "{placements.evenkeel.io/spread-group: ''}}, spec: {" TOLERATE ", spreadPolicy: "
               "{spreadConstraints: [{topologyKey: zone, topologyKeyType: Label}]}}}"),
        .now_ms = f->now_ms};
    hub_object(f, "{kind: Placement, metadata: {name: other, namespace: ns1}, spec: {}}");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(decide(f, &q, 0, 1 << 26, &used[i]), 0);
        assert_int_equal(decide(f, &q, 0, 1 << 26, &used[i]), 0);
        assert_int_equal(decide(f, &q, used[i] - 1, 1 << 26, &again), -E2BIG);
        for (unsigned k = 0; k < 200; k++)
            hub_decided_by(f, i == 0 ? "ns1/other: c01 c02" : "ns1/placement: c01 c02");
    }
    assert_true(used[1] >= used[0] + 600);
    assert_true(used[2] >= used[1] + 600);
}

/* Whatever it has no memory for, it says so. */
static void any_arena_may_be_too_small(void **state) {
    struct hub *f = *state;
    const struct ocm_question q = {
        .placement = hub_placement(
            f, "{metadata: {name: placement, namespace: ns1, annotations: "
               "{placements.evenkeel.io/spread-group: 'a', placements.evenkeel.io/mode: x, "
               "placements.evenkeel.io/injected: '{\"key\":\"\\\\u0041\",\"resource\":\"r\"}'}}, "
               "spec: {" TOLERATE ", numberOfClusters: 20, predicates: [" LABELS(
                   "{key: zone, operator: Exists}") "], spreadPolicy: {spreadConstraints: "
                                                    "[{topologyKey: zone, topologyKeyType: "
                                                    "Label}]}, prioritizerPolicy: {configurations: "
                                                    "[{scoreCoordinate: {type: AddOn, addOn: "
                                                    "{resourceName: r, scoreName: s}}}]}, "
                                                    "decisionStrategy: {groupStrategy: "
                                                    "{clustersPerDecisionGroup: 3, decisionGroups: "
                                                    "[{groupName: ab, groupClusterSelector: "
                                                    "{labelSelector: {matchLabels: {zone: "
                                                    "z1}}}}]}}}}"),
        .now_ms = f->now_ms,
        .with_domains = true,
        .with_rounds = true};
    uint64_t used;
    size_t bytes = 0;
    int r;
    do {
        bytes += 64;
        r = decide(f, &q, 0, bytes, &used);
        assert_true(r == 0 || r == -ENOMEM);
    } while (r != 0);
    assert_true(bytes > 10000);
    for (uint64_t steps = 1; decide(f, &q, steps, 1 << 26, &used) != 0; steps += 1 + steps / 50)
        assert_true(steps < 1000000);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, hub_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(steps_grow_with_lists),
        TEST(names_take_steps),
        TEST(decisions_take_steps),
        TEST(any_arena_may_be_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
