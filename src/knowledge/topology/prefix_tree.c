#include "topology/prefix_tree.h"

#include <errno.h>
#include <string.h>

enum { INDEX_FIRST = 64 }; /* places; a power of two, as all that follow */

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

int prefix_tree_init(struct prefix_tree *t, struct arena *arena) {
    *t = (struct prefix_tree){.arena = arena, .cap = 0};
    t->items = arena_push(arena, NULL, 0, &t->cap, sizeof *t->items);
    if (t->items == NULL)
        return -ENOMEM;
    t->items[t->count++] = (struct prefix){.parent = PREFIX_NONE};
    return index_build(t, INDEX_FIRST);
}

/* Returns the place of (parent, domain) in the index, or the free place for it. */
static uint32_t place_of(const struct prefix_tree *t, uint32_t parent, uint32_t domain) {
    uint32_t at = home(t, parent, domain);
    while (t->index[at] != PREFIX_NONE &&
           (t->items[t->index[at]].parent != parent || t->items[t->index[at]].domain != domain))
        at = (at + 1) & (t->index_cap - 1);
    return at;
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
    items[id] = (struct prefix){.parent = parent, .domain = domain};
    t->index[at] = id;
    return id;
}
