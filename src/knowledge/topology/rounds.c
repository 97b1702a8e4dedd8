#include "topology/rounds.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { NO_GROUP = UINT32_MAX };
enum { FORBIDDEN = -1 }; /* score of a prefix that may not be taken */

struct rounds_prefix {
    int64_t score;   /* BY_SCORE: score of `best` by the terms below; WEIGHED: by those above */
    uint32_t best;   /* the leaf to take from; PREFIX_NONE: no leaf may be taken */
    uint32_t term;   /* the term that the children are domains of; term_count: the prefix is a
                        leaf */
    uint32_t groups; /* the first of its children's groups, sorted by count */
    uint32_t group;  /* the group that it is in, among its parent's groups */
    uint32_t first_below, next; /* links of the heap of that group */
};

struct rounds_group {
    int64_t count;
    uint32_t top; /* PREFIX_NONE: the group is free */
    uint32_t previous, next;
};

/* ---- the heap of a group: a pairing heap ---- */

static bool is_better(const struct rounds *r, uint32_t a, uint32_t b) {
    const struct rounds_prefix *left = &r->prefixes[a], *right = &r->prefixes[b];
    if (r->order == ROUNDS_BY_SCORE && left->score != right->score)
        return left->score > right->score;
    return r->candidates.better(r->candidates.ctx, left->best, right->best);
}

/* Merges two heaps. Returns the top. */
static uint32_t meld(struct rounds *r, uint32_t a, uint32_t b) {
    if (a == PREFIX_NONE)
        return b;
    const uint32_t top = is_better(r, a, b) ? a : b, below = top == a ? b : a;
    r->prefixes[below].next = r->prefixes[top].first_below;
    r->prefixes[top].first_below = below;
    return top;
}

/* Returns the heap without its top. Merges pairs of heaps, and then the results: O(log) on average.
 */
static uint32_t without_top(struct rounds *r, uint32_t top) {
    uint32_t pairs = PREFIX_NONE, left = r->prefixes[top].first_below, rest = PREFIX_NONE;
    while (left != PREFIX_NONE) {
        const uint32_t first = left, second = r->prefixes[first].next;
        left = second == PREFIX_NONE ? PREFIX_NONE : r->prefixes[second].next;
        const uint32_t pair = second == PREFIX_NONE ? first : meld(r, first, second);
        r->prefixes[pair].next = pairs;
        pairs = pair;
    }
    while (pairs != PREFIX_NONE) {
        const uint32_t next = r->prefixes[pairs].next;
        rest = meld(r, rest, pairs);
        pairs = next;
    }
    r->prefixes[top].first_below = PREFIX_NONE;
    return rest;
}

/* ---- groups ---- */

/* Makes a group in front of `next`, after `previous`. There are as many groups as prefixes. */
static uint32_t make_group(struct rounds *r, uint32_t parent, int64_t count, uint32_t previous,
                           uint32_t next) {
    const uint32_t id = r->free_group;
    r->free_group = r->groups[id].next;
    r->groups[id] = (struct rounds_group){count, PREFIX_NONE, previous, next};
    if (previous == NO_GROUP)
        r->prefixes[parent].groups = id;
    else
        r->groups[previous].next = id;
    if (next != NO_GROUP)
        r->groups[next].previous = id;
    return id;
}

static void free_group(struct rounds *r, uint32_t parent, uint32_t id) {
    const struct rounds_group *group = &r->groups[id];
    if (group->previous == NO_GROUP)
        r->prefixes[parent].groups = group->next;
    else
        r->groups[group->previous].next = group->next;
    if (group->next != NO_GROUP)
        r->groups[group->next].previous = group->previous;
    r->groups[id].next = r->free_group;
    r->free_group = id;
}

static void join_group(struct rounds *r, uint32_t id, uint32_t child) {
    r->groups[id].top = meld(r, r->groups[id].top, child);
    r->prefixes[child].group = id;
}

/* Moves a child to its next group after one more candidate was counted below it. The child must
 * be the top of its present group. */
static void move_child(struct rounds *r, uint32_t parent, uint32_t child) {
    const uint32_t id = r->prefixes[child].group;
    assert(r->groups[id].top == child); /* rounds_best() or rounds_choices() returned it */
    r->groups[id].top = without_top(r, child);
    if (r->prefixes[child].best != PREFIX_NONE) {
        const int64_t count = r->domains->items[child].count;
        uint32_t next = r->groups[id].next;
        if (next == NO_GROUP || r->groups[next].count != count)
            next = make_group(r, parent, count, id, next);
        join_group(r, next, child);
    }
    if (r->groups[id].top == PREFIX_NONE)
        free_group(r, parent, id);
}

/* ---- the best leaf ---- */

static bool is_allowed(const struct rounds *r, uint32_t parent, int64_t count) {
    const struct ordered_term *term = &r->domains->terms[r->prefixes[parent].term];
    return !term->hard || rounds_over(term, &r->domains->items[parent], count) <= 0;
}

/* Finds a parent's best leaf: the groups at the front have the highest part of the score, and
 * forbidden groups come last. */
static void find_best(struct rounds *r, uint32_t parent) {
    struct rounds_prefix *own = &r->prefixes[parent];
    const struct ordered_count *counts = &r->domains->items[parent];
    uint32_t best = PREFIX_NONE;
    int64_t part = 0;
    for (uint32_t id = own->groups; id != NO_GROUP; id = r->groups[id].next) {
        const struct rounds_group *group = &r->groups[id];
        r->looked++;
        if (!is_allowed(r, parent, group->count))
            break;
        if (best != PREFIX_NONE && ordered_part(counts, group->count) != part)
            break;
        part = ordered_part(counts, group->count);
        if (best == PREFIX_NONE || is_better(r, group->top, best))
            best = group->top;
    }
    own->best = best == PREFIX_NONE ? PREFIX_NONE : r->prefixes[best].best;
    if (best != PREFIX_NONE)
        own->score = r->prefixes[best].score |
                     part << ORDERED_TERM_BITS * (r->domains->term_count - 1 - own->term);
}

uint32_t rounds_best(const struct rounds *r) {
    assert(r->order == ROUNDS_BY_SCORE);
    return r->prefixes[PREFIX_ROOT].best;
}

/* ---- all leaves that can win ---- */

static void score_inner(struct rounds *r, uint32_t prefix) {
    const uint32_t parent = r->domains->tree.parents[prefix];
    const int64_t count = r->domains->items[prefix].count;
    const int64_t above = r->prefixes[parent].score;
    const bool allowed = above != FORBIDDEN && is_allowed(r, parent, count);
    r->prefixes[prefix].score =
        allowed ? above << ORDERED_TERM_BITS | ordered_part(&r->domains->items[parent], count)
                : FORBIDDEN;
}

uint32_t rounds_choices(struct rounds *r, struct rounds_choice *ret) {
    uint32_t count = 0;
    assert(r->order == ROUNDS_WEIGHED);
    if (r->domains->term_count == 0 && r->prefixes[PREFIX_ROOT].best != PREFIX_NONE)
        ret[count++] = (struct rounds_choice){0, PREFIX_ROOT};
    for (uint32_t i = 0; i < r->inner_count; i++) {
        const uint32_t prefix = r->inner[i];
        if (prefix != PREFIX_ROOT)
            score_inner(r, prefix);
        const int64_t above = r->prefixes[prefix].score;
        r->looked++;
        for (uint32_t id = r->prefixes[prefix].groups; id != NO_GROUP && above != FORBIDDEN;
             id = r->groups[id].next) {
            const struct rounds_group *group = &r->groups[id];
            if (!is_allowed(r, prefix, group->count))
                break;
            ret[count++] = (struct rounds_choice){
                above << ORDERED_TERM_BITS | ordered_part(&r->domains->items[prefix], group->count),
                r->prefixes[group->top].best};
        }
    }
    r->looked += count;
    return count;
}

/* ---- a round ---- */

void rounds_take(struct rounds *r, uint32_t leaf) {
    ordered_domains_change(r->domains, leaf, 1);
    if (r->candidates.left[leaf] == 0)
        r->prefixes[leaf].best = PREFIX_NONE;
    for (uint32_t child = leaf; child != PREFIX_ROOT; child = r->domains->tree.parents[child]) {
        const uint32_t parent = r->domains->tree.parents[child];
        move_child(r, parent, child);
        if (r->order == ROUNDS_WEIGHED)
            break;
        find_best(r, parent);
    }
}

/* ---- the beginning ---- */

struct ordered_prefix {
    int64_t count;
    uint32_t prefix, term;
};

/* Orders the deepest prefixes first; at one depth those with the highest counts first. */
static int compare_prefixes(const void *a, const void *b) {
    const struct ordered_prefix *left = a, *right = b;
    if (left->term != right->term)
        return left->term < right->term ? 1 : -1;
    if (left->count != right->count)
        return left->count < right->count ? 1 : -1;
    return left->prefix < right->prefix ? 1 : -1;
}

/* Adds a child, whose best leaf is known, to its parent's groups. Children with higher counts
 * must have been added. */
static void add_child(struct rounds *r, uint32_t child) {
    const uint32_t parent = r->domains->tree.parents[child];
    const int64_t count = r->domains->items[child].count;
    uint32_t first = r->prefixes[parent].groups;
    if (first == NO_GROUP || r->groups[first].count != count)
        first = make_group(r, parent, count, NO_GROUP, first);
    join_group(r, first, child);
}

static void add_prefix(struct rounds *r, uint32_t prefix) {
    const bool leaf = r->prefixes[prefix].term == r->domains->term_count;
    if (leaf)
        r->prefixes[prefix].best = r->candidates.left[prefix] > 0 ? prefix : PREFIX_NONE;
    else if (r->order == ROUNDS_BY_SCORE)
        find_best(r, prefix);
    if (prefix != PREFIX_ROOT && r->prefixes[prefix].best != PREFIX_NONE)
        add_child(r, prefix);
}

/* Adds children before their parents, and higher counts first. */
static int add_prefixes(struct rounds *r, struct arena *arena) {
    const struct ordered_domains *d = r->domains;
    uint32_t count = 0;
    if (d->items[PREFIX_ROOT].count == 0) {
        for (uint32_t i = d->tree.count; i > 0; i--)
            if (d->items[i - 1].counted_in)
                add_prefix(r, i - 1);
        return 0;
    }
    struct ordered_prefix *order = arena_array_unset(arena, d->tree.count, sizeof *order);
    if (order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->tree.count; i++)
        if (d->items[i].counted_in)
            order[count++] = (struct ordered_prefix){d->items[i].count, i, r->prefixes[i].term};
    qsort(order, count, sizeof *order, compare_prefixes);
    for (uint32_t i = 0; i < count; i++)
        add_prefix(r, order[i].prefix);
    return 0;
}

int rounds_init(struct rounds *r, struct ordered_domains *domains, enum rounds_order order,
                const struct rounds_candidates *candidates, struct arena *arena) {
    const struct topology_tree *tree = &domains->tree;
    *r = (struct rounds){.domains = domains, .order = order, .candidates = *candidates};
    r->prefixes = arena_array_unset(arena, tree->count, sizeof *r->prefixes);
    r->groups = arena_array_unset(arena, tree->count, sizeof *r->groups);
    r->inner = arena_array_unset(arena, tree->count, sizeof *r->inner);
    if (r->prefixes == NULL || r->groups == NULL || r->inner == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree->count; i++) {
        const uint32_t term = i == PREFIX_ROOT ? 0 : r->prefixes[tree->parents[i]].term + 1;
        r->prefixes[i] = (struct rounds_prefix){.best = PREFIX_NONE,
                                                .term = term,
                                                .groups = NO_GROUP,
                                                .group = NO_GROUP,
                                                .first_below = PREFIX_NONE,
                                                .next = PREFIX_NONE};
        r->groups[i] = (struct rounds_group){.next = i + 1};
        if (domains->items[i].counted_in && term < domains->term_count)
            r->inner[r->inner_count++] = i;
    }
    return add_prefixes(r, arena);
}
