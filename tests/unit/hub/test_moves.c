/* When voluntary moves begin. Limits as the configuration's defaults: 10 s, 10 a minute. */
#include "hub/moves.h"

#include "unit/unit.h"

static const struct move_limits limits = {.settle_ms = 10000, .per_minute = 10};

/* Asks about a wish with this hash. */
static uint32_t ask(struct moves *m, uint64_t wanted, uint32_t count, int64_t now_ms,
                    int64_t wait_ms) {
    int64_t wait;
    const uint32_t allowed = moves_allowed(m, &limits, wanted, count, now_ms, &wait);
    assert_int_equal(wait, wait_ms);
    return allowed;
}

static void a_move_must_stay_wanted(void **state) {
    struct moves m = {0};
    (void)state;
    assert_int_equal(ask(&m, 1, 2, 1000, 10000), 0);
    assert_int_equal(ask(&m, 1, 2, 10999, 1), 0);
    assert_int_equal(ask(&m, 1, 2, 11000, INT64_MAX), 2);
}

static void another_wish_waits_anew(void **state) {
    struct moves m = {0};
    (void)state;
    assert_int_equal(ask(&m, 1, 1, 0, 10000), 0);
    assert_int_equal(ask(&m, 2, 1, 9000, 10000), 0);
    assert_int_equal(ask(&m, 2, 1, 18999, 1), 0);
    assert_int_equal(ask(&m, 2, 1, 19000, INT64_MAX), 1);
}

static void one_that_is_not_wanted_any_more(void **state) {
    struct moves m = {0};
    (void)state;
    assert_int_equal(ask(&m, 1, 1, 0, 10000), 0);
    assert_int_equal(ask(&m, 1, 0, 5000, INT64_MAX), 0);
    assert_int_equal(ask(&m, 1, 1, 10000, 10000), 0);
}

/* In no minute begin more than ten. */
static void so_many_a_minute(void **state) {
    struct moves m = {0};
    (void)state;
    assert_int_equal(ask(&m, 1, 4, 0, 10000), 0);
    assert_int_equal(ask(&m, 1, 4, 10000, INT64_MAX), 4);
    moves_begin(&m, 4, 10000);
    assert_int_equal(ask(&m, 2, 7, 20000, 10000), 0);
    assert_int_equal(ask(&m, 2, 7, 30000, 40000), 6);
    moves_begin(&m, 6, 30000);
    assert_int_equal(ask(&m, 2, 1, 30001, 59999), 0);
    assert_int_equal(ask(&m, 2, 1, 89999, 1), 0);
    assert_int_equal(ask(&m, 2, 1, 90000, INT64_MAX), 1);
}

static void exactly_as_many_and_one_more(void **state) {
    struct moves m = {0};
    (void)state;
    assert_int_equal(ask(&m, 1, 10, 0, 10000), 0);
    assert_int_equal(ask(&m, 1, 10, 10000, INT64_MAX), 10);
    assert_int_equal(ask(&m, 1, 11, 10000, MOVES_MINUTE_MS), 10);
    assert_int_equal(ask(&m, 1, 9, 10000, INT64_MAX), 9);
}

static void none_at_all(void **state) {
    static const struct move_limits none = {.settle_ms = 0, .per_minute = 0};
    struct moves m = {0};
    int64_t wait;
    (void)state;
    assert_int_equal(moves_allowed(&m, &none, 1, 1, 0, &wait), 0);
    assert_true(wait == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_move_must_stay_wanted),
        cmocka_unit_test(another_wish_waits_anew),
        cmocka_unit_test(one_that_is_not_wanted_any_more),
        cmocka_unit_test(so_many_a_minute),
        cmocka_unit_test(exactly_as_many_and_one_more),
        cmocka_unit_test(none_at_all),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
