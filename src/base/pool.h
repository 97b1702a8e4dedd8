/*
 * Records of one size, addressed by dense uint32 ids that are reused. Storage comes in chunks, so a
 * record never moves and growing copies nothing. Not thread-safe for writers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_NONE UINT32_MAX

struct pool {
    size_t item_size; /* set by pool_init(); at least 4 */
    char **chunks;    /* owned */
    uint64_t *live;   /* one bit per id; owned */
    uint32_t chunk_count;
    uint32_t end;       /* every id in use is below */
    uint32_t free_head; /* list of ids given back, linked through their first bytes */
    uint32_t count;     /* ids in use */
};

void pool_init(struct pool *p, size_t item_size);
/* A zeroed record's id, or POOL_NONE when memory ran out. */
uint32_t pool_take(struct pool *p);
void pool_give(struct pool *p, uint32_t id);
/* Frees the storage; what records own is the caller's to free first. */
void pool_done(struct pool *p);

enum { POOL_CHUNK_BITS = 8, POOL_CHUNK = 1 << POOL_CHUNK_BITS };

static inline void *pool_at(const struct pool *p, uint32_t id) {
    return p->chunks[id >> POOL_CHUNK_BITS] + (size_t)(id & (POOL_CHUNK - 1)) * p->item_size;
}

static inline bool pool_live(const struct pool *p, uint32_t id) {
    return id < p->end && (p->live[id / 64] >> (id % 64) & 1) != 0;
}

/* for (POOL_EACH(&pool, id)) visits every id in use, in order; giving the visited one back is
 * allowed. */
#define POOL_EACH(pool, id)                                                                        \
    uint32_t id = pool_next((pool), 0);                                                            \
    id != POOL_NONE;                                                                               \
    id = pool_next((pool), id + 1)
uint32_t pool_next(const struct pool *p, uint32_t from);
