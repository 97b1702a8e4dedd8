/*
 * Walking over the nodes that have pods, beside looking at one after the other. Counts lie in
 * memory of their own, so that sanitizers see one that is read behind it.
 */
#include "engine/counted.h"

#include "unit/unit.h"

enum { MOST = 300 };

static void agree(const uint32_t *counts, uint32_t slots) {
    struct counted walk = {.counts = counts, .slots = slots};
    uint32_t found;
    for (uint32_t slot = 0; slot < slots; slot++)
        if (counts[slot] != 0) {
            assert_true(counted_next(&walk, &found));
            assert_int_equal(found, slot);
        }
    assert_false(counted_next(&walk, &found));
    assert_false(counted_next(&walk, &found));
    for (uint32_t slot = 0; slot + 64 <= slots; slot++)
        assert_int_equal(counted_of_64(&counts[slot]), counted_one_by_one(&counts[slot]));
}

/* Every bit of a count is looked at, wherever it is. */
static void test_one_count_anywhere(void **state) {
    (void)state;
    for (uint32_t slots = 0; slots <= MOST; slots++) {
        uint32_t *counts = calloc(slots + 1, sizeof *counts);
        assert_non_null(counts);
        agree(counts + 1, slots);
        for (uint32_t at = 0; at < slots; at++) {
            counts[1 + at] = 1u << (at + slots) % 32;
            agree(counts + 1, slots);
            counts[1 + at] = 0;
        }
        free(counts);
    }
}

static void test_random_counts(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    for (int i = 0; i < 3000; i++) {
        const uint32_t slots = unit_below(&random, MOST), sparse = 1 + unit_below(&random, 40);
        uint32_t *counts = calloc(slots > 0 ? slots : 1, sizeof *counts);
        assert_non_null(counts);
        for (uint32_t at = 0; at < slots; at++)
            counts[at] = unit_below(&random, sparse) == 0 ? unit_below(&random, 3) : 0;
        agree(counts, slots);
        free(counts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_count_anywhere),
        cmocka_unit_test(test_random_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
