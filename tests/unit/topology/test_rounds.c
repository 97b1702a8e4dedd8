/*
 * Rounds against the rule itself, worked out anew in every round from the slots alone: what a hard
 * term forbids, which score a candidate has, who wins.
 */
#include "topology/rounds.h"

#include "unit/unit.h"

enum { SLOTS = 24, LEVELS = 3, PREFIXES = 1 + SLOTS * LEVELS, CASES = 4000 };

struct fixture {
    struct arena arena;
    struct prefix_tree made;
    uint32_t leaf_of[SLOTS], parents[PREFIXES];
    struct ordered_term terms[LEVELS];
    struct ordered_domains d;
    /* the question */
    uint32_t count, term_count;
    uint32_t place[SLOTS][LEVELS];
    int64_t worth[SLOTS]; /* of a candidate; the lower slot of two that are worth the same wins */
    int64_t before[SLOTS];
    bool taken[SLOTS], absent[SLOTS]; /* absent: counts in its domains, but is no candidate */
    uint32_t left[PREFIXES];
};

/* ---- the rule ---- */

static bool is_below(const struct fixture *f, uint32_t slot, uint32_t other, uint32_t depth) {
    for (uint32_t t = 0; t < depth; t++)
        if (f->place[slot][t] != f->place[other][t])
            return false;
    return true;
}

/* What is in the domain of a slot under the first `depth` terms. */
static int64_t count_of(const struct fixture *f, uint32_t slot, uint32_t depth) {
    int64_t count = 0;
    for (uint32_t i = 0; i < f->count; i++)
        if (is_below(f, slot, i, depth))
            count += f->before[i] + f->taken[i];
    return count;
}

struct siblings {
    int64_t least, most;
    uint32_t domains;
};

/* Of the slot's domain under term t, which is one of them. */
static struct siblings siblings_of(const struct fixture *f, uint32_t slot, uint32_t t) {
    struct siblings s = {INT64_MAX, INT64_MIN, 0};
    for (uint32_t i = 0; i < f->count; i++) {
        bool first = is_below(f, slot, i, t);
        for (uint32_t k = 0; k < i; k++)
            first = first && !is_below(f, i, k, t + 1);
        if (!first)
            continue;
        const int64_t count = count_of(f, i, t + 1);
        s.least = count < s.least ? count : s.least;
        s.most = count > s.most ? count : s.most;
        s.domains++;
    }
    return s;
}

static bool naive_allowed(const struct fixture *f, uint32_t slot) {
    for (uint32_t t = 0; t < f->term_count; t++) {
        const struct siblings s = siblings_of(f, slot, t);
        const int64_t least = s.domains < f->terms[t].min_domains ? 0 : s.least;
        if (f->terms[t].hard && count_of(f, slot, t + 1) + 1 - least > f->terms[t].max_skew)
            return false;
    }
    return true;
}

static int64_t naive_score(const struct fixture *f, uint32_t slot) {
    int64_t score = 0;
    for (uint32_t t = 0; t < f->term_count; t++) {
        const struct siblings s = siblings_of(f, slot, t);
        score *= 64;
        if (s.most > s.least)
            score += 63 * (s.most - count_of(f, slot, t + 1)) / (s.most - s.least);
    }
    return score;
}

/* weight 0: the highest score, then what is worth most; otherwise the highest sum of both. */
static uint32_t naive_winner(const struct fixture *f, int64_t weight) {
    uint32_t best = SLOTS;
    int64_t best_first = 0, best_second = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->taken[i] || f->absent[i] || !naive_allowed(f, i))
            continue;
        const int64_t score = naive_score(f, i);
        const int64_t first = weight == 0 ? score : weight * score + f->worth[i];
        const int64_t second = weight == 0 ? f->worth[i] : 0;
        if (best == SLOTS || first > best_first || (first == best_first && second > best_second)) {
            best = i;
            best_first = first;
            best_second = second;
        }
    }
    return best;
}

/* ---- what is tested ---- */

/* The best candidate that a leaf has left, or SLOTS. */
static uint32_t best_of(const struct fixture *f, uint32_t leaf) {
    uint32_t best = SLOTS;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->leaf_of[i] == leaf && !f->taken[i] && !f->absent[i] &&
            (best == SLOTS || f->worth[i] > f->worth[best]))
            best = i;
    return best;
}

static bool is_better(const void *ctx, uint32_t a, uint32_t b) {
    const struct fixture *f = ctx;
    const uint32_t left = best_of(f, a), right = best_of(f, b);
    assert_int_not_equal(left, SLOTS); /* nobody asks for what is used up */
    assert_int_not_equal(right, SLOTS);
    return f->worth[left] != f->worth[right] ? f->worth[left] > f->worth[right] : left < right;
}

static void plant(struct fixture *f) {
    arena_reset(&f->arena);
    assert_int_equal(prefix_tree_init(&f->made, &f->arena), 0);
    for (uint32_t slot = 0; slot < f->count; slot++) {
        f->leaf_of[slot] = PREFIX_ROOT;
        for (uint32_t t = 0; t < f->term_count; t++)
            f->leaf_of[slot] = prefix_make(&f->made, f->leaf_of[slot], f->place[slot][t]);
    }
    for (uint32_t i = 0; i < f->made.count; i++)
        f->parents[i] = f->made.items[i].parent;
    f->d = (struct ordered_domains){
        .terms = f->terms,
        .term_count = f->term_count,
        .tree = {.leaf_of = f->leaf_of, .parents = f->parents, .count = f->made.count},
        .arena = &f->arena,
        .items = arena_array(&f->arena, f->made.count, sizeof(struct ordered_count))};
    assert_non_null(f->d.items);
    for (uint32_t slot = 0; slot < f->count; slot++) {
        ordered_domains_include(&f->d, slot);
        ordered_domains_add(&f->d, slot, f->before[slot]);
    }
    ordered_domains_settle(&f->d);
}

static void begin(struct fixture *f, enum rounds_order order, struct rounds *ret) {
    const struct rounds_candidates candidates = {is_better, f, f->left};
    plant(f);
    memset(f->taken, 0, sizeof f->taken);
    memset(f->left, 0, sizeof f->left);
    for (uint32_t slot = 0; slot < f->count; slot++)
        f->left[f->leaf_of[slot]] += !f->absent[slot];
    assert_int_equal(rounds_init(ret, &f->d, order, &candidates, &f->arena), 0);
}

static void take(struct fixture *f, struct rounds *r, uint32_t slot) {
    f->taken[slot] = true;
    f->left[f->leaf_of[slot]]--;
    rounds_take(r, f->leaf_of[slot]);
}

/* The winner's slot, or SLOTS. */
static uint32_t winner(const struct fixture *f, struct rounds *r, int64_t weight) {
    struct rounds_choice choices[PREFIXES];
    uint32_t best = PREFIX_NONE;
    int64_t best_sum = 0;
    if (weight == 0) {
        best = rounds_best(r);
        return best == PREFIX_NONE ? SLOTS : best_of(f, best);
    }
    const uint32_t count = rounds_choices(r, choices);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = best_of(f, choices[i].leaf);
        assert_int_equal(choices[i].score, naive_score(f, slot));
        const int64_t sum = weight * choices[i].score + f->worth[slot];
        if (best == PREFIX_NONE || sum > best_sum || (sum == best_sum && slot < best_of(f, best))) {
            best = choices[i].leaf;
            best_sum = sum;
        }
    }
    return best == PREFIX_NONE ? SLOTS : best_of(f, best);
}

static void expect_skews(const struct fixture *f) {
    int64_t skews[ORDERED_TERMS];
    ordered_domains_skews(&f->d, skews);
    for (uint32_t t = 0; t < f->term_count; t++) {
        int64_t want = 0;
        for (uint32_t i = 0; i < f->count; i++) {
            const struct siblings s = siblings_of(f, i, t);
            const int64_t skew = s.most - (s.domains < f->terms[t].min_domains ? 0 : s.least);
            want = skew > want ? skew : want;
        }
        assert_int_equal(skews[t], want);
    }
}

static void play(struct fixture *f, int64_t weight) {
    struct rounds r;
    begin(f, weight == 0 ? ROUNDS_BY_SCORE : ROUNDS_WEIGHED, &r);
    for (;;) {
        const uint32_t want = naive_winner(f, weight);
        assert_int_equal(winner(f, &r, weight), want);
        if (want == SLOTS)
            break;
        take(f, &r, want);
        expect_skews(f);
    }
}

static void random_question(struct fixture *f, uint64_t *random) {
    static const int64_t spans[] = {1, 1, 3, 10, 400};
    const int64_t span = spans[unit_below(random, 5)];
    const bool some_absent = unit_below(random, 3) == 0;
    f->count = 1 + unit_below(random, SLOTS);
    f->term_count = unit_below(random, LEVELS + 1);
    for (uint32_t t = 0; t < f->term_count; t++)
        f->terms[t] = (struct ordered_term){.hard = unit_below(random, 2) == 0,
                                            .max_skew = 1 + unit_below(random, 3),
                                            .min_domains = unit_below(random, 5)};
    for (uint32_t i = 0; i < f->count; i++) {
        for (uint32_t t = 0; t < LEVELS; t++)
            f->place[i][t] = unit_below(random, 2 + t);
        f->worth[i] = unit_below(random, 4);
        f->before[i] = unit_below(random, 3) == 0 ? unit_below(random, (uint32_t)span) : 0;
        f->absent[i] = some_absent && unit_below(random, 2) == 0;
    }
}

static void by_score(void **state) {
    struct fixture *f = *state;
    uint64_t random = unit_seed();
    for (uint32_t i = 0; i < CASES; i++) {
        random_question(f, &random);
        play(f, 0);
    }
}

static void weighed(void **state) {
    struct fixture *f = *state;
    uint64_t random = unit_seed();
    for (uint32_t i = 0; i < CASES; i++) {
        random_question(f, &random);
        const uint32_t weight = 1 + unit_below(&random, 3);
        play(f, unit_below(&random, 4) == 0 ? -(int64_t)weight : weight);
    }
}

/* Siblings that differ by more than 63: one part of the score stands for several counts. Once the
 * emptiest domain is used up, 11, 12 and 13 have the part 59 of 1 to 200, and 14 has 58. */
static void one_part_for_several_counts(void **state) {
    static const int64_t before[] = {0, 11, 13, 14, 200}, worth[] = {0, 1, 5, 9, 9};
    static const uint32_t order[] = {0, 2, 1, 3, 4};
    struct fixture *f = *state;
    struct rounds r;
    f->count = 5;
    f->term_count = 1;
    f->terms[0] = (struct ordered_term){.hard = false, .max_skew = 1};
    for (uint32_t i = 0; i < f->count; i++) {
        f->place[i][0] = i;
        f->before[i] = before[i];
        f->absent[i] = false;
        f->worth[i] = worth[i];
    }
    begin(f, ROUNDS_BY_SCORE, &r);
    for (uint32_t i = 0; i < f->count; i++) {
        assert_int_equal(rounds_best(&r), f->leaf_of[order[i]]);
        take(f, &r, order[i]);
    }
    assert_int_equal(rounds_best(&r), PREFIX_NONE);
    play(f, 0);
}

/* What is over maxSkew, one below, at and above it; minDomains at and above the number there is. */
static void over(void **state) {
    (void)state;
    const struct ordered_count parent = {.least = 2, .most = 9, .children = 3};
    struct ordered_term term = {.max_skew = 2};
    assert_int_equal(rounds_over(&term, &parent, 2), -1);
    assert_int_equal(rounds_over(&term, &parent, 3), 0);
    assert_int_equal(rounds_over(&term, &parent, 4), 1);
    term.min_domains = 3;
    assert_int_equal(rounds_over(&term, &parent, 3), 0);
    term.min_domains = 4;
    assert_int_equal(rounds_over(&term, &parent, 1), 0);
    assert_int_equal(rounds_over(&term, &parent, 2), 1);
}

/* A round looks at the path of one leaf, however many leaves there are. */
static void a_round_does_not_look_at_all_leaves(void **state) {
    struct fixture *f = *state;
    struct rounds r;
    f->count = SLOTS;
    f->term_count = 2;
    for (uint32_t i = 0; i < f->count; i++) {
        f->place[i][0] = i / 2;
        f->place[i][1] = i % 2;
        f->before[i] = f->worth[i] = 0;
        f->absent[i] = false;
    }
    f->terms[0] = f->terms[1] = (struct ordered_term){.hard = true, .max_skew = 1};
    begin(f, ROUNDS_BY_SCORE, &r);
    const uint64_t before = r.looked;
    for (uint32_t i = 0; i < SLOTS; i++) {
        take(f, &r, best_of(f, rounds_best(&r)));
    }
    assert_int_equal(rounds_best(&r), PREFIX_NONE);
    assert_in_range(r.looked - before, SLOTS, SLOTS * 4); /* two levels, two groups */
}

static void memory_may_run_out(void **state) {
    struct fixture *f = *state;
    const struct rounds_candidates candidates = {is_better, f, f->left};
    struct rounds r;
    uint64_t random = 3;
    random_question(f, &random);
    plant(f);
    struct arena none;
    arena_init(&none, 16);
    assert_int_equal(rounds_init(&r, &f->d, ROUNDS_BY_SCORE, &candidates, &none), -12);
    arena_done(&none);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(by_score),
        TEST(weighed),
        TEST(one_part_for_several_counts),
        TEST(over),
        TEST(a_round_does_not_look_at_all_leaves),
        TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
