/*
 * Records of one size, addressed by dense uint32 ids that are reused. Storage comes in chunks, so a
 * record never moves and growing copies nothing. Not thread-safe for writers.
 *
 * If the records are objects that are listed, the pool also remembers, in three bits for each
 * record, which objects a listing has shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_NONE UINT32_MAX

struct pool {
    size_t item_size;         /* set by pool_init(); at least 4 */
    char **chunks;            /* owned */
    uint64_t *live;           /* one bit per id; owned */
    struct pool_marks *marks; /* one struct for 64 ids; owned */
    uint32_t chunk_count;
    uint32_t end;       /* greater than every id in use */
    uint32_t free_head; /* list of unused ids, linked through their first bytes */
    uint32_t count;     /* ids in use */
    bool listing;       /* a listing is under way */
};

/* The marks of 64 records. */
struct pool_marks {
    uint64_t known; /* their objects exist: pool_show() */
    uint64_t shown; /* seen since the last listing began */
    uint64_t fresh; /* not seen by any complete listing yet */
};

void pool_init(struct pool *p, size_t item_size);
/* Returns the id of a zeroed record, or POOL_NONE without memory. */
uint32_t pool_take(struct pool *p);
void pool_give(struct pool *p, uint32_t id);
/* Frees the storage; the caller first frees what records own. */
void pool_done(struct pool *p);

enum { POOL_CHUNK_BITS = 8, POOL_CHUNK = 1 << POOL_CHUNK_BITS };

static inline void *pool_at(const struct pool *p, uint32_t id) {
    return p->chunks[id >> POOL_CHUNK_BITS] + (size_t)(id & (POOL_CHUNK - 1)) * p->item_size;
}

static inline bool pool_live(const struct pool *p, uint32_t id) {
    return id < p->end && (p->live[id / 64] >> (id % 64) & 1) != 0;
}

/* for (POOL_EACH(&pool, id)) visits every id in use, in order. The loop may give back the id that
 * it visits. */
#define POOL_EACH(pool, id)                                                                        \
    uint32_t id = pool_next((pool), 0);                                                            \
    id != POOL_NONE;                                                                               \
    id = pool_next((pool), id + 1)
uint32_t pool_next(const struct pool *p, uint32_t from);

/* ---- listings ---- */

/* Call it when the record's object exists. */
void pool_show(struct pool *p, uint32_t id);
/* Call it when the object is gone, but the record stays because others refer to it. Not needed
 * before pool_give(). */
void pool_hide(struct pool *p, uint32_t id);

static inline bool pool_is_known(const struct pool *p, uint32_t id) {
    return id < p->end && (p->marks[id / 64].known >> (id % 64) & 1) != 0;
}

/* Returns the next record whose object exists, from this id on, or POOL_NONE. */
uint32_t pool_next_known(const struct pool *p, uint32_t from);
/* Call it when a listing of all objects begins, even if the listing before has not ended. */
void pool_listing_begin(struct pool *p);
/* Call it when the listing is over. If it is `complete`, objects that it has not shown are gone.
 * Otherwise objects that were first shown since the last complete listing count as gone. Calls
 * drop() for each gone object: drop() hides the record or gives it back, and may give back other
 * records. O(ids / 64 + gone objects). */
typedef void pool_drop_fn(void *owner, uint32_t kind, uint32_t id);
void pool_listing_end(struct pool *p, bool complete, pool_drop_fn *drop, void *owner,
                      uint32_t kind);
