/*
 * Webster's method: Karmada's own examples, and divisions of any size against giving seats one by
 * one, or, where these would be too many, against the rule that such a division keeps.
 *
 * WEBSTER_CASES is how many random divisions there are: `WEBSTER_CASES=100000 TEST_SEED=1
 * test_webster`.
 */
#include "karmada/webster.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

enum { MOST_PARTIES = 5000, USUAL_CASES = 3000 };

static struct arena arena;
static struct webster_party parties[MOST_PARTIES], before[MOST_PARTIES], naive[MOST_PARTIES];
static char names[MOST_PARTIES][8];

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

/* ---- examples ---- */

struct example {
    const char *names; /* of one letter each */
    int64_t votes[4], had[4];
    uint32_t seats;
    bool descending;
    int64_t want[4];
};

static void expect(const struct example *e) {
    const uint32_t count = (uint32_t)strlen(e->names);
    for (uint32_t i = 0; i < count; i++)
        parties[i] = (struct webster_party){{&e->names[i], 1}, e->votes[i], e->had[i]};
    arena_reset(&arena);
    assert_int_equal(webster_give_seats(parties, count, e->seats, e->descending, &arena, NULL), 0);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(parties[i].seats, e->want[i]);
}

/* The usual example of divisor methods, seat by seat. upstream: webstermethod_test.go. */
static void test_examples(void **state) {
    (void)state;
    const int64_t usual[8][4] = {{1},       {1, 1},       {2, 1},       {2, 1, 1},
                                 {2, 2, 1}, {2, 2, 1, 1}, {3, 2, 1, 1}, {3, 3, 1, 1}};
    for (uint32_t s = 0; s < 8; s++) {
        struct example e = {
            .names = "ABCD", .votes = {100000, 80000, 30000, 20000}, .seats = s + 1};
        memcpy(e.want, usual[s], sizeof e.want);
        expect(&e);
    }
    expect(&(struct example){.names = "", .seats = 5});
    expect(&(struct example){.names = "AB", .votes = {3, 1}, .seats = 0});
}

/* Seats that parties had before, and a party of which there are only these. */
static void test_seats_before(void **state) {
    (void)state;
    const struct example examples[] = {
        {.names = "AB", .votes = {3, 1}, .had = {1, 0}, .seats = 1, .want = {1, 1}},
        {.names = "ANZ", .votes = {0, 1, 1}, .had = {0, 0, 0}, .seats = 2, .want = {0, 1, 1}},
        {.names = "ON", .votes = {1, 1}, .had = {1, 0}, .seats = 2, .want = {1, 2}},
        {.names = "AB", .votes = {100, 0}, .had = {0, 3}, .seats = 2, .want = {2, 3}},
        {.names = "abc", .votes = {1, 2, 3}, .had = {1, 2, 3}, .seats = 6, .want = {2, 4, 6}},
        {.names = "abc", .votes = {1, 2, 3}, .had = {1, 2, 3}, .seats = 3, .want = {2, 3, 4}},
        {.names = "abc", .votes = {1, 2, 3}, .had = {1, 2, 3}, .seats = 2, .want = {1, 3, 4}},
        /* one has far more than its share: the other receives all */
        {.names = "ab",
         .votes = {1, 1},
         .had = {1500000000, 7},
         .seats = 1000000000,
         .want = {1500000000, 1000000007}},
        {.names = "ab",
         .votes = {1, 1},
         .had = {1000000, 0},
         .seats = 2000000001,
         .want = {1000500001, 1000500000}},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        expect(&examples[i]);
}

/* upstream: binding_test.go, Test_AllocateByWeight() and the tables of static weights. */
static void test_weights(void **state) {
    (void)state;
    const struct example examples[] = {
        {.names = "ab", .votes = {2, 1}, .seats = 1, .want = {1, 0}},
        {.names = "ab", .votes = {2, 1}, .seats = 2, .want = {1, 1}},
        {.names = "ab", .votes = {2, 1}, .seats = 3, .want = {2, 1}},
        {.names = "abc", .votes = {170, 110, 60}, .seats = 5, .want = {2, 2, 1}},
        {.names = "abc", .votes = {170, 110, 60}, .seats = 6, .want = {3, 2, 1}},
        {.names = "a", .votes = {5}, .seats = 10, .want = {10}},
        {.names = "abc", .votes = {5, 5, 5}, .seats = 12, .want = {4, 4, 4}},
        {.names = "abc", .votes = {5, 5, 5}, .seats = 10, .want = {4, 3, 3}},
        {.names = "abc", .votes = {1, 2, 3}, .seats = 13, .want = {2, 4, 7}},
        {.names = "abc", .votes = {3, 2, 1}, .seats = 12, .want = {6, 4, 2}},
        {.names = "abc", .votes = {3, 2, 1}, .seats = 13, .want = {7, 4, 2}},
        {.names = "abc", .votes = {3, 2, 1}, .seats = 14, .want = {7, 5, 2}},
        {.names = "ab", .votes = {1, 1}, .seats = 3, .want = {2, 1}},
        {.names = "abc", .votes = {1, 1, 1}, .seats = 5, .want = {2, 2, 1}},
        {.names = "abcd", .votes = {2, 1, 1, 1}, .seats = 6, .want = {3, 1, 1, 1}},
        {.names = "abcd", .votes = {2, 1, 1, 1}, .seats = 7, .want = {3, 2, 1, 1}},
        {.names = "abcd", .votes = {2, 1, 1, 1}, .seats = 8, .want = {3, 2, 2, 1}},
        {.names = "abcd", .votes = {2, 1, 1, 1}, .seats = 9, .want = {3, 2, 2, 2}},
        {.names = "abcd", .votes = {1, 1, 1, 1}, .seats = 5, .want = {2, 1, 1, 1}},
        {.names = "abcd", .votes = {1, 1, 1, 1}, .seats = 6, .want = {2, 2, 1, 1}},
        /* nobody has votes, some have none, some have less than none */
        {.names = "abc", .votes = {0, 0, 0}, .seats = 4, .want = {2, 1, 1}},
        {.names = "abc", .votes = {0, 0, 0}, .had = {3, 0, 1}, .seats = 4, .want = {3, 3, 2}},
        {.names = "abc",
         .votes = {0, -7, 0},
         .seats = 2000000000,
         .want = {666666667, 666666667, 666666666}},
        {.names = "abc", .votes = {0, 1, -1}, .seats = 9, .want = {0, 9, 0}},
        {.names = "abc", .votes = {INT64_MIN, 1, 0}, .seats = 9, .want = {0, 9, 0}},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        expect(&examples[i]);
}

/* Names are compared as bytes, and not by where a party stands. */
static void test_ties(void **state) {
    (void)state;
    expect(&(struct example){.names = "ab", .votes = {1, 1}, .seats = 1, .want = {1, 0}});
    expect(&(struct example){.names = "ba", .votes = {1, 1}, .seats = 1, .want = {0, 1}});
    expect(&(struct example){
        .names = "ab", .votes = {1, 1}, .seats = 1, .descending = true, .want = {0, 1}});
    expect(&(struct example){
        .names = "ba", .votes = {1, 1}, .seats = 1, .descending = true, .want = {1, 0}});
    /* 3 / 3 is 1 / 1: fewer seats come before the name, whatever the direction */
    expect(&(struct example){.names = "ab", .votes = {3, 1}, .seats = 2, .want = {1, 1}});
    expect(&(struct example){
        .names = "ba", .votes = {3, 1}, .seats = 2, .descending = true, .want = {1, 1}});
    /* of one name, the first */
    expect(&(struct example){.names = "aa", .votes = {1, 1}, .seats = 3, .want = {2, 1}});
    expect(&(struct example){
        .names = "aa", .votes = {1, 1}, .seats = 3, .descending = true, .want = {2, 1}});
    /* as doubles, 2^53 + 1 is 2^53 */
    expect(&(struct example){.names = "ab",
                             .votes = {INT64_C(1) << 53, (INT64_C(1) << 53) + 1},
                             .seats = 1,
                             .want = {1, 0}});
    expect(&(struct example){.names = "ab",
                             .votes = {INT64_C(1) << 53, (INT64_C(1) << 53) + 2},
                             .seats = 1,
                             .want = {0, 1}});
}

/* The parity of the hash of some uids, as Go's hash/fnv has them. */
static void test_direction(void **state) {
    (void)state;
    assert_false(webster_descending(STR("")));
    assert_false(webster_descending(STR("a")));                                    /* e40c292c */
    assert_true(webster_descending(STR("b")));                                     /* e70c2de5 */
    assert_false(webster_descending(STR("1")));                                    /* 340ca71c */
    assert_true(webster_descending(STR("2")));                                     /* 370cabd5 */
    assert_false(webster_descending(STR("93162d3c-ee8e-4995-9034-05f4d5d2c2b9"))); /* 5b072292 */
    assert_true(webster_descending(STR("11111111-1111-1111-1111-111111111111")));  /* 3d75cc01 */
    assert_true(webster_descending(STR("d43fdeeb-d750-4e2b-bee3-64eb94534f4c")));
    assert_false(webster_descending(STR("4858ca61-3ff8-4095-8267-f3d059d8074c")));
}

/* ---- any size ---- */

static double quotient(const struct webster_party *p, int64_t seats) {
    const double votes = p->votes > 0 ? (double)p->votes : 0;
    return votes / (double)(2 * seats + 1);
}

/* Does a's seat number `of_a` (from 0) come before b's number `of_b`? */
static bool comes_first(const struct webster_party *a, int64_t of_a, const struct webster_party *b,
                        int64_t of_b, bool descending) {
    const double x = quotient(a, of_a), y = quotient(b, of_b);
    if (x != y)
        return x > y;
    if (of_a != of_b)
        return of_a < of_b;
    const int by_name = str_cmp(a->name, b->name);
    return descending ? by_name > 0 : by_name < 0;
}

static void give_naively(uint32_t count, uint32_t seats, bool descending) {
    memcpy(naive, before, count * sizeof *naive);
    for (; seats > 0; seats--) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++)
            if (comes_first(&naive[i], naive[i].seats, &naive[best], naive[best].seats, descending))
                best = i;
        naive[best].seats++;
    }
}

/*
 * Seats were given one by one exactly if they sum up, and of all that were given none comes after
 * one that was not: the last of them not after the first of these.
 */
static void check_rule(uint32_t count, uint32_t seats, bool descending) {
    uint32_t last = UINT32_MAX, next = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(parties[i].seats >= before[i].seats);
        sum += parties[i].seats - before[i].seats;
        if (parties[i].seats > before[i].seats &&
            (last == UINT32_MAX || comes_first(&parties[last], parties[last].seats - 1, &parties[i],
                                               parties[i].seats - 1, descending)))
            last = i;
        if (comes_first(&parties[i], parties[i].seats, &parties[next], parties[next].seats,
                        descending))
            next = i;
    }
    assert_int_equal(sum, seats);
    if (last != UINT32_MAX)
        assert_true(comes_first(&parties[last], parties[last].seats - 1, &parties[next],
                                parties[next].seats, descending));
}

static int64_t random_votes(uint64_t *seed, uint32_t kind) {
    switch (kind) {
    case 0:
        return 1;
    case 1:
        return unit_below(seed, 4);
    case 2:
        return 1 + unit_below(seed, 100);
    case 3: /* odd multiples: ties between quotients of different seats */
        return 105 * (1 + 2 * (int64_t)unit_below(seed, 5));
    case 4:
        return INT64_MAX - unit_below(seed, 3000);
    case 5: /* of all sizes */
        return (int64_t)(unit_random(seed) >> (1 + unit_below(seed, 63)));
    default: /* as upstream has them: of 32 bits */
        return (int64_t)(unit_random(seed) >> 33);
    }
}

static void make_random(uint64_t *seed, uint32_t count, uint32_t most_before) {
    const uint32_t kind = unit_below(seed, 7);
    for (uint32_t i = 0; i < count; i++) {
        /* 769 has no factor in common with any count of below: a permutation */
        (void)snprintf(names[i], sizeof names[i], "m%u", i * 769u % 5003u);
        before[i] = (struct webster_party){
            .name = str_of(names[i]),
            .votes = random_votes(seed, kind),
            .seats = most_before > 0 ? unit_below(seed, most_before) : 0,
        };
    }
    memcpy(parties, before, count * sizeof *parties);
}

static uint32_t wanted_cases(void) {
    const char *wish = getenv("WEBSTER_CASES");
    return wish != NULL ? (uint32_t)strtoul(wish, NULL, 10) : USUAL_CASES;
}

static void give(uint32_t count, uint32_t seats, bool descending) {
    arena_reset(&arena);
    assert_int_equal(webster_give_seats(parties, count, seats, descending, &arena, NULL), 0);
}

static void test_against_one_by_one(void **state) {
    (void)state;
    uint64_t seed = unit_seed();
    for (uint32_t n = wanted_cases(); n > 0; n--) {
        const uint32_t count = 1 + unit_below(&seed, 20);
        const uint32_t seats = unit_below(&seed, 1u << (1 + unit_below(&seed, 10)));
        const bool descending = unit_below(&seed, 2) == 1;
        make_random(&seed, count, unit_below(&seed, 3) == 0 ? 1 + unit_below(&seed, 50) : 0);
        give_naively(count, seats, descending);
        give(count, seats, descending);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(parties[i].seats, naive[i].seats);
    }
}

static void test_against_rule(void **state) {
    (void)state;
    uint64_t seed = unit_seed();
    for (uint32_t n = wanted_cases() / 10; n > 0; n--) {
        const uint32_t count = 1 + unit_below(&seed, 1u << (1 + unit_below(&seed, 9)));
        const uint32_t seats = (uint32_t)(unit_random(&seed) >> (33 + unit_below(&seed, 20)));
        const bool descending = unit_below(&seed, 2) == 1;
        make_random(&seed, count, unit_below(&seed, 3) == 0 ? 1 + unit_below(&seed, INT32_MAX) : 0);
        give(count, seats, descending);
        check_rule(count, seats, descending);
    }
}

/* As many replicas as there can be, over a whole fleet, for some ten looks at a cluster. */
static void test_most_replicas(void **state) {
    (void)state;
    uint64_t seed = unit_seed();
    for (uint32_t kind = 0; kind < 20; kind++) {
        make_random(&seed, MOST_PARTIES, 0);
        arena.steps = (struct steps){.max = 100 * MOST_PARTIES};
        give(MOST_PARTIES, kind % 2 == 0 ? INT32_MAX : 2000000000, kind % 3 == 0);
        check_rule(MOST_PARTIES, kind % 2 == 0 ? INT32_MAX : 2000000000, kind % 3 == 0);
    }
    arena.steps = (struct steps){.max = 0};
}

/* ---- budgets ---- */

static void test_steps(void **state) {
    (void)state;
    uint64_t seed = 1;
    struct err err;
    make_random(&seed, 100, 0);
    arena.steps = (struct steps){.max = 0};
    give(100, 1000, false);
    const uint64_t needed = arena.steps.used;
    for (uint64_t max = 1; max < needed; max++) {
        arena_reset(&arena);
        memcpy(parties, before, sizeof parties);
        arena.steps = (struct steps){.max = max};
        assert_int_equal(webster_give_seats(parties, 100, 1000, false, &arena, &err), -E2BIG);
    }
    memcpy(parties, before, sizeof parties);
    arena.steps = (struct steps){.max = needed};
    give(100, 1000, false);
    check_rule(100, 1000, false);
    arena.steps = (struct steps){.max = 0};
}

static void test_memory(void **state) {
    (void)state;
    struct arena small;
    struct err err;
    uint64_t seed = 1;
    make_random(&seed, 100, 0);
    arena_init(&small, 64);
    assert_int_equal(webster_give_seats(parties, 100, 10, false, &small, &err), -ENOMEM);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),     cmocka_unit_test(test_seats_before),
        cmocka_unit_test(test_weights),      cmocka_unit_test(test_ties),
        cmocka_unit_test(test_direction),    cmocka_unit_test(test_against_one_by_one),
        cmocka_unit_test(test_against_rule), cmocka_unit_test(test_most_replicas),
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
