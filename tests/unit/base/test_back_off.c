/* How waits grow, where they end, and by how much chance makes them longer. */
#include "base/back_off.h"
#include "unit/unit.h"

#include <limits.h>

static void waits_double_up_to_the_limit(void **state) {
    static const struct {
        unsigned failures;
        int64_t ms;
    } rows[] = {{0, 800},   {1, 1600},  {2, 3200},        {5, 25600},
                {6, 30000}, {7, 30000}, {UINT_MAX, 30000}};
    const struct back_off b = {.first_ms = 800, .longest_ms = 30000};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(back_off_ms(&b, rows[i].failures, NULL), rows[i].ms);
}

static void the_first_wait_is_no_longer_than_the_longest(void **state) {
    const struct back_off b = {.first_ms = 800, .longest_ms = 500};
    (void)state;
    assert_int_equal(back_off_ms(&b, 0, NULL), 500);
}

/* By 0 to 20 %: both ends come up. */
static void chance_makes_them_longer(void **state) {
    enum { TRIES = 10000 };
    const struct back_off b = {.first_ms = 100, .longest_ms = 1000, .jitter_percent = 20};
    uint64_t random = 1;
    int64_t least = INT64_MAX, most = 0;
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        const int64_t ms = back_off_ms(&b, 1, &random);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_int_equal(least, 200);
    assert_int_equal(most, 240);
}

static void without_jitter_chance_says_nothing(void **state) {
    const struct back_off b = {.first_ms = 100, .longest_ms = 1000};
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(back_off_ms(&b, 1, &random), 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_up_to_the_limit),
        cmocka_unit_test(the_first_wait_is_no_longer_than_the_longest),
        cmocka_unit_test(chance_makes_them_longer),
        cmocka_unit_test(without_jitter_chance_says_nothing),
    };
    return cmocka_run_group_tests_name("back-off", tests, NULL, NULL);
}
