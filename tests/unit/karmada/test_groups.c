/*
 * Combinations of groups: upstream's own table, small random questions against upstream's search
 * written down once more as slow as it is, and the largest questions that are asked of it.
 *
 * GROUP_CASES is how many random questions there are; `GROUP_CASES=1000000 TEST_SEED=1
 * test_groups`.
 */
#include "base/limits.h"
#include "karmada/select.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

enum { MOST = 11, RECORDS = 1 << MOST, USUAL_CASES = 20000 };

static struct arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, LIMIT_LINE_ARENA);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void begin(uint64_t steps) {
    arena_reset(&arena);
    arena.steps = (struct steps){.max = steps};
}

/* ---- upstream's table ---- */

struct table_case {
    const char *id;
    struct group_item items[8];
    int64_t min, max, target;
    const char *chosen; /* names with a blank behind each */
};
#define ITEM(name, value, weight)                                                                  \
    { STR(name), value, weight }

static const struct table_case table[] = {
    {"SG01", {{{NULL, 0}, 0, 0}}, 1, 2, 1, ""},
    {"SG02", {ITEM("R1", 1, 80)}, 2, 3, 1, ""},
    {"SG03", {ITEM("R1", 1, 80), ITEM("R2", 2, 30)}, 2, 3, 4, ""},
    {"SG04", {ITEM("R1", 1, 80)}, 1, 3, 1, "R1 "},
    {"SG05",
     {ITEM("R1", 1, 80), ITEM("R3", 1, 80), ITEM("R2", 1, 60), ITEM("R5", 2, 60), ITEM("R4", 5, 50),
      ITEM("R6", 3, 50)},
     1,
     3,
     10,
     "R5 R4 R6 "},
    {"SG06",
     {ITEM("R1", 1, 80), ITEM("R2", 4, 40), ITEM("R3", 1, 30), ITEM("R4", 3, 30), ITEM("R5", 3, 20),
      ITEM("R6", 5, 10)},
     2,
     6,
     5,
     "R1 R2 "},
    {"SG07",
     {ITEM("R1", 1, 60), ITEM("R2", 1, 50), ITEM("R3", 1, 40), ITEM("R4", 3, 30), ITEM("R5", 3, 20),
      ITEM("R6", 3, 10)},
     1,
     3,
     6,
     "R1 R4 R5 "},
    {"SG08",
     {ITEM("R1", 1, 60), ITEM("R2", 2, 50), ITEM("R3", 3, 40), ITEM("R4", 4, 30)},
     1,
     2,
     5,
     "R1 R4 "},
    {"SG09",
     {ITEM("R4", 1, 60), ITEM("R3", 3, 50), ITEM("R1", 3, 40), ITEM("R2", 4, 30)},
     1,
     2,
     5,
     "R3 R1 "},
    {"SG10", {ITEM("R1", 3, 10), ITEM("R2", 3, 20), ITEM("R3", 3, 30)}, 0, 0, 0, ""},
    {"SG10", {ITEM("R1", 3, 10), ITEM("R2", 3, 20), ITEM("R3", 3, 30)}, 1, 0, 1, ""},
    {"SG10", {ITEM("R1", 3, 10), ITEM("R2", 3, 20), ITEM("R3", 3, 30)}, 3, 0, 9, ""},
    /* all that there are, when as many are wanted */
    {"all", {ITEM("R1", 3, 10), ITEM("R2", 3, 20), ITEM("R3", 3, 30)}, 3, 3, 9, "R3 R2 R1 "},
    {"all", {ITEM("R1", 3, 10), ITEM("R2", 3, 20), ITEM("R3", 3, 30)}, 3, 3, 10, ""},
    {"all", {ITEM("R1", 3, 10), ITEM("R2", 3, 20), ITEM("R3", 3, 30)}, 4, 4, 9, ""},
    /* the empty set is found first, and is none */
    {"empty", {ITEM("R1", 3, 10)}, 0, 1, 0, ""},
    {"not empty", {ITEM("R1", 3, 10)}, 0, 1, 1, "R1 "},
    /* sums that 64 bits do not hold */
    {"large",
     {ITEM("R1", INT64_MAX, INT64_MAX), ITEM("R2", INT64_MAX, INT64_MAX),
      ITEM("R3", INT64_MAX, INT64_MIN)},
     2,
     2,
     INT64_MAX,
     "R1 R2 "},
    {"small", {ITEM("R1", 1, INT64_MIN), ITEM("R2", 1, INT64_MIN)}, 2, 2, 2, "R1 R2 "},
};

static void the_table_of_upstream(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct table_case *c = &table[i];
        CLEANUP(strbuf_done) struct strbuf got = {0};
        const uint32_t *chosen;
        uint32_t count = 0, chosen_count;
        struct err err;
        while (c->items[count].name.n > 0)
            count++;
        begin(0);
        assert_int_equal(karmada_groups_choose(c->items, count, c->min, c->max, c->target, &arena,
                                               &chosen, &chosen_count, &err),
                         0);
        for (uint32_t k = 0; k < chosen_count; k++)
            strbuf_appendf(&got, "%.*s ", STR_ARG(c->items[chosen[k]].name));
        print_message("# %s\n", c->id);
        assert_str(strbuf_str(&got), c->chosen);
    }
}

/* ---- upstream's search, once more ---- */

struct recorded {
    uint32_t items[MOST]; /* in the order of a result */
    uint32_t count, id;
    int64_t weight, value;
};

struct naive {
    struct group_item items[MOST]; /* by value, weight, name */
    uint32_t count;
    int64_t min, max, target;
    uint32_t path[MOST], length;
    struct recorded *records; /* [RECORDS] */
    uint32_t record_count;
};

static bool item_before(const struct group_item *a, const struct group_item *b) {
    if (a->value != b->value)
        return a->value < b->value;
    return a->weight != b->weight ? a->weight > b->weight : str_cmp(a->name, b->name) < 0;
}

static bool heavier(const struct group_item *a, const struct group_item *b) {
    return a->weight != b->weight ? a->weight > b->weight : str_cmp(a->name, b->name) < 0;
}

static void record_path(struct naive *n) {
    struct recorded *r = &n->records[n->record_count++];
    *r = (struct recorded){.count = n->length, .id = n->record_count};
    for (uint32_t i = 0; i < n->length; i++) {
        const struct group_item *item = &n->items[n->path[i]];
        uint32_t at = i;
        for (; at > 0 && heavier(item, &n->items[r->items[at - 1]]); at--)
            r->items[at] = r->items[at - 1];
        r->items[at] = n->path[i];
        r->weight += item->weight;
        r->value += item->value;
    }
}

static void naive_walk(struct naive *n, int64_t sum, uint32_t from) {
    if (sum >= n->target && n->length >= n->min && n->length <= n->max) {
        record_path(n);
        return;
    }
    if (n->length >= n->max)
        return;
    for (uint32_t i = from; i < n->count; i++) {
        n->path[n->length++] = i;
        naive_walk(n, sum + n->items[i].value, i + 1);
        if (n->count == n->min)
            return;
        n->length--;
    }
}

static int compare_records(const void *left, const void *right) {
    const struct recorded *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

static bool is_prefix(const struct recorded *prefix, const struct recorded *of) {
    return prefix->count < of->count &&
           memcmp(prefix->items, of->items, prefix->count * sizeof prefix->items[0]) == 0;
}

static const struct recorded *naive_choose(struct naive *n) {
    for (uint32_t i = 1; i < n->count; i++)
        for (uint32_t k = i; k > 0 && item_before(&n->items[k], &n->items[k - 1]); k--) {
            const struct group_item item = n->items[k];
            n->items[k] = n->items[k - 1];
            n->items[k - 1] = item;
        }
    n->length = n->record_count = 0;
    if (n->count > 0)
        naive_walk(n, 0, 0);
    if (n->record_count == 0)
        return NULL;
    qsort(n->records, n->record_count, sizeof *n->records, compare_records);
    const struct recorded *best = &n->records[0];
    for (uint32_t i = 1; i < n->record_count; i++)
        if (is_prefix(&n->records[i], best))
            best = &n->records[i];
    return best;
}

static void draw_question(struct naive *n, char names[MOST][8], uint64_t *random) {
    const uint32_t values = 1 + unit_below(random, 6), weights = 1 + unit_below(random, 4);
    const int64_t lowest = unit_below(random, 3) == 0 ? -1 : 0;
    const uint32_t unit = unit_below(random, 2) == 0 ? 1000 : 1;
    n->count = unit_below(random, MOST + 1);
    for (uint32_t i = 0; i < n->count; i++) {
        (void)snprintf(names[i], sizeof names[i], "R%u", i);
        n->items[i] = (struct group_item){
            .name = str_of(names[i]),
            .value = unit_below(random, 8) == 0 ? 0 : 1 + unit_below(random, values),
            .weight = (lowest + unit_below(random, weights)) * (int64_t)unit +
                      unit_below(random, unit_below(random, 2) == 0 ? 1 : 9),
        };
    }
    n->min = unit_below(random, 5) == 0 ? (int64_t)n->count : unit_below(random, 5);
    n->max = n->min + unit_below(random, 5) - (unit_below(random, 20) == 0 ? 1 : 0);
    n->max = n->max < 0 ? 0 : n->max;
    n->target = unit_below(random, 4 + n->count * values / 2);
}

static void as_upstream_chooses(void **state) {
    static struct recorded records[RECORDS];
    const char *wish = getenv("GROUP_CASES");
    const uint64_t cases = wish != NULL ? strtoull(wish, NULL, 10) : USUAL_CASES;
    uint64_t random = unit_seed(), none = 0, cut = 0;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct naive n = {.records = records};
        char names[MOST][8];
        struct group_item items[MOST];
        const uint32_t *chosen;
        uint32_t count;
        struct err err;
        draw_question(&n, names, &random);
        memcpy(items, n.items, sizeof items);
        begin(0);
        assert_int_equal(karmada_groups_choose(items, n.count, n.min, n.max, n.target, &arena,
                                               &chosen, &count, &err),
                         0);
        const struct recorded *want = naive_choose(&n);
        none += want == NULL;
        cut += want != NULL && want != &n.records[0];
        assert_int_equal(count, want == NULL ? 0 : want->count);
        for (uint32_t k = 0; k < count; k++)
            assert_true(str_eq(items[chosen[k]].name, n.items[want->items[k]].name));
    }
    assert_true(none > cases / 20 && none < cases / 2); /* of every sort enough */
    assert_true(cut > cases / 100);
}

/* ---- the largest ---- */

enum { MANY = 50 };

static uint32_t choose(const struct group_item *items, uint32_t count, int64_t min, int64_t max,
                       int64_t target, uint64_t steps, const uint32_t **ret) {
    uint32_t chosen_count;
    struct err err;
    begin(steps);
    assert_int_equal(
        karmada_groups_choose(items, count, min, max, target, &arena, ret, &chosen_count, &err), 0);
    return chosen_count;
}

/* Ten of thirty and five of fifty: found, or none and proven by the bound, in a few steps. The
 * more clusters a region has, the less it weighs, which the bounds like least. */
static void the_largest_questions(void **state) {
    static const uint32_t counts[] = {30, 50}, sizes[] = {10, 5};
    struct group_item items[MANY];
    char names[MANY][8];
    const uint32_t *chosen;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "R%u", i);
        items[i] = (struct group_item){str_of(names[i]), 1 + i, 100 * (MANY - i) + i * i % 7};
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t n = counts[i], k = sizes[i];
        const int64_t all = (int64_t)k * (2 * n - k + 1) / 2; /* of the k largest */
        assert_int_equal(choose(items, n, 1, k, all + 1, 10000, &chosen), 0);
        assert_int_equal(choose(items, n, k, k, all + 1, 10000, &chosen), 0);
        assert_int_equal(choose(items, n, 1, k, all, 10000, &chosen), k);
        for (uint32_t j = 0; j < k; j++)
            assert_int_equal(chosen[j], n - k + j);
        assert_int_equal(choose(items, n, 1, k, all / 2, 1000000, &chosen), k);
        assert_int_equal(choose(items, n, k, k, all / 2, 1000000, &chosen), k);
    }
}

/* Two questions where the walk would be long: the table answers as it does. Every other item is
 * worth what its size is, so that the sums of nearly all sets are alike. */
static void the_table_takes_over(void **state) {
    struct group_item items[MANY];
    char names[MANY][8];
    const uint32_t *chosen;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "R%02u", i);
        items[i] = (struct group_item){str_of(names[i]), 2 + 2 * i, 0};
    }
    /* all weigh the same: the largest values are the best, and found last */
    assert_int_equal(choose(items, MANY, 5, 5, 3, 4000000, &chosen), 5);
    for (uint32_t j = 0; j < 5; j++)
        assert_int_equal(chosen[j], MANY - 5 + j);
    /* with up to six: those that reach the target with their last one, and by most */
    const uint32_t count = choose(items, MANY, 1, 6, 303, 4000000, &chosen);
    static const uint32_t want[] = {0, 5, 46, 47, 48, 49}; /* 2 12 94 96 98, and 100: the first */
    assert_int_equal(count, 6);
    assert_memory_equal(chosen, want, sizeof want);
}

static void what_is_too_large(void **state) {
    static struct group_item items[2000];
    static char names[2000][8];
    uint64_t random = unit_seed();
    const uint32_t *chosen;
    uint32_t count;
    struct err err;
    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        (void)snprintf(names[i], sizeof names[i], "R%u", i);
        const uint32_t value = unit_below(&random, 1000000000);
        items[i] = (struct group_item){str_of(names[i]), value, value};
    }
    begin(3000000);
    assert_int_equal(
        karmada_groups_choose(items, 2000, 1, 1000, 100000000000, &arena, &chosen, &count, &err),
        -E2BIG);
    assert_string_equal(err.text, "groups: too many combinations to be searched");
    arena_reset(&arena);
    arena.steps = (struct steps){.max = 0};
    arena.max = 1000;
    assert_int_equal(
        karmada_groups_choose(items, 2000, 1, 1000, 100000, &arena, &chosen, &count, &err),
        -ENOMEM);
    arena.max = LIMIT_LINE_ARENA;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_upstream), cmocka_unit_test(as_upstream_chooses),
        cmocka_unit_test(the_largest_questions), cmocka_unit_test(the_table_takes_over),
        cmocka_unit_test(what_is_too_large),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
