#include "base/arena.h"

#include "unit/unit.h"

#include <stdalign.h>

static void test_memory_is_zeroed_aligned_and_disjoint(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    struct arena a;
    arena_init(&a, 64u << 20);
    enum { COUNT = 5000 };
    static unsigned char *got[COUNT];
    static size_t sizes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sizes[i] = unit_below(&random, i % 100 == 0 ? 50000 : 200);
        got[i] = arena_alloc(&a, sizes[i]);
        assert_non_null(got[i]);
        assert_int_equal((uintptr_t)got[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(got[i][k], 0);
        memset(got[i], i % 255 + 1, sizes[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(got[i][k], i % 255 + 1);
    assert_false(arena_failed(&a));
    arena_done(&a);
}

static void test_nothing_is_taken_before_use(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 1000);
    assert_int_equal(a.total, 0);
    assert_null(a.chunks);
    arena_done(&a);
    arena_done(&a);
}

static void test_zero_bytes(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 10000);
    void *first = arena_alloc(&a, 0), *second = arena_alloc(&a, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    assert_non_null(arena_array(&a, 0, 8));
    assert_non_null(arena_array(&a, 8, 0));
    arena_done(&a);
}

static void test_maximum_holds(void **state) {
    (void)state;
    static const size_t maxima[] = {0, 15, 16, 17, 100, 4096, 5000, 100000};
    for (size_t i = 0; i < sizeof maxima / sizeof maxima[0]; i++) {
        struct arena a;
        arena_init(&a, maxima[i]);
        size_t used = 0;
        while (arena_alloc(&a, 48) != NULL)
            used += 48;
        assert_true(arena_failed(&a));
        assert_true(a.total <= maxima[i]);
        assert_true(used <= maxima[i]);
        /* nearly all of it can be used */
        assert_true(maxima[i] < 4096 || used > maxima[i] / 10 * 9);
        arena_done(&a);
    }
}

/* What does not fit by a byte is refused, and what just fits is not: 64 bytes and what a chunk has
 * in front of them, which is aligned as all memory is. */
static void test_the_last_byte(void **state) {
    (void)state;
    size_t max = 64;
    struct arena a;
    for (;; max++) {
        arena_init(&a, max);
        if (arena_alloc(&a, 64) != NULL)
            break;
        assert_true(a.full);
        arena_done(&a);
    }
    assert_int_equal(max % alignof(max_align_t), 0);
    assert_int_equal(a.total, max);
    assert_true(a.next == a.end);
    arena_done(&a);
}

static void test_a_reset_gives_steps_back(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 4096);
    a.steps.max = 10;
    assert_true(steps_take(&a.steps, 10));
    arena_reset(&a);
    assert_true(steps_take(&a.steps, 10));
    assert_false(steps_take(&a.steps, 1));
    arena_done(&a);
}

static void test_a_lowered_maximum_stops_growth(void **state) {
    (void)state;
    static const size_t maxima[] = {0, 1, 100, 4096};
    for (size_t i = 0; i < sizeof maxima / sizeof maxima[0]; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        assert_non_null(arena_alloc(&a, 10000));
        size_t taken = a.total;
        a.max = maxima[i];
        assert_null(arena_alloc(&a, taken));
        assert_true(arena_failed(&a));
        assert_int_equal(a.total, taken);
        arena_done(&a);
    }
}

static void test_failure_is_sticky_until_reset(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 4096);
    assert_null(arena_alloc(&a, 5000));
    assert_true(arena_failed(&a));
    assert_null(arena_alloc(&a, 1));
    assert_null(arena_cstr(&a, STR("x")));
    assert_str(arena_str(&a, STR("x")), "");
    arena_reset(&a);
    assert_false(arena_failed(&a));
    assert_non_null(arena_alloc(&a, 1));
    assert_int_equal(a.max, 4096);
    arena_done(&a);
}

static void test_absurd_sizes_fail(void **state) {
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX / 2 + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct arena a;
        arena_init(&a, SIZE_MAX);
        assert_null(arena_alloc(&a, sizes[i]));
        assert_true(arena_failed(&a));
        arena_done(&a);
    }
    struct arena a;
    arena_init(&a, SIZE_MAX);
    assert_null(arena_array(&a, SIZE_MAX / 4, 8));
    assert_true(arena_failed(&a));
    arena_done(&a);
}

static void test_strings(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 10000);
    char text[] = "zone-a";
    struct str copy = arena_str(&a, str_of(text));
    char *cstr = arena_cstr(&a, (struct str){text, 4});
    text[0] = 'X';
    assert_str(copy, "zone-a");
    assert_string_equal(cstr, "zone");
    assert_string_equal(arena_cstr(&a, (struct str){0}), "");
    struct str empty = arena_str(&a, (struct str){0});
    assert_non_null(empty.p);
    assert_int_equal(empty.n, 0);
    arena_done(&a);
}

static void test_chunks_grow_geometrically(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 64u << 20);
    unsigned mallocs = 0;
    const void *newest = NULL;
    for (int i = 0; i < 16384; i++) {
        assert_non_null(arena_alloc(&a, 64));
        mallocs += a.chunks != newest;
        newest = a.chunks;
    }
    assert_true(mallocs < 16);
    arena_done(&a);
}

static void test_push_grows_an_array(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    uint32_t *numbers = NULL, cap = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        numbers = arena_push(&a, numbers, i, &cap, sizeof *numbers);
        assert_non_null(numbers);
        assert_int_equal(numbers[i], 0);
        numbers[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(numbers[i], i);
    /* doubling: the copies left behind are no more than the array itself */
    assert_true(a.total < sizeof *numbers * 3 * 16384);
    arena_done(&a);

    arena_init(&a, 100);
    cap = 0;
    numbers = arena_push(&a, NULL, 0, &cap, sizeof *numbers);
    assert_non_null(numbers);
    assert_null(arena_push(&a, numbers, cap, &cap, sizeof *numbers));
    assert_true(arena_failed(&a));
    arena_done(&a);
}

static void test_sentences(void **state) {
    (void)state;
    struct arena a;
    char longer[2 * ERR_TEXT_SIZE];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    arena_init(&a, 1 << 16);
    assert_true(str_eq(arena_printf(&a, "%s: %d", "zones", 3), STR("zones: 3")));
    assert_int_equal(arena_printf(&a, "%s", longer).n, ERR_TEXT_SIZE - 1);
    arena_done(&a);

    arena_init(&a, 8);
    assert_true(str_empty(arena_printf(&a, "%s", longer)));
    assert_true(arena_failed(&a));
    arena_done(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_zeroed_aligned_and_disjoint),
        cmocka_unit_test(test_nothing_is_taken_before_use),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_maximum_holds),
        cmocka_unit_test(test_the_last_byte),
        cmocka_unit_test(test_a_reset_gives_steps_back),
        cmocka_unit_test(test_a_lowered_maximum_stops_growth),
        cmocka_unit_test(test_failure_is_sticky_until_reset),
        cmocka_unit_test(test_absurd_sizes_fail),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_chunks_grow_geometrically),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_push_grows_an_array),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
