/* Whose item is served next. */
#include "base/turns.h"

#include "unit/unit.h"

enum { TURNS = 6, QUANTUM = 10 };
static struct turns turns;
static struct turn all[TURNS];

static int set_up(void **state) {
    (void)state;
    turns_init(&turns, QUANTUM);
    memset(all, 0, sizeof all);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < TURNS; i++)
        turns_leave(&turns, &all[i]);
    assert_int_equal(turns.owners.count, 0);
    assert_int_equal(turns.index.count, 0);
    assert_false(turns_any(&turns));
    turns_done(&turns);
    return 0;
}

static void join(int i, const char *owner) {
    assert_true(turns_join(&turns, &all[i], str_of(owner)));
}

/* Numbers of those that come, each of whom waits again if `again`. */
static void assert_order(const char *wanted, bool again) {
    char order[16] = "";
    for (size_t i = 0; i < strlen(wanted); i++) {
        struct turn *turn = turns_next(&turns);
        if (turn == NULL)
            break;
        order[i] = (char)('0' + (turn - all));
        if (again)
            turns_wait(&turns, turn);
    }
    assert_string_equal(order, wanted);
}

static void owners_take_turns(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        join(i, "a");
    join(4, "b");
    join(5, "c");
    for (int i = 0; i < TURNS; i++)
        turns_wait(&turns, &all[i]);
    assert_order("045145245345", true);
    for (int i = 0; i < 3; i++)
        (void)turns_next(&turns);
    for (int i = 0; i < 3; i++)
        (void)turns_next(&turns);
    assert_null(turns_next(&turns));
}

static void nobody_waits_twice(void **state) {
    (void)state;
    join(0, "a");
    join(1, "a");
    assert_null(turns_next(&turns));
    turns_wait(&turns, &all[0]);
    turns_wait(&turns, &all[0]);
    assert_order("0", false);
    assert_null(turns_next(&turns));
    turns_wait(&turns, &all[1]);
    turns_wait(&turns, &all[0]);
    assert_order("10", false);
}

static void who_leaves_waits_no_more(void **state) {
    (void)state;
    join(0, "a");
    join(1, "a");
    join(2, "b");
    for (int i = 0; i < 3; i++)
        turns_wait(&turns, &all[i]);
    turns_leave(&turns, &all[0]);
    turns_leave(&turns, &all[2]);
    assert_order("1", false);
    assert_null(turns_next(&turns));
    turns_leave(&turns, &all[0]); /* once more is fine */
    join(0, "a");
    turns_wait(&turns, &all[0]);
    turns_leave(&turns, &all[1]);
    assert_order("0", false);
}

static void who_gives_up_waits_no_more(void **state) {
    (void)state;
    join(0, "a");
    join(1, "a");
    join(2, "b");
    for (int i = 0; i < 3; i++)
        turns_wait(&turns, &all[i]);
    turns_give_up(&all[2]);
    assert_false(turns_waits(&all[2]));
    turns_give_up(&all[2]); /* once more is fine */
    turns_give_up(&all[0]);
    assert_order("1", false);
    assert_false(turns_any(&turns));
    turns_wait(&turns, &all[2]);
    assert_true(turns_waits(&all[2]));
    assert_order("2", false);
}

/* An owner whose item cost two quanta and a half loses two turns; a third one would be for nothing.
 */
static void who_costs_much_loses_turns(void **state) {
    (void)state;
    join(0, "a");
    join(1, "b");
    turns_wait(&turns, &all[0]);
    turns_wait(&turns, &all[1]);
    turns_charge(&turns, &all[0], 2 * QUANTUM + QUANTUM / 2);
    assert_order("1101010", true);
    turns_charge(&turns, &all[1], QUANTUM - 1); /* it is not spent */
    assert_order("10", true);
    turns_charge(&turns, &all[1], 1);
    assert_order("010", true);
}

/* Nobody else wants the turns that it would lose: they are forgotten. */
static void who_waits_alone_owes_nothing(void **state) {
    (void)state;
    join(0, "a");
    join(1, "b");
    turns_charge(&turns, &all[0], 100 * QUANTUM);
    turns_wait(&turns, &all[0]);
    assert_order("0", false);
    turns_wait(&turns, &all[0]);
    turns_wait(&turns, &all[1]);
    assert_order("01", false);
}

/* Whether anybody else waits or not: nothing is taken. */
static void who_has_a_turn_to_take(void **state) {
    (void)state;
    join(0, "a");
    join(1, "b");
    assert_false(turns_any_free(&turns));
    turns_wait(&turns, &all[0]);
    turns_charge(&turns, &all[0], QUANTUM - 1);
    assert_true(turns_any_free(&turns));
    turns_charge(&turns, &all[0], QUANTUM + 1);
    assert_false(turns_any_free(&turns));
    turns_wait(&turns, &all[1]);
    assert_true(turns_any_free(&turns));
    assert_order("1", false);
    assert_false(turns_any_free(&turns));
    assert_order("0", false); /* it waits alone */
    turns_wait(&turns, &all[0]);
    assert_true(turns_any_free(&turns));
    assert_order("0", false);
}

int main(void) {
#define TURNS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TURNS_TEST(owners_take_turns),          TURNS_TEST(nobody_waits_twice),
        TURNS_TEST(who_leaves_waits_no_more),   TURNS_TEST(who_gives_up_waits_no_more),
        TURNS_TEST(who_costs_much_loses_turns), TURNS_TEST(who_waits_alone_owes_nothing),
        TURNS_TEST(who_has_a_turn_to_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
