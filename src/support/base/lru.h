/*
 * Keeps the most recently used records of a pool for later questions. Limits apply to the number of
 * records, to their bytes, and to the steps that a change needs to update all records. Each record
 * belongs to an owner (a namespace); an owner with many records evicts its own records.
 *
 * To make room, it evicts the oldest record of the asking owner if that owner has more than a share
 * (a quarter) of a limit. Otherwise it evicts the oldest record of any other owner with more than a
 * share, or else the oldest record of all. So an owner may use free room, but an owner with more
 * than its share never evicts records of other owners. A record larger than a share is not kept.
 *
 * No reader (view) is open while records are added or freed, so any record may be freed. Not
 * thread-safe, except for the stamps of use.
 */
#pragma once

#include "base/hashmap.h"
#include "base/pool.h"
#include "base/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of each record, at the same offset in all records. */
struct lru_entry {
    _Atomic uint64_t used; /* the tick of the view that used it last */
    bool pinned;           /* never evicted and never too old; the user of the lru sets it */
    uint32_t owner;        /* number of the owner in lru.owners */
    struct cost cost;
};

struct lru_limits {
    uint32_t count;
    uint64_t bytes, steps; /* 0: no limit */
    /* steps of one owner's records, even if there is free room; 0: no limit */
    uint64_t owner_steps;
};

struct lru_sum {
    uint32_t count;
    struct cost cost;
};

struct lru {
    struct pool *pool;   /* borrowed */
    size_t entry_offset; /* offset of the struct lru_entry in a record, in bytes */
    struct lru_limits limits;
    void (*free)(void *context, uint32_t id); /* calls lru_remove() */
    void *context;
    struct lru_sum all;
    struct pool owners;
    struct hashmap owner_index;
    uint64_t refused; /* records that were not kept */
    uint64_t work;    /* steps to make room: records read */
};

enum {
    LRU_SHARES = 4,    /* a share is a limit divided by this number */
    LRU_AT_A_TIME = 32 /* the most records that one call frees, because the caller holds a lock */
};

/* Call it after setting the members above `all`. */
void lru_init(struct lru *l);
/* All records must be freed. */
void lru_done(struct lru *l);

/* Could a record of this cost be kept at all? */
bool lru_fits(const struct lru *l, const struct cost *cost);
/* Frees records until a new record of this cost fits. Returns false, and counts the new record in
 * `refused`, if it cannot be kept: it is too large, or one call would have to free too many
 * records. */
bool lru_make_room(struct lru *l, uint64_t owner, const struct cost *cost);
/* Call it after lru_make_room(). Returns 0 or -ENOMEM. */
int lru_add(struct lru *l, uint32_t id, uint64_t owner, const struct cost *cost, uint64_t tick);
/* Call it before freeing the record. */
void lru_remove(struct lru *l, uint32_t id);
/* Reports that the record takes more bytes than before. Room is made only when the next record is
 * added. */
void lru_grow(struct lru *l, uint32_t id, uint64_t bytes);
/* Frees records last used at `tick` or earlier, at most LRU_AT_A_TIME. */
void lru_forget(struct lru *l, uint64_t tick);
