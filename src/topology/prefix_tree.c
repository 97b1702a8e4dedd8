#include "topology/prefix_tree.h"

#include <errno.h>
#include <string.h>

static uint32_t home(const struct prefix_tree *t, uint32_t parent, uint32_t domain) {
    uint64_t h = ((uint64_t)parent << 32 | domain) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) & (t->index_cap - 1);
}

static int index_build(struct prefix_tree *t, uint32_t cap) {
    uint32_t *index = arena_array(t->arena, cap, sizeof *index);
    if (index == NULL)
        return -ENOMEM;
    memset(index, 0xff, cap * sizeof *index);
    t->index = index;
    t->index_cap = cap;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t at = home(t, t->items[i].parent, t->items[i].domain);
        while (index[at] != PREFIX_NONE)
            at = (at + 1) & (cap - 1);
        index[at] = i;
    }
    return 0;
}

int prefix_tree_init(struct prefix_tree *t, struct arena *arena, uint32_t expected) {
    uint32_t cap = 64;
    while (cap / 2 < expected && cap < (1u << 30))
        cap *= 2;
    *t = (struct prefix_tree){.arena = arena, .cap = 0};
    t->items = arena_push(arena, NULL, 0, &t->cap, sizeof *t->items);
    if (t->items == NULL)
        return -ENOMEM;
    t->items[t->count++] = (struct prefix){.parent = PREFIX_NONE};
    return index_build(t, cap);
}

/* Where (parent, domain) is in the index, or the free place where it belongs. */
static uint32_t place_of(const struct prefix_tree *t, uint32_t parent, uint32_t domain) {
    uint32_t at = home(t, parent, domain);
    while (t->index[at] != PREFIX_NONE &&
           (t->items[t->index[at]].parent != parent || t->items[t->index[at]].domain != domain))
        at = (at + 1) & (t->index_cap - 1);
    return at;
}

uint32_t prefix_find(const struct prefix_tree *t, uint32_t parent, uint32_t domain) {
    return t->index[place_of(t, parent, domain)];
}

uint32_t prefix_make(struct prefix_tree *t, uint32_t parent, uint32_t domain) {
    if (t->count >= t->index_cap / 2 && index_build(t, t->index_cap * 2) != 0)
        return PREFIX_NONE;
    uint32_t at = place_of(t, parent, domain);
    if (t->index[at] != PREFIX_NONE)
        return t->index[at];
    struct prefix *items = arena_push(t->arena, t->items, t->count, &t->cap, sizeof *items);
    if (items == NULL)
        return PREFIX_NONE;
    t->items = items;
    uint32_t id = t->count++;
    items[id] = (struct prefix){.parent = parent, .term = items[parent].term + 1, .domain = domain};
    t->index[at] = id;
    return id;
}

void prefix_add(struct prefix_tree *t, uint32_t prefix, int64_t by) {
    for (; prefix != PREFIX_NONE; prefix = t->items[prefix].parent)
        t->items[prefix].count += by;
}

void prefix_tree_settle(struct prefix_tree *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        t->items[i].least = INT64_MAX;
        t->items[i].most = INT64_MIN;
    }
    for (uint32_t i = 1; i < t->count; i++) {
        struct prefix *parent = &t->items[t->items[i].parent];
        int64_t count = t->items[i].count;
        parent->least = count < parent->least ? count : parent->least;
        parent->most = count > parent->most ? count : parent->most;
    }
}

/* ---- changes of one ---- */

static uint32_t siblings_home(const struct prefix_tree *t, uint32_t parent, int64_t count) {
    uint64_t h = ((uint64_t)count << 20 ^ parent) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) & (t->siblings_cap - 1);
}

/* The place of (parent, count), which is made if need be. */
static struct prefix_siblings *siblings_of(struct prefix_tree *t, uint32_t parent, int64_t count) {
    uint32_t at = siblings_home(t, parent, count);
    struct prefix_siblings *place = &t->siblings[at];
    while (place->parent != PREFIX_NONE && (place->parent != parent || place->count != count)) {
        at = (at + 1) & (t->siblings_cap - 1);
        place = &t->siblings[at];
    }
    if (place->parent == PREFIX_NONE) {
        *place = (struct prefix_siblings){.parent = parent, .count = count};
        t->siblings_used++;
    }
    return place;
}

/* Counts that no child has any more are left out, so what has been used up comes back. */
static bool siblings_build(struct prefix_tree *t) {
    uint32_t cap = 64;
    while (cap / 4 < t->count && cap < (1u << 30))
        cap *= 2;
    struct prefix_siblings *siblings = t->siblings;
    if (siblings == NULL || cap > t->siblings_cap)
        siblings = arena_array(t->arena, cap, sizeof *siblings);
    if (siblings == NULL)
        return false;
    t->siblings = siblings;
    t->siblings_cap = cap > t->siblings_cap ? cap : t->siblings_cap;
    t->siblings_used = 0;
    for (uint32_t i = 0; i < t->siblings_cap; i++)
        siblings[i].parent = PREFIX_NONE;
    for (uint32_t i = 1; i < t->count; i++)
        siblings_of(t, t->items[i].parent, t->items[i].count)->children++;
    return true;
}

/* Is there room for the place that a change may take on each level? */
static bool siblings_ready(struct prefix_tree *t, uint32_t levels) {
    return (t->siblings != NULL && t->siblings_used + levels < t->siblings_cap / 2) ||
           siblings_build(t);
}

/* The count of a child went from `before` one up or down: the least, or the most, follows it if it
 * was the only one there. */
static void move_child(struct prefix_tree *t, uint32_t parent, int64_t before, int64_t by) {
    struct prefix *p = &t->items[parent];
    int64_t now = before + by;
    bool alone = --siblings_of(t, parent, before)->children == 0;
    siblings_of(t, parent, now)->children++;
    if (now < p->least || (alone && before == p->least))
        p->least = now;
    if (now > p->most || (alone && before == p->most))
        p->most = now;
}

void prefix_change(struct prefix_tree *t, uint32_t prefix, int64_t by) {
    if (prefix == PREFIX_NONE)
        return;
    if (!siblings_ready(t, t->items[prefix].term)) { /* no memory: the long way */
        prefix_add(t, prefix, by);
        prefix_tree_settle(t);
        return;
    }
    for (; prefix != PREFIX_ROOT; prefix = t->items[prefix].parent) {
        int64_t before = t->items[prefix].count;
        t->items[prefix].count += by;
        move_child(t, t->items[prefix].parent, before, by);
    }
    t->items[PREFIX_ROOT].count += by;
}
