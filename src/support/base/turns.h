/*
 * Chooses the item that is served next. Owners take turns, and the items of one owner are served in
 * the order in which they began to wait; an owner with many items therefore waits for itself. A key
 * of bytes, such as a namespace or an address, names an owner, who is kept while it has items.
 *
 * With a quantum, items cost: an owner whose items have cost more than one quantum loses one turn
 * for each quantum, unless nobody else waits.
 *
 * O(1) for each call; turns_next() takes a step for each turn that is lost, too. Not thread-safe.
 */
#pragma once

#include "base/hashmap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/str.h"

struct turns {
    struct list waiting; /* struct turn_owner, of which an item waits; the next one first */
    struct hashmap index;
    struct pool owners;
    uint64_t quantum; /* 0: items cost nothing */
};

/* An item's. All zero: it has not joined. */
struct turn {
    struct turn_owner *owner;
    struct list waiting; /* in the owner's list, or in none */
};

void turns_init(struct turns *t, uint64_t quantum);
/* All items have left. */
void turns_done(struct turns *t);

/* False: no memory. */
bool turns_join(struct turns *t, struct turn *turn, struct str owner) MUST_CHECK;
/* Removes the item; fine if it has not joined. */
void turns_leave(struct turns *t, struct turn *turn);
/* The item, which has joined, waits from now on, if it does not yet. */
void turns_wait(struct turns *t, struct turn *turn);
/* The item, which has joined, waits no more. */
void turns_give_up(struct turn *turn);
bool turns_waits(const struct turn *turn);
static inline bool turns_any(const struct turns *t) {
    return !list_empty(&t->waiting);
}
/* Does an item wait whose owner may take its turn, because it does not owe a whole quantum?
 * O(owners that wait). */
bool turns_any_free(const struct turns *t);
/* Returns the item that is next; it waits no more. NULL: no item waits. */
struct turn *turns_next(struct turns *t);
/* Charges the owner for serving the item, which has joined. */
void turns_charge(struct turns *t, struct turn *turn, uint64_t cost);
