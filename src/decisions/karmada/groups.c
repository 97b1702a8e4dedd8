/*
 * Finds the combination of groups that upstream's selectGroups() chooses, without trying all.
 *
 * Upstream sorts the groups by value (ascending), weight (descending) and name, walks all sequences
 * of them depth first, and records a sequence as soon as it has `min` groups and their values reach
 * the target; it does not extend recorded ones. So a set is recorded if and only if it has min to
 * max groups, its values reach the target, and, if it has more than min groups, the values do not
 * reach the target without its last group. The best of these sets has the largest sum of weights;
 * among equal sums of weights, the largest sum of values; among equal sets, it is the first one in
 * the order of sequences. The best set is then sorted by weight and name, and cut to its shortest
 * prefix that is also recorded.
 *
 * The search walks the same sequences in the same order, and skips sequences that cannot become
 * better than the best set so far: it decides exactly whether the target can still be reached (by
 * the groups of the largest values, which come last), and bounds the weight of a sequence by the
 * largest weights that are left. If many groups have nearly the same weight, that bound is weak.
 * Then a table over (next group, groups taken, value missing) is used, if it is small enough. It is
 * exact, and nearly always small, since values are numbers of clusters.
 *
 * upstream: karmada pkg/scheduler/core/spreadconstraint/select_groups.go.
 */
#include "karmada/select.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* The number of nodes that the walk visits before a table of at most `cells` is tried: some
 * milliseconds, then some tenths of a second; a table of 8,000,000 takes some 30 ms. */
static const struct {
    uint64_t nodes, cells;
} rounds[] = {{200000, 8000000}, {2000000, 64000000}, {20000000, 0}};
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

enum { BOUND_CELLS = 1000000 }; /* number of kept sums of the largest weights */

struct worth {
    __int128 weight, value;
};

struct search {
    const struct group_item **items; /* [count]: the items in the order of upstream's walk */
    uint32_t count;
    uint32_t min, depth; /* number of groups in the smallest and in the largest recorded set */
    int64_t target;
    struct arena *arena;

    /* bounds */
    __int128 *value_sums; /* [count + 1]: [n]: sum of the values of the last n items */
    __int128 *top;      /* [][depth + 1]: sums of the largest weights behind every stride-th item */
    uint32_t *positive; /* [count + 1]: number of items with a positive weight from here on */
    uint32_t stride;

    /* the walk: the taken items, with the sums before each */
    uint32_t *taken; /* [depth + 1]: indices of the taken items */
    uint32_t *next;  /* [depth + 1]: the item that is tried next at a depth */
    struct worth *sums;
    uint32_t at;

    bool found;
    struct worth best;
    uint32_t *chosen; /* [depth]: the best set so far */
    uint32_t chosen_count;
};

static bool better(struct worth a, struct worth b) {
    return a.weight != b.weight ? a.weight > b.weight : a.value > b.value;
}

static struct worth worth_add(struct worth sum, const struct group_item *item) {
    return (struct worth){sum.weight + item->weight, sum.value + item->value};
}

static int compare_items(const void *left, const void *right) {
    const struct group_item *a = *(const struct group_item *const *)left;
    const struct group_item *b = *(const struct group_item *const *)right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    const int by_name = str_cmp(a->name, b->name);
    return by_name != 0 ? by_name : (a > b) - (a < b);
}

/* Compares in the order of a result. */
static int compare_weights(const void *left, const void *right) {
    const struct group_item *a = *(const struct group_item *const *)left;
    const struct group_item *b = *(const struct group_item *const *)right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    const int by_name = str_cmp(a->name, b->name);
    return by_name != 0 ? by_name : (a > b) - (a < b);
}

/* ---- bounds ---- */

/* Returns the length of the longest sequence, which takes the smallest values first. */
static uint32_t find_depth(const struct search *s, uint32_t max) {
    __int128 sum = 0;
    for (uint32_t i = 0; i < max; i++) {
        if (i >= s->min && sum >= s->target)
            return i;
        sum += s->items[i]->value;
    }
    return max;
}

/* Inserts a weight into the sorted list of the `depth` largest weights, which has *count items so
 * far. */
static void keep_largest(int64_t *largest, uint32_t *count, uint32_t depth, int64_t weight) {
    uint32_t i = *count;
    if (i == depth) {
        if (largest[depth - 1] >= weight)
            return;
        i--;
    } else
        ++*count;
    for (; i > 0 && largest[i - 1] < weight; i--)
        largest[i] = largest[i - 1];
    largest[i] = weight;
}

static bool make_bounds(struct search *s) {
    const uint32_t n = s->count, width = s->depth + 1;
    const uint64_t cells = ((uint64_t)n + 1) * width;
    s->stride = (uint32_t)(cells / BOUND_CELLS) + 1;
    if (!steps_take(&s->arena->steps, cells))
        return false;
    s->top = arena_array_unset(s->arena, (size_t)(n / s->stride + 1) * width, sizeof *s->top);
    s->positive = arena_array(s->arena, (size_t)n + 1, sizeof *s->positive);
    s->value_sums = arena_array(s->arena, (size_t)n + 1, sizeof *s->value_sums);
    int64_t *largest = arena_array_unset(s->arena, s->depth, sizeof *largest);
    if (arena_failed(s->arena))
        return false;
    uint32_t count = 0;
    for (uint32_t i = n + 1; i-- > 0;) {
        if (i < n) {
            keep_largest(largest, &count, s->depth, s->items[i]->weight);
            s->positive[i] = s->positive[i + 1] + (s->items[i]->weight > 0);
            s->value_sums[n - i] = s->value_sums[n - i - 1] + s->items[i]->value;
        }
        if (i % s->stride != 0)
            continue;
        __int128 *row = s->top + (size_t)(i / s->stride) * width;
        row[0] = 0;
        for (uint32_t k = 1; k < width; k++)
            row[k] = row[k - 1] + (k <= count ? largest[k - 1] : 0);
    }
    return true;
}

/* Returns an upper bound for the sum of weights of `least` to `most` items, from item `from` on. */
static __int128 weight_bound(const struct search *s, uint32_t from, uint32_t least, uint32_t most) {
    const uint32_t block = from / s->stride;
    uint32_t take = s->positive[block * s->stride];
    take = take < least ? least : take > most ? most : take;
    return s->top[(size_t)block * (s->depth + 1) + take];
}

/* Can the taken items, with at least one more item from `from` on, be recorded, and be better than
 * the best set so far? If not, the same is true for every later `from`. */
static bool is_promising(const struct search *s, uint32_t from) {
    const uint32_t left = s->count - from, room = s->depth - s->at;
    const uint32_t most = left < room ? left : room;
    const uint32_t least = s->min > s->at + 1 ? s->min - s->at : 1;
    const struct worth sum = s->sums[s->at];
    if (most < least || sum.value + s->value_sums[most] < s->target)
        return false;
    if (!s->found)
        return true;
    const __int128 weight = sum.weight + weight_bound(s, from, least, most);
    if (weight != s->best.weight)
        return weight > s->best.weight;
    /* at best equally heavy: with exactly min items, or with one that reaches the target */
    __int128 value = sum.value + s->value_sums[most];
    const __int128 beyond = (__int128)s->target - 1 + s->items[s->count - 1]->value;
    if (s->at >= s->min && value > beyond)
        value = beyond;
    return value > s->best.value;
}

/* ---- the walk ---- */

static void record(struct search *s, uint32_t count) {
    if (s->found && !better(s->sums[count], s->best))
        return;
    s->found = true;
    s->best = s->sums[count];
    s->chosen_count = count;
    memcpy(s->chosen, s->taken, count * sizeof *s->chosen);
}

/* Walks on, over at most `nodes` nodes. Returns 1 after the last sequence, 0 before it, or
 * -E2BIG. */
static int walk(struct search *s, uint64_t nodes) {
    for (uint64_t n = 0; n < nodes; n++) {
        if (!steps_take(&s->arena->steps, 1))
            return -E2BIG;
        const uint32_t i = s->next[s->at];
        if (i >= s->count || !is_promising(s, i)) {
            if (s->at == 0)
                return 1;
            s->at--;
            continue;
        }
        s->next[s->at]++;
        s->taken[s->at] = i;
        s->sums[s->at + 1] = worth_add(s->sums[s->at], s->items[i]);
        const uint32_t count = s->at + 1;
        if (count >= s->min && s->sums[count].value >= s->target)
            record(s, count);
        else if (count < s->depth) {
            s->next[count] = i + 1;
            s->at = count;
        }
    }
    return 0;
}

/* ---- the table ---- */

/*
 * The best addition from an item on, for each number of items taken so far and each missing part of
 * the target. The table is filled from the last item to the first; it keeps one row for each number
 * of items taken. A bit for each cell is set if the item is taken; if it makes no difference, the
 * item is taken.
 */
struct table {
    struct worth *cells; /* [depth + 1][target + 1] */
    uint64_t *bits;      /* [count][depth][target + 1] */
    size_t width;        /* target + 1 */
};
#define NOTHING ((__int128)((unsigned __int128)1 << 127)) /* the weight that means: no set */

static bool is_recorded(const struct search *s, uint32_t taken, size_t missing) {
    return missing == 0 && taken >= s->min;
}

static size_t table_bit(const struct search *s, const struct table *t, uint32_t item,
                        uint32_t taken, size_t missing) {
    return ((size_t)item * s->depth + taken) * t->width + missing;
}

static size_t missing_after(size_t missing, int64_t value) {
    return (uint64_t)value < missing ? missing - (size_t)value : 0;
}

static void fill_item(const struct search *s, struct table *t, uint32_t item) {
    for (uint32_t taken = 0; taken < s->depth; taken++)
        for (size_t missing = 0; missing < t->width; missing++) {
            struct worth *cell = &t->cells[taken * t->width + missing];
            const size_t after = missing_after(missing, s->items[item]->value);
            const struct worth rest = t->cells[(taken + 1) * t->width + after];
            if (is_recorded(s, taken, missing) || rest.weight == NOTHING)
                continue;
            const struct worth with = worth_add(rest, s->items[item]);
            if (cell->weight != NOTHING && better(*cell, with))
                continue;
            *cell = with;
            const size_t bit = table_bit(s, t, item, taken, missing);
            t->bits[bit / 64] |= UINT64_C(1) << bit % 64;
        }
}

static void choose_from_table(struct search *s, const struct table *t) {
    size_t missing = t->width - 1;
    uint32_t taken = 0;
    for (uint32_t i = 0; !is_recorded(s, taken, missing); i++) {
        assert(i < s->count); /* the walk found that there is a set */
        const size_t bit = table_bit(s, t, i, taken, missing);
        if ((t->bits[bit / 64] >> bit % 64 & 1) == 0)
            continue;
        s->chosen[taken++] = i;
        missing = missing_after(missing, s->items[i]->value);
    }
    s->chosen_count = taken;
}

/* Returns 1: done; 0: the table would be too large; or -errno. */
static int try_table(struct search *s, uint64_t most) {
    const __int128 cells = ((__int128)s->target + 1) * s->count * s->depth;
    if (cells > most)
        return 0;
    if (!steps_take(&s->arena->steps, (uint64_t)cells))
        return -E2BIG;
    struct table t = {.width = (size_t)s->target + 1};
    t.cells = arena_array_unset(s->arena, (s->depth + 1) * t.width, sizeof *t.cells);
    t.bits = arena_array(s->arena, (size_t)cells / 64 + 1, sizeof *t.bits);
    if (arena_failed(s->arena))
        return -ENOMEM;
    for (uint32_t taken = 0; taken <= s->depth; taken++)
        for (size_t missing = 0; missing < t.width; missing++)
            t.cells[taken * t.width + missing] =
                (struct worth){is_recorded(s, taken, missing) ? 0 : NOTHING, 0};
    for (uint32_t i = s->count; i-- > 0;)
        fill_item(s, &t, i);
    choose_from_table(s, &t);
    return 1;
}

/* ---- the whole ---- */

/* Cuts the best set, sorted by weight and name, to the shortest prefix that is recorded: a prefix
 * that reaches the target. Without its last group the prefix misses the target, because the best
 * set without its last group misses it, too. */
static void cut_prefix(struct search *s, const struct group_item **best) {
    __int128 sum = 0;
    for (uint32_t i = 0; i < s->chosen_count; i++)
        best[i] = s->items[s->chosen[i]];
    qsort(best, s->chosen_count, sizeof(void *), compare_weights);
    for (uint32_t i = 1; i < s->chosen_count; i++) {
        sum += best[i - 1]->value;
        if (i >= s->min && sum >= s->target) {
            s->chosen_count = i;
            return;
        }
    }
}

static int search(struct search *s) {
    for (size_t i = 0; i < ROUNDS; i++) {
        int r = walk(s, rounds[i].nodes);
        if (r == 0)
            r = try_table(s, rounds[i].cells);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    return -E2BIG;
}

/* Is there a recorded set, and is a search needed? */
static bool may_be_found(const struct search *s, int64_t max) {
    __int128 sum = 0;
    const uint32_t most = max < s->count ? (uint32_t)max : s->count;
    if (most == 0 || most < s->min || (s->min == 0 && s->target <= 0))
        return false; /* the empty set is recorded, and chosen */
    for (uint32_t i = s->count - most; i < s->count; i++)
        sum += s->items[i]->value;
    return sum >= s->target;
}

static int search_init(struct search *s, int64_t max) {
    s->depth = find_depth(s, max < s->count ? (uint32_t)max : s->count);
    s->taken = arena_array(s->arena, (size_t)s->depth + 1, sizeof *s->taken);
    s->next = arena_array(s->arena, (size_t)s->depth + 1, sizeof *s->next);
    s->sums = arena_array(s->arena, (size_t)s->depth + 1, sizeof *s->sums);
    s->chosen = arena_array(s->arena, s->depth, sizeof *s->chosen);
    if (!make_bounds(s))
        return arena_failed(s->arena) ? -ENOMEM : -E2BIG;
    return 0;
}

int karmada_groups_choose(const struct group_item *items, uint32_t count, int64_t min, int64_t max,
                          int64_t target, struct arena *arena, const uint32_t **ret,
                          uint32_t *ret_count, struct err *err) {
    struct search s = {.count = count, .target = target < 0 ? 0 : target, .arena = arena};
    const uint32_t *none = NULL;
    *ret = none;
    *ret_count = 0;
    if (min > count)
        return 0;
    s.min = (uint32_t)min;
    s.items = arena_array_unset(arena, count, sizeof(void *));
    if (s.items == NULL)
        return err_set(err, -ENOMEM, "groups: out of memory");
    if (!steps_take_sort(&arena->steps, count))
        return err_set(err, -E2BIG, "groups: too many to be searched");
    for (uint32_t i = 0; i < count; i++)
        s.items[i] = &items[i];
    qsort(s.items, count, sizeof(void *), compare_items);
    if (!may_be_found(&s, max))
        return 0;
    int r = search_init(&s, max);
    if (r == 0)
        r = search(&s);
    if (r != 0)
        return err_set(err, r, "groups: %s",
                       r == -ENOMEM ? "out of memory" : "too many combinations to be searched");
    const struct group_item **best = arena_array_unset(arena, s.depth, sizeof(void *));
    uint32_t *indices = arena_array_unset(arena, s.depth, sizeof *indices);
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "groups: out of memory");
    cut_prefix(&s, best);
    for (uint32_t i = 0; i < s.chosen_count; i++)
        indices[i] = (uint32_t)(best[i] - items);
    *ret = indices;
    *ret_count = s.chosen_count;
    return 0;
}
