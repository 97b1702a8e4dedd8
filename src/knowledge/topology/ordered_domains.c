#include "topology/ordered_domains.h"

#include <errno.h>
#include <string.h>

int ordered_domains_init(struct ordered_domains *d, struct topology_view *v, struct arena *arena) {
    struct topology_column columns[ORDERED_TERMS];
    for (uint32_t t = 0; t < d->term_count; t++)
        columns[t] = d->terms[t].column;
    int r = topology_tree(v, columns, d->term_count, &d->tree);
    if (r != 0)
        return r;
    d->arena = arena;
    d->items = arena_array(arena, d->tree.count, sizeof *d->items);
    return d->items == NULL ? -ENOMEM : 0;
}

void ordered_domains_include(struct ordered_domains *d, uint32_t slot) {
    for (uint32_t prefix = d->tree.leaf_of[slot];
         prefix != PREFIX_NONE && !d->items[prefix].counted_in; prefix = d->tree.parents[prefix])
        d->items[prefix].counted_in = true;
}

void ordered_domains_include_all(struct ordered_domains *d) {
    for (uint32_t prefix = 0; prefix < d->tree.count; prefix++)
        d->items[prefix].counted_in = true;
}

void ordered_domains_add(struct ordered_domains *d, uint32_t slot, int64_t count) {
    d->items[d->tree.leaf_of[slot]].count += count;
}

static void find_least_and_most(struct ordered_domains *d) {
    for (uint32_t i = 0; i < d->tree.count; i++) {
        d->items[i].least = INT64_MAX;
        d->items[i].most = INT64_MIN;
        d->items[i].children = 0;
    }
    for (uint32_t i = 1; i < d->tree.count; i++) {
        struct ordered_count *parent = &d->items[d->tree.parents[i]];
        const int64_t count = d->items[i].count;
        if (!d->items[i].counted_in)
            continue;
        parent->least = count < parent->least ? count : parent->least;
        parent->most = count > parent->most ? count : parent->most;
        parent->children++;
    }
}

/* Children come after their parents, so the sums go up in one pass. */
void ordered_domains_settle(struct ordered_domains *d) {
    for (uint32_t i = d->tree.count - 1; i > PREFIX_ROOT; i--)
        d->items[d->tree.parents[i]].count += d->items[i].count;
    find_least_and_most(d);
}

uint32_t ordered_domains_leaf(const struct ordered_domains *d, uint32_t slot) {
    const uint32_t leaf = d->tree.leaf_of[slot];
    return leaf != PREFIX_NONE && d->items[leaf].counted_in ? leaf : PREFIX_NONE;
}

void ordered_domains_path(const struct ordered_domains *d, uint32_t slot,
                          uint32_t ret[ORDERED_TERMS]) {
    uint32_t prefix = d->tree.leaf_of[slot];
    for (uint32_t t = d->term_count; t > 0; t--) {
        ret[t - 1] = prefix != PREFIX_NONE && d->items[prefix].counted_in ? prefix : PREFIX_NONE;
        if (prefix != PREFIX_NONE)
            prefix = d->tree.parents[prefix];
    }
}

bool ordered_domains_lack(const struct ordered_domains *d, uint32_t slot, bool any,
                          uint32_t *ret_term) {
    for (uint32_t t = 0; t < d->term_count; t++)
        if ((any || d->terms[t].hard) && d->terms[t].column.domain_of[slot] == TOPOLOGY_NONE) {
            *ret_term = t;
            return true;
        }
    return false;
}

bool ordered_domains_lack_none(const struct ordered_domains *d, bool any) {
    for (uint32_t t = 0; t < d->term_count; t++)
        if ((any || d->terms[t].hard) && !d->terms[t].column.everywhere)
            return false;
    return true;
}

int64_t ordered_domains_score(const struct ordered_domains *d, uint32_t slot) {
    uint32_t path[ORDERED_TERMS];
    const struct ordered_count *parent = &d->items[PREFIX_ROOT];
    int64_t score = 0;
    uint32_t t = 0;
    ordered_domains_path(d, slot, path);
    for (; t < d->term_count && path[t] != PREFIX_NONE; t++) {
        const struct ordered_count *own = &d->items[path[t]];
        score = score << ORDERED_TERM_BITS | ordered_part(parent, own->count);
        parent = own;
    }
    return score << ORDERED_TERM_BITS * (d->term_count - t);
}

static uint32_t depth_of(const struct ordered_domains *d, uint32_t prefix) {
    uint32_t depth = 0;
    for (; prefix != PREFIX_ROOT; prefix = d->tree.parents[prefix])
        depth++;
    return depth;
}

void ordered_domains_skews(const struct ordered_domains *d, int64_t ret[ORDERED_TERMS]) {
    memset(ret, 0, ORDERED_TERMS * sizeof *ret);
    for (uint32_t i = 0; i < d->tree.count; i++) {
        const struct ordered_count *parent = &d->items[i];
        if (parent->children == 0)
            continue;
        const uint32_t t = depth_of(d, i);
        const int64_t skew = parent->most - ordered_base(&d->terms[t], parent);
        ret[t] = skew > ret[t] ? skew : ret[t];
    }
}

/* ---- changes of one ---- */

static uint32_t siblings_home(const struct ordered_domains *d, uint32_t parent, int64_t count) {
    uint64_t h = ((uint64_t)count << 20 ^ parent) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) & (d->siblings_cap - 1);
}

/* Returns the place of (parent, count); makes it if needed. */
static struct ordered_siblings *siblings_of(struct ordered_domains *d, uint32_t parent,
                                            int64_t count) {
    uint32_t at = siblings_home(d, parent, count);
    struct ordered_siblings *place = &d->siblings[at];
    while (place->parent != PREFIX_NONE && (place->parent != parent || place->count != count)) {
        at = (at + 1) & (d->siblings_cap - 1);
        place = &d->siblings[at];
    }
    if (place->parent == PREFIX_NONE) {
        *place = (struct ordered_siblings){.parent = parent, .count = count};
        d->siblings_used++;
    }
    return place;
}

/* Builds the table again without the counts that no child has any more: this frees their places. */
static bool siblings_build(struct ordered_domains *d) {
    uint32_t cap = 64;
    while (cap / 4 < d->tree.count && cap < (1u << 30))
        cap *= 2;
    if (d->siblings == NULL) {
        d->siblings = arena_array(d->arena, cap, sizeof *d->siblings);
        d->siblings_cap = cap;
    }
    if (d->siblings == NULL)
        return false;
    d->siblings_used = 0;
    for (uint32_t i = 0; i < d->siblings_cap; i++)
        d->siblings[i].parent = PREFIX_NONE;
    for (uint32_t i = 1; i < d->tree.count; i++)
        if (d->items[i].counted_in)
            siblings_of(d, d->tree.parents[i], d->items[i].count)->children++;
    return true;
}

/* Is there room for the place that a change may need on each level? */
static bool siblings_ready(struct ordered_domains *d) {
    return (d->siblings != NULL && d->siblings_used + d->term_count < d->siblings_cap / 2) ||
           siblings_build(d);
}

/* Updates the parent's least and most after a child's count went from `before` one up or down: they
 * change if no other child had that count. */
static void move_child(struct ordered_domains *d, uint32_t parent, int64_t before, int64_t by) {
    struct ordered_count *p = &d->items[parent];
    const int64_t now = before + by;
    const bool alone = --siblings_of(d, parent, before)->children == 0;
    siblings_of(d, parent, now)->children++;
    if (now < p->least || (alone && before == p->least))
        p->least = now;
    if (now > p->most || (alone && before == p->most))
        p->most = now;
}

void ordered_domains_change(struct ordered_domains *d, uint32_t prefix, int64_t by) {
    if (prefix == PREFIX_NONE)
        return;
    const bool quick = siblings_ready(d);
    for (; prefix != PREFIX_ROOT; prefix = d->tree.parents[prefix]) {
        const int64_t before = d->items[prefix].count;
        d->items[prefix].count += by;
        if (quick)
            move_child(d, d->tree.parents[prefix], before, by);
    }
    d->items[PREFIX_ROOT].count += by;
    if (!quick) /* no memory: search all children */
        find_least_and_most(d);
}
