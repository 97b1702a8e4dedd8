/*
 * Chooses the item that is served next. Owners take turns, and the items of one owner are served in
 * the order in which they began to wait; so an owner with many items delays only itself. The key of
 * an owner is a string, such as a namespace or an address. An owner is kept while it has items.
 *
 * With a quantum, items have a cost: an owner loses one turn for each quantum of cost of its served
 * items, unless no other owner waits.
 *
 * O(1) for each call; turns_next() also takes a step for each lost turn. Not thread-safe.
 */
#pragma once

#include "base/hashmap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/str.h"

struct turns {
    struct list waiting; /* struct turn_owner, each with a waiting item; the owner whose turn is
                            next comes first */
    struct hashmap index;
    struct pool owners;
    uint64_t quantum; /* 0: items cost nothing */
};

/* The turn of an item. All zero: the item has not joined. */
struct turn {
    struct turn_owner *owner;
    struct list waiting; /* in the owner's list of waiting items, or in no list */
};

void turns_init(struct turns *t, uint64_t quantum);
/* All items must have left. */
void turns_done(struct turns *t);

/* Returns false without memory. */
bool turns_join(struct turns *t, struct turn *turn, struct str owner) MUST_CHECK;
/* Removes the item; does nothing if it has not joined. */
void turns_leave(struct turns *t, struct turn *turn);
/* Marks an item as waiting. It must have joined. */
void turns_wait(struct turns *t, struct turn *turn);
/* Marks an item as not waiting. It must have joined. */
void turns_give_up(struct turn *turn);
bool turns_waits(const struct turn *turn);
static inline bool turns_any(const struct turns *t) {
    return !list_empty(&t->waiting);
}
/* Is there a waiting owner that need not lose its turn? O(waiting owners). */
bool turns_any_free(const struct turns *t);
/* Returns the next item, and marks it as not waiting. Returns NULL if no item waits. */
struct turn *turns_next(struct turns *t);
/* Charges the owner for serving the item, which must have joined. */
void turns_charge(struct turns *t, struct turn *turn, uint64_t cost);
