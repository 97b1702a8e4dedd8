/* Trees of domains: what they say of nodes, and how long they are kept. */
#include "unit/cache/probe.h"

#include "base/limits.h"
#include "cache/internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

/* The tree of region and zone, which the test cluster's nodes have. Returns what was missing. */
static uint32_t ask(struct cluster *c, struct cache_view *view, const char *first,
                    const char *second, struct topology_tree *ret) {
    struct topology_column columns[2];
    cache_view_open(c->cache, view);
    assert_int_equal(topology_column(&view->nodes, str_of(first), &columns[0]), 0);
    assert_int_equal(topology_column(&view->nodes, str_of(second), &columns[1]), 0);
    const uint32_t built = view->nodes.built;
    assert_int_equal(topology_tree(&view->nodes, columns, 2, ret), 0);
    return view->nodes.built - built;
}

static uint32_t missing(struct cluster *c, const char *first, const char *second) {
    struct cache_view view;
    struct topology_tree tree;
    const uint32_t built = ask(c, &view, first, second, &tree);
    cache_view_close(&view);
    return built;
}

static uint32_t leaf(const struct cache_view *view, const struct topology_tree *tree,
                     const char *node) {
    return tree->leaf_of[topology_find(&view->nodes, str_of(node))];
}

static void parents_come_first(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_tree tree;
    cluster_nodes(c, "a b x y");
    (void)ask(c, &view, "zone", "node", &tree);
    assert_int_equal(tree.parents[PREFIX_ROOT], PREFIX_NONE);
    for (uint32_t i = 1; i < tree.count; i++)
        assert_true(tree.parents[i] < i);
    assert_int_equal(tree.count, 1 + 2 + 4);
    assert_int_not_equal(leaf(&view, &tree, "a"), leaf(&view, &tree, "b"));
    assert_int_equal(tree.parents[leaf(&view, &tree, "a")], tree.parents[leaf(&view, &tree, "b")]);
    assert_int_equal(tree.parents[tree.parents[leaf(&view, &tree, "a")]], PREFIX_ROOT);
    cache_view_close(&view);
}

static void it_is_kept_until_a_node_changes(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    assert_int_equal(missing(c, "zone", "node"), 1);
    assert_int_equal(missing(c, "zone", "node"), 0);
    assert_int_equal(missing(c, "node", "zone"), 1); /* another order is another tree */
    assert_int_equal(missing(c, "zone", "node"), 0);
    cluster_pods(c, "a:3");
    cluster_nodes(c, "a"); /* as it was */
    assert_int_equal(missing(c, "zone", "node"), 0);
    assert_int_equal(cache_stats(c->cache).trees, 2);
    cluster_nodes(c, "a,!"); /* a taint moves it nowhere */
    assert_int_equal(missing(c, "zone", "node"), 0);
    cluster_nodes(c, "a,+zone=zone2");
    assert_int_equal(missing(c, "zone", "node"), 1);
    assert_int_equal(missing(c, "zone", "node"), 0);
    assert_int_equal(cache_stats(c->cache).trees, 1); /* the other one could never be used again */
}

static void a_new_node_is_in_it(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_tree tree;
    cluster_nodes(c, "a");
    cluster_pods(c, "ghost:1"); /* not known yet, but it has a slot */
    (void)ask(c, &view, "zone", "node", &tree);
    assert_int_equal(tree.count, 1 + 1 + 1);
    cache_view_close(&view);
    cluster_nodes(c, "b");
    (void)ask(c, &view, "zone", "node", &tree);
    assert_int_equal(tree.count, 1 + 1 + 2);
    cache_view_close(&view);
}

/* Slots of their own, before and after the arrays grow. */
static void it_outlives_growth(void **state) {
    struct cluster *c = *state;
    char name[16];
    cluster_nodes(c, "a");
    assert_int_equal(topology_cap(c->cache->nodes), 64);
    for (uint32_t i = 0; i < 100; i++) {
        struct cache_view view;
        struct topology_tree tree;
        (void)snprintf(name, sizeof name, "ghost%u:1", i); /* fits */
        cluster_pods(c, name);
        (void)ask(c, &view, "zone", "node", &tree);
        assert_int_equal(tree.parents[tree.parents[leaf(&view, &tree, "a")]], PREFIX_ROOT);
        for (uint32_t slot = 0; slot < topology_slots(view.nodes.topology); slot++)
            assert_true(topology_is_known(view.nodes.topology, slot) ||
                        tree.leaf_of[slot] == PREFIX_NONE);
        cache_view_close(&view);
    }
    assert_int_equal(topology_cap(c->cache->nodes), 128);
}

/* Lists of seven keys, each of them zone or node: `which` has a bit for each. */
static void ask_for_seven(struct cluster *c, uint32_t which) {
    enum { KEYS = 7 };
    struct cache_view view;
    struct topology_column columns[KEYS];
    struct topology_tree tree;
    cache_view_open(c->cache, &view);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(topology_column(&view.nodes,
                                         (which >> i & 1) != 0 ? STR("zone") : STR("node"),
                                         &columns[i]),
                         0);
    assert_int_equal(topology_tree(&view.nodes, columns, KEYS, &tree), 0);
    cache_view_close(&view);
}

static void few_are_kept(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    for (uint32_t i = 0; i < LIMIT_TREES + 10; i++) {
        assert_int_equal(missing(c, "zone", "node"), i == 0); /* what is used stays */
        ask_for_seven(c, i);
    }
    assert_int_equal(cache_stats(c->cache).trees, LIMIT_TREES);
}

static void what_is_not_used_is_forgotten(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    (void)missing(c, "zone", "node");
    assert_int_equal(cache_stats(c->cache).trees, 1);
    for (uint32_t minute = 0; minute < 20; minute++) {
        atomic_fetch_add(&c->clock.at_ms, 60000);
        cache_write_begin(c->cache);
        cache_expire(c->cache);
        cache_write_end(c->cache);
    }
    assert_int_equal(cache_stats(c->cache).trees, 0);
    assert_int_equal(cache_load(c->cache).trees.bytes, 0);
}

static void making_one_takes_steps(void **state) {
    struct cluster *c = *state;
    struct cache_view view;
    struct topology_column columns[2];
    struct topology_tree tree;
    struct steps steps = {.max = 100};
    cluster_nodes(c, "a b x y");
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_column(&view.nodes, STR("zone"), &columns[0]), 0);
    assert_int_equal(topology_column(&view.nodes, STR("node"), &columns[1]), 0);
    view.nodes.steps = &steps;
    assert_int_equal(topology_tree(&view.nodes, columns, 2, &tree), 0);
    assert_int_equal(steps.used, 4 * 2); /* nodes, keys */
    assert_int_equal(topology_tree(&view.nodes, columns, 2, &tree), 0);
    assert_int_equal(steps.used, 4 * 2); /* it is the view's own now */
    steps.max = 9;
    assert_int_equal(topology_tree(&view.nodes, columns, 1, &tree), -E2BIG);
    cache_view_close(&view);
    assert_int_equal(missing(c, "zone", "node"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(parents_come_first),     TEST(it_is_kept_until_a_node_changes),
        TEST(a_new_node_is_in_it),    TEST(it_outlives_growth),
        TEST(few_are_kept),           TEST(what_is_not_used_is_forgotten),
        TEST(making_one_takes_steps),
    };
    return CLUSTER_RUN_TESTS("trees", tests);
}
