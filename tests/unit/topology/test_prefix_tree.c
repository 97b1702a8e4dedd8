#include "topology/prefix_tree.h"

#include "unit/unit.h"

#include <errno.h>

static int setup(void **state) {
    static struct arena arena;
    arena_init(&arena, 64u << 20);
    *state = &arena;
    return 0;
}

static int teardown(void **state) {
    arena_done(*state);
    return 0;
}

static void a_new_tree_has_a_root(void **state) {
    struct prefix_tree t;
    assert_int_equal(prefix_tree_init(&t, *state), 0);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.items[PREFIX_ROOT].parent, PREFIX_NONE);
}

static void a_prefix_is_made_once(void **state) {
    struct prefix_tree t;
    assert_int_equal(prefix_tree_init(&t, *state), 0);
    uint32_t east = prefix_make(&t, PREFIX_ROOT, 7);
    assert_int_equal(prefix_make(&t, PREFIX_ROOT, 7), east);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.items[east].parent, PREFIX_ROOT);
    assert_int_equal(t.items[east].domain, 7);
}

/* The same zone number in two regions is two prefixes. */
static void a_domain_belongs_to_its_parent(void **state) {
    struct prefix_tree t;
    assert_int_equal(prefix_tree_init(&t, *state), 0);
    uint32_t east = prefix_make(&t, PREFIX_ROOT, 1), west = prefix_make(&t, PREFIX_ROOT, 2);
    uint32_t east1 = prefix_make(&t, east, 1);
    uint32_t west1 = prefix_make(&t, west, 1);
    assert_int_not_equal(east1, west1);
    assert_int_equal(t.items[west1].parent, west);
    assert_int_equal(prefix_make(&t, east, 1), east1);
}

/* Far more prefixes than fit at first: the index grows and loses nothing. */
static void it_grows(void **state) {
    struct prefix_tree t;
    static uint32_t ids[100][100];
    assert_int_equal(prefix_tree_init(&t, *state), 0);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t parent = prefix_make(&t, PREFIX_ROOT, i * 1000003u);
        for (uint32_t j = 0; j < 100; j++)
            ids[i][j] = prefix_make(&t, parent, j);
    }
    assert_int_equal(t.count, 1 + 100 + 100 * 100);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t parent = prefix_make(&t, PREFIX_ROOT, i * 1000003u);
        for (uint32_t j = 0; j < 100; j++)
            assert_int_equal(prefix_make(&t, parent, j), ids[i][j]);
    }
    assert_int_equal(t.count, 1 + 100 + 100 * 100);
}

/* Thousands of prefixes that differ in nothing but their parent, in an index full of others. */
static void parents_tell_prefixes_apart(void **state) {
    struct prefix_tree t;
    static uint32_t children[5000];
    assert_int_equal(prefix_tree_init(&t, *state), 0);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t parent = prefix_make(&t, PREFIX_ROOT, i * 2654435761u);
        children[i] = prefix_make(&t, parent, 1);
        assert_int_equal(children[i], t.count - 1); /* a new one */
        assert_int_equal(t.items[children[i]].parent, parent);
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(prefix_make(&t, t.items[children[i]].parent, 1), children[i]);
}

static void memory_may_run_out(void **state) {
    (void)state;
    bool made_all = false;
    for (size_t size = 0; size < 96 * 1024; size += 512) {
        struct arena arena;
        struct prefix_tree t;
        arena_init(&arena, size);
        int r = prefix_tree_init(&t, &arena);
        assert_true(r == 0 || r == -ENOMEM);
        uint32_t made = 0;
        while (r == 0 && made < 300 && prefix_make(&t, PREFIX_ROOT, made) != PREFIX_NONE)
            made++;
        assert_true(r != 0 || t.count == 1 + made);
        for (uint32_t i = 0; i < made; i++)
            assert_int_equal(t.items[1 + i].domain, i);
        assert_true(!made_all || made == 300);
        made_all = made == 300;
        arena_done(&arena);
    }
    assert_true(made_all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_new_tree_has_a_root),          TEST(a_prefix_is_made_once),
        TEST(a_domain_belongs_to_its_parent), TEST(it_grows),
        TEST(parents_tell_prefixes_apart),    TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("prefix tree", tests, NULL, NULL);
}
