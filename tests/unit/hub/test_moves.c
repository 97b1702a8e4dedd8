/* When voluntary moves begin. Limits as the configuration's defaults: 10 s, 10 a minute. */
#include "hub/moves.h"

#include "unit/unit.h"

static const struct move_limits limits = {.settle_ms = 10000, .per_minute = 10};

/* Asks about a wish with this hash. */
static uint32_t ask(struct moves *m, uint64_t wanted, uint32_t count, int64_t now_ms,
                    int64_t wait_ms) {
    int64_t wait;
    const struct moves_wish wish = {.names = wanted, .count = count};
    const uint32_t allowed = moves_allowed(m, &limits, &wish, now_ms, &wait);
    assert_int_equal(wait, wait_ms);
    return allowed;
}

/* The same, some of which make it more even. */
static uint32_t ask_even(struct moves *m, struct moves_wish wish, int64_t now_ms, int64_t wait_ms) {
    int64_t wait;
    const uint32_t allowed = moves_allowed(m, &limits, &wish, now_ms, &wait);
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

/* Names change every second: what makes it more even does not wait for them. */
static void the_shape_settles_alone(void **state) {
    struct moves m = {0};
    (void)state;
    for (unsigned s = 0; s < 10; s++) {
        assert_int_equal(ask_even(&m, (struct moves_wish){7, s, 5, 2}, 1000 * s, 10000 - 1000 * s),
                         0);
        assert_true(moves_settle(&m, &limits, 1000 * s));
    }
    assert_int_equal(ask_even(&m, (struct moves_wish){7, 10, 5, 2}, 10000, 10000), 2);
    assert_false(moves_settle(&m, &limits, 10000));
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 10, 5, 2}, 11000, 9000), 0);
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 10, 5, 2}, 20000, INT64_MAX), 5);
    /* the shape of what is not wanted for evenness says nothing */
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 11, 5, 0}, 21000, 10000), 0);
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 11, 5, 1}, 22000, 9000), 0);
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 12, 5, 1}, 31999, 1), 0);
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 12, 5, 1}, 32000, 9999), 1);
    moves_begin(&m, 10, 32000);
    assert_int_equal(ask_even(&m, (struct moves_wish){8, 12, 5, 1}, 32001, 9998), 0);
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
    const struct moves_wish wish = {.names = 1, .count = 1};
    assert_int_equal(moves_allowed(&m, &none, &wish, 0, &wait), 0);
    assert_true(wait == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_move_must_stay_wanted),
        cmocka_unit_test(another_wish_waits_anew),
        cmocka_unit_test(the_shape_settles_alone),
        cmocka_unit_test(one_that_is_not_wanted_any_more),
        cmocka_unit_test(so_many_a_minute),
        cmocka_unit_test(exactly_as_many_and_one_more),
        cmocka_unit_test(none_at_all),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
