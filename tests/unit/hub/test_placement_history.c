/*
 * What is kept of the planner's moves: how many of one Placement, how many of all and whose go
 * first, names of any length, and what is forgotten when.
 */
#include "hub/placement_history.h"

#include "base/limits.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

struct fixture {
    struct placement_history *history;
    struct arena arena;
    struct placement_told told; /* of the last question */
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    arena_init(&f.arena, 8 << 20);
    assert_int_equal(placement_history_new(&f.history, NULL), 0);
    placement_history_lead(f.history, true);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    placement_history_free(f->history);
    arena_done(&f->arena);
    return 0;
}

static struct owned_answer decided(void) {
    return (struct owned_answer){.mode = OWNED_OURS,
                                 .result = OWNED_DECIDED,
                                 .uid = STR("u"),
                                 .wake_ms = INT64_MAX,
                                 .waits_ms = INT64_MAX};
}

static void look(struct fixture *f, const char *namespace, const char *name,
                 const struct owned_answer *a, int64_t wall_ms) {
    placement_history_look(f->history, str_of(namespace), str_of(name), a, wall_ms);
}

/* Moves to one cluster. */
static void move(struct fixture *f, const char *namespace, const char *name, int64_t wall_ms) {
    const struct str to = STR("c1");
    struct owned_answer a = decided();
    a.moves = 1;
    a.why = MOVED_SPREAD;
    a.begun = (struct owned_moves){.added = &to, .added_count = 1};
    look(f, namespace, name, &a, wall_ms);
}

static const struct placement_told *ask(struct fixture *f, const char *namespace,
                                        const char *name) {
    arena_reset(&f->arena);
    assert_int_equal(
        placement_history_read(f->history, str_of(namespace), str_of(name), &f->arena, &f->told),
        0);
    return &f->told;
}

static void a_move_is_told(void **state) {
    struct fixture *f = *state;
    const struct str to[] = {STR("c4"), STR("c5")}, from[] = {STR("c2")};
    struct owned_answer a = decided();
    a.moves = 2;
    a.why = MOVED_INFEASIBLE;
    a.begun = (struct owned_moves){to, from, 2, 1};
    look(f, "n", "p", &a, 1000);
    const struct placement_told *told = ask(f, "n", "p");
    assert_true(told->leads && told->is_seen);
    assert_int_equal(told->move_count, 1);
    assert_int_equal(told->forgotten, 0);
    const struct placement_move *m = &told->moves[0];
    assert_int_equal(m->wall_ms, 1000);
    assert_string_equal(m->reason, "infeasible");
    assert_string_equal(m->result, "Decided");
    assert_int_equal(m->added_count, 2);
    assert_str(m->added[0], "c4");
    assert_str(m->added[1], "c5");
    assert_int_equal(m->removed_count, 1);
    assert_str(m->removed[0], "c2");
    assert_int_equal(m->added_more + m->removed_more, 0);
}

/* Each word of a standing, by the answer that gives it. */
static void how_it_stands(void **state) {
    struct fixture *f = *state;
    struct owned_answer a = decided();
    const struct placement_standing *s = &f->told.standing;
    look(f, "n", "p", &a, 5);
    (void)ask(f, "n", "p");
    assert_string_equal(s->mode, "Owner");
    assert_string_equal(s->result, "Decided");
    assert_null(s->kept);
    assert_null(s->waits);
    assert_int_equal(s->wall_ms, 5);
    a.plan_skewed = true;
    a.waiting = 3;
    a.waits = OWNED_WAITS_SETTLE;
    a.waits_ms = 7000;
    look(f, "n", "p", &a, 6);
    (void)ask(f, "n", "p");
    assert_string_equal(s->result, "Skewed");
    assert_string_equal(s->waits, "settleAfter");
    assert_int_equal(s->waiting, 3);
    assert_int_equal(s->wait_ms, 7000);
    a.waits = OWNED_WAITS_MINUTE;
    look(f, "n", "p", &a, 7);
    (void)ask(f, "n", "p");
    assert_string_equal(s->waits, "movesPerMinute");
    a.waiting = 0;
    a.write_is_out = true;
    look(f, "n", "p", &a, 8);
    (void)ask(f, "n", "p");
    assert_string_equal(s->waits, "write");
    a.write_is_out = false;
    a.write.what = OWNED_STATUS;
    look(f, "n", "p", &a, 8);
    (void)ask(f, "n", "p");
    assert_string_equal(s->waits, "write");
    a = decided();
    a.result = OWNED_KEPT;
    a.kept = "Undone";
    a.left_undone = true;
    look(f, "n", "p", &a, 9);
    (void)ask(f, "n", "p");
    assert_string_equal(s->mode, "Undone");
    assert_string_equal(s->result, "Kept");
    assert_string_equal(s->kept, "Undone");
    a = decided();
    a.mode = OWNED_LEAVING;
    a.result = OWNED_NOT_DECIDED;
    look(f, "n", "p", &a, 10);
    (void)ask(f, "n", "p");
    assert_string_equal(s->mode, "Leaving");
    assert_string_equal(s->result, "");
    a.mode = OWNED_OTHERS;
    look(f, "n", "p", &a, 11);
    (void)ask(f, "n", "p");
    assert_string_equal(s->mode, "OCM");
}

/* A change of the result is noted without a move; the first result, and the same again, are none.
 */
static void results_change(void **state) {
    struct fixture *f = *state;
    struct owned_answer a = decided();
    look(f, "n", "p", &a, 1);
    look(f, "n", "p", &a, 2);
    assert_int_equal(ask(f, "n", "p")->move_count, 0);
    a.result = OWNED_KEPT;
    look(f, "n", "p", &a, 3);
    look(f, "n", "p", &a, 4);
    assert_int_equal(ask(f, "n", "p")->move_count, 1);
    assert_null(f->told.moves[0].reason);
    assert_string_equal(f->told.moves[0].result, "Kept");
    assert_int_equal(f->told.moves[0].wall_ms, 3);
    a.result = OWNED_NOT_DECIDED; /* it is left */
    look(f, "n", "p", &a, 5);
    a.result = OWNED_DECIDED; /* and wanted again */
    look(f, "n", "p", &a, 6);
    assert_int_equal(ask(f, "n", "p")->move_count, 1);
    a.result = OWNED_FAILED; /* whatever had begun: names may be missing */
    a.moves = 1;
    a.begun = (struct owned_moves){.added_count = 1};
    look(f, "n", "p", &a, 7);
    assert_int_equal(ask(f, "n", "p")->move_count, 2);
    assert_null(f->told.moves[1].reason);
    assert_string_equal(f->told.moves[1].result, "Failed");
    assert_int_equal(f->told.moves[1].added_count, 0);
}

static void the_last_of_one(void **state) {
    struct fixture *f = *state;
    for (int i = 1; i <= LIMIT_MOVES_OF_ONE - 1; i++)
        move(f, "n", "p", i);
    assert_int_equal(ask(f, "n", "p")->move_count, LIMIT_MOVES_OF_ONE - 1);
    move(f, "n", "p", LIMIT_MOVES_OF_ONE);
    assert_int_equal(ask(f, "n", "p")->move_count, LIMIT_MOVES_OF_ONE);
    assert_int_equal(f->told.forgotten, 0);
    assert_int_equal(f->told.moves[0].wall_ms, 1);
    for (int i = 1; i <= 2 * LIMIT_MOVES_OF_ONE + 1; i++)
        move(f, "n", "p", LIMIT_MOVES_OF_ONE + i);
    assert_int_equal(ask(f, "n", "p")->move_count, LIMIT_MOVES_OF_ONE);
    assert_int_equal(f->told.forgotten, 2 * LIMIT_MOVES_OF_ONE + 1);
    for (int i = 0; i < LIMIT_MOVES_OF_ONE; i++)
        assert_int_equal(f->told.moves[i].wall_ms, 2 * LIMIT_MOVES_OF_ONE + 2 + i);
}

/* Whoever makes 10,000 Placements pushes out his own moves, not those of others. */
static void one_tenant_has_thousands(void **state) {
    struct fixture *f = *state;
    char name[32];
    for (int i = 0; i < 5; i++)
        move(f, "small", "p", i);
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        move(f, "large", name, 100 + i);
    }
    assert_int_equal(ask(f, "small", "p")->move_count, 5);
    assert_int_equal(ask(f, "large", "p0")->move_count, 0);
    assert_int_equal(f->told.forgotten, 1);
    assert_int_equal(ask(f, "large", "p9999")->move_count, 1);
    const int first = 10000 - (LIMIT_MOVES - 5); /* those that are kept begin there */
    (void)snprintf(name, sizeof name, "p%d", first);
    assert_int_equal(ask(f, "large", name)->move_count, 1);
    (void)snprintf(name, sizeof name, "p%d", first - 1);
    assert_int_equal(ask(f, "large", name)->move_count, 0);
    move(f, "late", "p", 1);
    assert_int_equal(ask(f, "late", "p")->move_count, 1);
    assert_int_equal(ask(f, "small", "p")->move_count, 5);
}

/* Places of what is forgotten are used again. */
static void places_are_used_again(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 3 * LIMIT_MOVES; round++) {
        move(f, "n", "p", round);
        if (round % 7 == 0)
            placement_history_forget(f->history, STR("n"), STR("p"));
    }
    assert_true(ask(f, "n", "p")->move_count > 0);
    move(f, "m", "q", 1);
    assert_int_equal(ask(f, "m", "q")->move_count, 1);
}

/* The longest names, and so many that only some are kept: half of the bytes for each side. */
static void long_names(void **state) {
    struct fixture *f = *state;
    char text[254];
    struct str names[4], shorts[300];
    memset(text, 'c', 253);
    text[253] = '\0';
    for (int i = 0; i < 4; i++)
        names[i] = str_of(text);
    for (int i = 0; i < 300; i++)
        shorts[i] = STR("abc");
    struct owned_answer a = decided();
    a.moves = 300;
    a.begun = (struct owned_moves){shorts, names, 300, 4};
    look(f, text, text, &a, 1);
    const struct placement_move *m = ask(f, text, text)->moves;
    assert_int_equal(f->told.move_count, 1);
    assert_int_equal(m->added_count, LIMIT_MOVE_NAMES / 2 / 4);
    assert_int_equal(m->added_more, 300 - LIMIT_MOVE_NAMES / 2 / 4);
    assert_int_equal(m->removed_count, 2);
    assert_int_equal(m->removed_more, 2);
    assert_str(m->removed[1], text);
    assert_str(m->added[m->added_count - 1], "abc");
    assert_false(ask(f, text, "c")->is_seen);
}

/* Namespace and name are two parts: "a/bc" is not "ab/c". */
static void by_both_names(void **state) {
    struct fixture *f = *state;
    move(f, "a", "bc", 1);
    assert_false(ask(f, "ab", "c")->is_seen);
    assert_false(ask(f, "bc", "a")->is_seen);
    assert_false(ask(f, "a", "b")->is_seen);
    assert_true(ask(f, "a", "bc")->is_seen);
}

static void what_is_forgotten(void **state) {
    struct fixture *f = *state;
    struct owned_answer a = decided();
    move(f, "n", "p", 1);
    a.uid = STR("another");
    look(f, "n", "p", &a, 2); /* deleted, and made again before it was looked at */
    assert_int_equal(ask(f, "n", "p")->move_count, 0);
    assert_true(f->told.is_seen);
    move(f, "n", "p", 3);
    placement_history_forget(f->history, STR("n"), STR("p"));
    placement_history_forget(f->history, STR("n"), STR("p"));
    assert_false(ask(f, "n", "p")->is_seen);
    a.mode = OWNED_GONE;
    look(f, "n", "p", &a, 4);
    assert_false(ask(f, "n", "p")->is_seen);
    move(f, "n", "p", 5);
    placement_history_lead(f->history, false);
    assert_false(ask(f, "n", "p")->is_seen || f->told.leads);
    move(f, "n", "p", 6); /* a look of before */
    assert_false(ask(f, "n", "p")->is_seen);
    placement_history_lead(f->history, true);
    assert_false(ask(f, "n", "p")->is_seen);
    assert_true(f->told.leads);
    move(f, "n", "p", 7);
    placement_history_lead(f->history, true); /* another term */
    assert_false(ask(f, "n", "p")->is_seen);
}

static void nobody_keeps_one(void **state) {
    (void)state;
    const struct owned_answer a = decided();
    placement_history_lead(NULL, true);
    placement_history_look(NULL, STR("n"), STR("p"), &a, 1);
    placement_history_forget(NULL, STR("n"), STR("p"));
    placement_history_free(NULL);
}

static void no_memory_for_the_copy(void **state) {
    struct fixture *f = *state;
    struct arena none;
    move(f, "n", "p", 1);
    arena_init(&none, 1);
    assert_int_equal(placement_history_read(f->history, STR("n"), STR("p"), &none, &f->told),
                     -ENOMEM);
    arena_done(&none);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_move_is_told),
        TEST(how_it_stands),
        TEST(results_change),
        TEST(the_last_of_one),
        TEST(one_tenant_has_thousands),
        TEST(places_are_used_again),
        TEST(long_names),
        TEST(by_both_names),
        TEST(what_is_forgotten),
        cmocka_unit_test(nobody_keeps_one),
        TEST(no_memory_for_the_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
