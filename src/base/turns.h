/*
 * Whose item is served next. Owners take turns, and the items of one owner are served in the order
 * in which they began to wait; an owner with many items therefore waits for itself. Owners are
 * known by a key of bytes, such as a namespace or an address, and are kept while they have items.
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
/* It may not have joined. */
void turns_leave(struct turns *t, struct turn *turn);
/* It waits from now on, if it does not yet. It has joined. */
void turns_wait(struct turns *t, struct turn *turn);
/* It waits no more. It has joined. */
void turns_give_up(struct turn *turn);
bool turns_waits(const struct turn *turn);
static inline bool turns_any(const struct turns *t) {
    return !list_empty(&t->waiting);
}
/* Does an item wait of an owner that has a turn to take, because it has not cost a quantum more
 * than turns that it has lost? O(owners that wait). */
bool turns_any_free(const struct turns *t);
/* The item whose turn it is; it waits no more. NULL: none waits. */
struct turn *turns_next(struct turns *t);
/* What serving it has cost. It has joined. */
void turns_charge(struct turns *t, struct turn *turn, uint64_t cost);
