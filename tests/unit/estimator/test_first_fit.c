/*
 * First fit, against a transcription of upstream's walk (karmada pkg/estimator
 * scheduling_simulator_components.go, v1.18.1): every set anew from the first node, every node
 * made, nothing placed at once. Both the number of sets and what is left on every node must be the
 * same.
 */
#include "estimator/first_fit.h"

#include "unit/unit.h"

#include <errno.h>

enum { NODES_MAX = 40, COMPONENTS_MAX = 4, COLUMNS_MAX = 4, GROUPS_MAX = 6 };

static struct arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 64u << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

/* ---- upstream's walk ---- */

struct walk {
    int64_t room[NODES_MAX][COLUMNS_MAX];
    uint32_t group_of[NODES_MAX];
    uint32_t nodes;
};

static int64_t fit_of(const struct walk *w, uint32_t node, const struct placed_component *c) {
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < c->need_count; i++) {
        const int64_t fits = w->room[node][c->needs[i].column] / c->needs[i].amount;
        least = fits < least ? fits : least;
    }
    return least;
}

static bool walk_component(struct walk *w, const struct placed_component *c) {
    int64_t remaining = c->replicas;
    for (uint32_t n = 0; n < w->nodes; n++) {
        if (c->matches != NULL && c->matches[w->group_of[n]] == 0)
            continue;
        int64_t fits = fit_of(w, n, c);
        if (fits == 0)
            continue;
        if (remaining < fits)
            fits = remaining;
        for (uint32_t i = 0; i < c->need_count; i++)
            w->room[n][c->needs[i].column] -= c->needs[i].amount * fits;
        remaining -= fits;
        if (remaining == 0)
            return true;
    }
    return remaining == 0;
}

static int64_t walk_sets(struct walk *w, const struct placed_component *c, uint32_t count,
                         int64_t bound) {
    for (int64_t sets = 0; sets < bound; sets++)
        for (uint32_t i = 0; i < count; i++)
            if (!walk_component(w, &c[i]))
                return sets;
    return bound;
}

/* ---- a case ---- */

struct random_case {
    struct first_fit fit;
    struct node_group groups[GROUPS_MAX];
    int64_t fresh[GROUPS_MAX][COLUMNS_MAX];
    struct placed_component components[COMPONENTS_MAX];
    struct column_need needs[COMPONENTS_MAX][COLUMNS_MAX];
    uint8_t matches[COMPONENTS_MAX][GROUPS_MAX];
    uint32_t component_count;
    struct walk walk;
};

static void make_groups(struct random_case *c, uint64_t *seed, bool large) {
    const uint32_t width = 1 + unit_below(seed, COLUMNS_MAX);
    c->fit = (struct first_fit){.width = width, .groups = c->groups, .arena = &arena};
    c->fit.group_count = unit_below(seed, GROUPS_MAX + 1);
    for (uint32_t g = 0; g < c->fit.group_count; g++) {
        const uint32_t count = unit_below(seed, 5);
        for (uint32_t i = 0; i < width; i++)
            c->fresh[g][i] = unit_below(seed, large ? 200 : 12);
        c->groups[g] = (struct node_group){.count = count, .fresh = c->fresh[g]};
        for (uint32_t n = 0; n < count; n++) {
            memcpy(c->walk.room[c->walk.nodes], c->fresh[g], sizeof c->fresh[g]);
            c->walk.group_of[c->walk.nodes++] = g;
        }
        if (count == 1 && unit_below(seed, 2) == 0) { /* made before, as real nodes are */
            c->groups[g].rows = arena_array(&arena, width, sizeof(int64_t));
            memcpy(c->groups[g].rows, c->fresh[g], width * sizeof(int64_t));
            c->groups[g].touched = c->groups[g].cap = 1;
        }
    }
}

static void make_components(struct random_case *c, uint64_t *seed, bool large) {
    c->component_count = unit_below(seed, COMPONENTS_MAX + 1);
    for (uint32_t i = 0; i < c->component_count; i++) {
        struct placed_component *component = &c->components[i];
        *component = (struct placed_component){.needs = c->needs[i]};
        component->replicas = unit_below(seed, large ? 60 : 6);
        c->needs[i][component->need_count++] = (struct column_need){0, 1};
        for (uint32_t column = 1; column < c->fit.width; column++)
            if (unit_below(seed, 3) != 0)
                c->needs[i][component->need_count++] =
                    (struct column_need){column, 1 + unit_below(seed, large ? 40 : 5)};
        if (unit_below(seed, 3) == 0)
            component->matches = c->matches[i];
        for (uint32_t g = 0; g < GROUPS_MAX; g++)
            c->matches[i][g] = unit_below(seed, 3) != 0;
    }
}

static void rooms_are_equal(const struct random_case *c) {
    uint32_t node = 0;
    for (uint32_t g = 0; g < c->fit.group_count; g++)
        for (uint32_t n = 0; n < c->groups[g].count; n++, node++) {
            const int64_t *room = n < c->groups[g].touched
                                      ? c->groups[g].rows + (size_t)n * c->fit.width
                                      : c->fresh[g];
            assert_memory_equal(room, c->walk.room[node], c->fit.width * sizeof *room);
        }
}

static void one_case(uint64_t *seed) {
    struct random_case *c = calloc(1, sizeof *c);
    const bool large = unit_below(seed, 2) == 0;
    const uint32_t bounds[] = {0, 1, 2, 1 + unit_below(seed, 30), 100000};
    const int64_t bound = bounds[unit_below(seed, 5)];
    int64_t sets, count, wanted = 0;
    assert_non_null(c);
    make_groups(c, seed, large);
    make_components(c, seed, large);
    assert_int_equal(first_fit_place(&c->fit, c->components, c->component_count, bound, &sets), 0);
    assert_int_equal(sets, walk_sets(&c->walk, c->components, c->component_count, bound));
    rooms_are_equal(c);
    if (c->component_count > 0) {
        for (uint32_t n = 0; n < c->walk.nodes; n++)
            if (c->components[0].matches == NULL ||
                c->components[0].matches[c->walk.group_of[n]] != 0)
                wanted += fit_of(&c->walk, n, &c->components[0]);
        assert_int_equal(first_fit_count(&c->fit, &c->components[0], &count), 0);
        assert_int_equal(count, wanted);
    }
    free(c);
    arena_reset(&arena);
}

static void as_upstream_walks(void **state) {
    uint64_t seed = unit_seed();
    (void)state;
    for (int i = 0; i < 20000; i++)
        one_case(&seed);
}

/* ---- limits ---- */

/* As many nodes as a number holds, and as many replicas: the work is that of what is placed. */
static void as_many_as_a_number_holds(void **state) {
    const int64_t fresh[] = {110, 8000};
    struct node_group group = {.count = UINT64_MAX, .fresh = fresh};
    struct first_fit fit = {.width = 2, .groups = &group, .group_count = 1, .arena = &arena};
    const struct column_need needs[] = {{0, 1}, {1, 1000}};
    struct placed_component component = {.replicas = 3, .needs = needs, .need_count = 2};
    int64_t sets, count;
    (void)state;
    arena.steps = (struct steps){.max = 10000};
    assert_int_equal(first_fit_place(&fit, &component, 1, 16, &sets), 0);
    assert_int_equal(sets, 16); /* eight a node: 3 + 3 + 2, 1 + 3 + 3 + 1, ... */
    assert_int_equal(group.touched, 6);
    assert_int_equal(first_fit_count(&fit, &component, &count), 0);
    assert_int_equal(count, ESTIMATE_MAX);
    /* one that needs too many of them is given up when the steps are spent */
    component = (struct placed_component){.replicas = INT32_MAX, .needs = needs, .need_count = 2};
    assert_int_equal(first_fit_place(&fit, &component, 1, 1, &sets), -E2BIG);
}

/* One node with room for all: placed at once, however many sets there are. */
static void alike_sets_are_placed_at_once(void **state) {
    const int64_t fresh[] = {INT64_MAX, INT64_MAX};
    struct node_group group = {.count = 2, .fresh = fresh};
    struct first_fit fit = {.width = 2, .groups = &group, .group_count = 1, .arena = &arena};
    const struct column_need one[] = {{0, 1}}, two[] = {{0, 1}, {1, 2}};
    struct placed_component components[] = {{.replicas = 1, .needs = one, .need_count = 1},
                                            {.replicas = 0, .needs = one, .need_count = 1},
                                            {.replicas = 2, .needs = two, .need_count = 2}};
    int64_t sets;
    (void)state;
    arena.steps = (struct steps){.max = 1000};
    assert_int_equal(first_fit_place(&fit, components, 3, INT32_MAX, &sets), 0);
    assert_int_equal(sets, INT32_MAX);
    assert_int_equal(group.touched, 1);
    assert_true(group.rows[0] == INT64_MAX - (int64_t)INT32_MAX * 3);
    assert_true(group.rows[1] == INT64_MAX - (int64_t)INT32_MAX * 4);
    /* components without a replica are placed as often as they may be */
    assert_int_equal(first_fit_place(&fit, components + 1, 1, INT32_MAX, &sets), 0);
    assert_int_equal(sets, INT32_MAX);
}

/* A request for pods is no other one than that of its pod, and has a column to look into all the
 * same; a resource that two components ask for has one. */
static void every_request_has_a_column(void **state) {
    const struct demand first[] = {{.name = STR("cpu"), .amount = 2, .scheduled = true},
                                   {.name = STR("pods"), .amount = 3, .scheduled = true}},
                        second[] = {{.name = STR("cpu"), .amount = 1, .scheduled = true},
                                    {.name = STR("disk"), .amount = 1, .scheduled = false},
                                    {.name = STR("memory"), .amount = 1, .scheduled = true}};
    const struct component_demand items[] = {{.demands = {.items = first, .count = 2}},
                                             {.demands = {.items = second, .count = 3}}};
    const struct estimator_question q = {.set = {.items = items, .count = 2}};
    struct first_fit fit = {.arena = &arena};
    struct placed_component component;
    (void)state;
    assert_int_equal(first_fit_columns(&fit, &q, false), 0);
    assert_int_equal(fit.width, 4); /* a pod; cpu, memory, pods */
    assert_int_equal(first_fit_column(&fit, STR("cpu")), 1);
    assert_int_equal(first_fit_column(&fit, STR("memory")), 2);
    assert_int_equal(first_fit_column(&fit, STR("pods")), 3);
    assert_true(first_fit_column(&fit, STR("disk")) == UINT32_MAX);
    assert_int_equal(first_fit_needs(&fit, &items[0].demands, &component), 0);
    assert_int_equal(component.need_count, 3);
    for (uint32_t i = 0; i < component.need_count; i++)
        assert_true(component.needs[i].column < fit.width);
    assert_int_equal(first_fit_needs(&fit, &items[1].demands, &component), 0);
    assert_int_equal(component.need_count, 3);
    const int64_t room[] = {10, 9, 4, 5};
    assert_int_equal(first_fit_divide(room, &component), 4);
    /* pods alone */
    const struct estimator_question pods = {.demands = {.items = first + 1, .count = 1}};
    assert_int_equal(first_fit_columns(&fit, &pods, true), 0);
    assert_int_equal(fit.width, 2);
    assert_int_equal(first_fit_column(&fit, STR("pods")), 1);
    assert_int_equal(first_fit_columns(&fit, &pods, false), 0);
    assert_int_equal(fit.width, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_upstream_walks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_many_as_a_number_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_request_has_a_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(alike_sets_are_placed_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("First fit", tests, NULL, NULL);
}
