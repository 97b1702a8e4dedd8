/*
 * Counting in the tree of ordered domains, on trees that are given: what is compared, sums, least
 * and most, and changes of one pod.
 */
#include "topology/ordered_domains.h"

#include "unit/unit.h"

enum { SLOTS = 40, PREFIXES = 1 + SLOTS * 2 };

struct fixture {
    struct arena arena;
    struct prefix_tree made;
    uint32_t leaf_of[SLOTS], parents[PREFIXES];
    struct ordered_term terms[2];
    struct ordered_domains d;
};

/* Each slot's region and zone. */
static void plant(struct fixture *f, const uint32_t (*places)[2], uint32_t count) {
    assert_int_equal(prefix_tree_init(&f->made, &f->arena), 0);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        f->leaf_of[slot] = PREFIX_NONE;
    for (uint32_t slot = 0; slot < count; slot++) {
        const uint32_t region = prefix_make(&f->made, PREFIX_ROOT, places[slot][0]);
        f->leaf_of[slot] = prefix_make(&f->made, region, places[slot][1]);
    }
    for (uint32_t i = 0; i < f->made.count; i++)
        f->parents[i] = f->made.items[i].parent;
    f->d = (struct ordered_domains){
        .terms = f->terms,
        .term_count = 2,
        .tree = {.leaf_of = f->leaf_of, .parents = f->parents, .count = f->made.count},
        .arena = &f->arena,
        .items = arena_array(&f->arena, f->made.count, sizeof(struct ordered_count))};
    assert_non_null(f->d.items);
}

static int setup(void **state) {
    static struct fixture f;
    arena_init(&f.arena, 64u << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    return 0;
}

static const struct ordered_count *above(const struct fixture *f, uint32_t slot, uint32_t levels) {
    uint32_t prefix = f->leaf_of[slot];
    for (uint32_t i = 0; i < levels; i++)
        prefix = f->made.items[prefix].parent;
    return &f->d.items[prefix];
}

/* Slots 0 and 1 are two zones of a region, 2 is in another, 3 in a third. */
static const uint32_t few[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}};

static void sums_least_and_most(void **state) {
    struct fixture *f = *state;
    plant(f, few, 3);
    ordered_domains_include_all(&f->d);
    ordered_domains_add(&f->d, 0, 5);
    ordered_domains_add(&f->d, 1, 2);
    ordered_domains_add(&f->d, 2, 9);
    ordered_domains_settle(&f->d);
    assert_int_equal(above(f, 0, 0)->count, 5);
    assert_int_equal(above(f, 0, 1)->count, 7);
    assert_int_equal(above(f, 0, 1)->least, 2);
    assert_int_equal(above(f, 0, 1)->most, 5);
    assert_int_equal(above(f, 0, 2)->count, 16);
    assert_int_equal(above(f, 0, 2)->least, 7);
    assert_int_equal(above(f, 0, 2)->most, 9);
    assert_true(above(f, 2, 0)->least > above(f, 2, 0)->most); /* no children */
}

static void only_what_is_counted_in_is_compared(void **state) {
    struct fixture *f = *state;
    uint32_t path[ORDERED_TERMS];
    plant(f, few, 4);
    ordered_domains_include(&f->d, 0);
    ordered_domains_include(&f->d, 2);
    ordered_domains_add(&f->d, 0, 4);
    ordered_domains_add(&f->d, 2, 3);
    ordered_domains_settle(&f->d);
    assert_int_equal(above(f, 0, 2)->least, 3); /* not the third region's 0 */
    assert_int_equal(above(f, 0, 1)->least, 4); /* not the second zone's 0 */
    assert_int_equal(ordered_domains_leaf(&f->d, 0), f->leaf_of[0]);
    assert_int_equal(ordered_domains_leaf(&f->d, 1), PREFIX_NONE);
    assert_int_equal(ordered_domains_leaf(&f->d, 3), PREFIX_NONE);
    assert_int_equal(ordered_domains_leaf(&f->d, 5), PREFIX_NONE); /* nobody's slot */
    ordered_domains_path(&f->d, 1, path);
    assert_int_equal(path[0], f->made.items[f->leaf_of[0]].parent);
    assert_int_equal(path[1], PREFIX_NONE);
    ordered_domains_path(&f->d, 3, path);
    assert_int_equal(path[0], PREFIX_NONE);
    assert_int_equal(path[1], PREFIX_NONE);
}

/* The emptiest sibling gives 63 and the fullest 0, the region in the upper six bits. */
static void scores(void **state) {
    struct fixture *f = *state;
    plant(f, few, 4);
    for (uint32_t slot = 0; slot < 3; slot++)
        ordered_domains_include(&f->d, slot);
    ordered_domains_add(&f->d, 0, 5);
    ordered_domains_add(&f->d, 1, 2);
    ordered_domains_add(&f->d, 2, 6);
    ordered_domains_settle(&f->d);
    assert_int_equal(ordered_domains_score(&f->d, 0), 0);
    assert_int_equal(ordered_domains_score(&f->d, 1), 63);
    assert_int_equal(ordered_domains_score(&f->d, 2), 63 << 6);
    assert_int_equal(ordered_domains_score(&f->d, 3), 0); /* nothing to compare with */
}

/* What a tree has to say, worked out from the slots alone. */
static void expect(const struct fixture *f, const uint32_t (*places)[2], const bool *counts,
                   const int64_t *pods) {
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        int64_t region = 0, zone = 0, least = INT64_MAX, most = INT64_MIN;
        for (uint32_t i = 0; i < SLOTS; i++) {
            if (!counts[i] || places[i][0] != places[slot][0])
                continue;
            int64_t sum = 0; /* of this one's zone, a sibling of the slot's */
            for (uint32_t k = 0; k < SLOTS; k++)
                if (counts[k] && places[k][0] == places[i][0] && places[k][1] == places[i][1])
                    sum += pods[k];
            region += pods[i];
            zone = places[i][1] == places[slot][1] ? sum : zone;
            least = sum < least ? sum : least;
            most = sum > most ? sum : most;
        }
        if (!counts[slot])
            continue;
        assert_int_equal(above(f, slot, 0)->count, zone);
        assert_int_equal(above(f, slot, 1)->count, region);
        assert_int_equal(above(f, slot, 1)->least, least);
        assert_int_equal(above(f, slot, 1)->most, most);
    }
}

/* Every change of one leaves what counting anew would give. */
static void changes_of_one(void **state) {
    struct fixture *f = *state;
    for (uint32_t seed = 1; seed <= 50; seed++) {
        uint32_t places[SLOTS][2];
        bool counts[SLOTS];
        int64_t pods[SLOTS];
        uint64_t random = seed;
        arena_reset(&f->arena);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            places[slot][0] = unit_below(&random, 4);
            places[slot][1] = unit_below(&random, 5);
            counts[slot] = unit_below(&random, 4) > 0;
            pods[slot] = counts[slot] ? unit_below(&random, 6) : 0;
        }
        plant(f, (const uint32_t(*)[2])places, SLOTS);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            if (counts[slot]) {
                ordered_domains_include(&f->d, slot);
                ordered_domains_add(&f->d, slot, pods[slot]);
            }
        ordered_domains_settle(&f->d);
        expect(f, (const uint32_t(*)[2])places, counts, pods);
        for (uint32_t change = 0; change < 200; change++) {
            const uint32_t slot = unit_below(&random, SLOTS);
            const int64_t by = unit_below(&random, 3) == 0 && pods[slot] > 0 ? -1 : 1;
            if (!counts[slot])
                continue;
            pods[slot] += by;
            ordered_domains_change(&f->d, ordered_domains_leaf(&f->d, slot), by);
            expect(f, (const uint32_t(*)[2])places, counts, pods);
        }
    }
}

/* Counts wander far: places of counts that nobody has any more must not pile up. */
static void changes_do_not_use_up_memory(void **state) {
    struct fixture *f = *state;
    plant(f, few, 4);
    ordered_domains_include_all(&f->d);
    ordered_domains_settle(&f->d);
    ordered_domains_change(&f->d, f->leaf_of[0], 1);
    const uint32_t cap = f->d.siblings_cap;
    const size_t total = f->arena.total;
    for (int i = 0; i < 10000; i++)
        ordered_domains_change(&f->d, f->leaf_of[0], 1);
    assert_int_equal(f->d.siblings_cap, cap);
    assert_int_equal(f->arena.total, total);
    assert_int_equal(above(f, 0, 2)->least, 0);
    assert_int_equal(above(f, 0, 2)->most, 10001);
    ordered_domains_change(&f->d, f->leaf_of[2], 1);
    ordered_domains_change(&f->d, f->leaf_of[3], 1);
    assert_int_equal(above(f, 0, 2)->least, 1);
    ordered_domains_change(&f->d, PREFIX_NONE, 1); /* changes nothing */
    assert_int_equal(above(f, 0, 2)->count, 10003);
}

/* Without memory for what makes changes quick, they are slow and right. */
static void memory_may_run_out(void **state) {
    struct fixture *f = *state;
    plant(f, few, 3);
    ordered_domains_include_all(&f->d);
    ordered_domains_settle(&f->d);
    struct arena none;
    arena_init(&none, 16);
    f->d.arena = &none;
    ordered_domains_change(&f->d, f->leaf_of[0], 1);
    ordered_domains_change(&f->d, f->leaf_of[2], 1);
    assert_null(f->d.siblings);
    assert_int_equal(above(f, 0, 2)->least, 1);
    assert_int_equal(above(f, 0, 1)->most, 1);
    arena_done(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(sums_least_and_most),
        TEST(only_what_is_counted_in_is_compared),
        TEST(scores),
        TEST(changes_of_one),
        TEST(changes_do_not_use_up_memory),
        TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
