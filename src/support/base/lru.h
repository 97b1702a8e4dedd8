/*
 * Records of a pool that are kept for the next question: the most recently used ones, within limits
 * on their number, their bytes, and the steps of a change that has to update all of them. Each
 * record belongs to an owner (a namespace), so that an owner that asks for much evicts its own.
 *
 * Evicted is: the oldest record of the asking owner, if that owner has more than a share (a
 * quarter) of a limit; otherwise the oldest record of other owners with more than a share;
 * otherwise the oldest record. So an owner may use room that nobody else wants, and nobody loses a
 * record to an owner with more than its share. A record larger than a share is not kept.
 *
 * No view is open while records are added or freed, so any record may be freed. Not thread-safe,
 * but for the stamps of use.
 */
#pragma once

#include "base/hashmap.h"
#include "base/pool.h"
#include "base/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At one place in each record. */
struct lru_entry {
    _Atomic uint64_t used; /* the tick of the view that used it last */
    bool pinned;           /* is never evicted and does not age; the owner of the lru sets it */
    uint32_t owner;        /* the lru's */
    struct cost cost;
};

struct lru_limits {
    uint32_t count;
    uint64_t bytes, steps; /* 0: no limit */
    uint64_t owner_steps;  /* of one owner's records, at any time; 0: no limit */
};

struct lru_sum {
    uint32_t count;
    struct cost cost;
};

struct lru {
    struct pool *pool;   /* borrowed */
    size_t entry_offset; /* of the struct lru_entry in a record */
    struct lru_limits limits;
    void (*free)(void *context, uint32_t id); /* calls lru_remove() */
    void *context;
    struct lru_sum all;
    struct pool owners;
    struct hashmap owner_index;
    uint64_t refused; /* records that were not kept */
    uint64_t work;    /* steps of making room: records looked at */
};

enum {
    LRU_SHARES = 4,    /* an owner's share is one of so many */
    LRU_AT_A_TIME = 32 /* records that one call frees: the caller holds a lock */
};

/* The fields above "all" have been set. */
void lru_init(struct lru *l);
/* Every record has been freed. */
void lru_done(struct lru *l);

/* Could a record of this cost be kept at all? */
bool lru_fits(const struct lru *l, const struct cost *cost);
/* Frees records until one more fits. False: the record cannot be kept, because it does not fit or
 * one call may not free so many; that has been counted in `refused`. */
bool lru_make_room(struct lru *l, uint64_t owner, const struct cost *cost);
/* After lru_make_room(). 0 or -ENOMEM. */
int lru_add(struct lru *l, uint32_t id, uint64_t owner, const struct cost *cost, uint64_t tick);
/* The record is about to be freed. */
void lru_remove(struct lru *l, uint32_t id);
/* The record takes more bytes than before; room is made by the next record. */
void lru_grow(struct lru *l, uint32_t id, uint64_t bytes);
/* Frees records that were used at `tick` or earlier, LRU_AT_A_TIME at most. */
void lru_forget(struct lru *l, uint64_t tick);
