#include "base/lru.h"

#include <stdatomic.h>

static uint64_t stamp_of(struct lru lru, uint32_t id) {
    const char *record = pool_at(lru.pool, id);
    return atomic_load_explicit((const _Atomic uint64_t *)(record + lru.used_offset),
                                memory_order_relaxed);
}

/* The record with the oldest stamp, or POOL_NONE if all of them were used at `tick`. */
static uint32_t oldest_before(struct lru lru, uint64_t tick) {
    uint32_t found = POOL_NONE;
    uint64_t least = tick;
    for (POOL_EACH(lru.pool, id)) {
        uint64_t stamp = stamp_of(lru, id);
        if (stamp < least) {
            least = stamp;
            found = id;
        }
    }
    return found;
}

void lru_make_room(struct lru lru, uint64_t tick) {
    while (lru.pool->count >= lru.limit) {
        uint32_t id = oldest_before(lru, tick);
        if (id == POOL_NONE)
            return;
        lru.free(lru.owner, id);
    }
}

/* A pool is above its limit only when all its records are the view's own, so any of them may go. */
void lru_shrink(struct lru lru) {
    for (POOL_EACH(lru.pool, id)) {
        if (lru.pool->count <= lru.limit)
            return;
        lru.free(lru.owner, id);
    }
}
