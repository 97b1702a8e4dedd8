/*
 * Records of a pool that are kept for the next question, the most recently used ones up to a limit.
 * A record's stamp is the tick of the view that used it last.
 *
 * Only exclusive views make records, and only they evict. While one is open there is no other view,
 * and its tick is greater than every tick before; so a record that carries this tick is one that
 * the view holds, and every other record is held by nobody.
 */
#pragma once

#include "base/pool.h"

#include <stdint.h>

struct lru {
    struct pool *pool;
    size_t used_offset; /* of the record's stamp, an _Atomic uint64_t */
    uint32_t limit;
    void (*free)(void *owner, uint32_t id);
    void *owner;
};

/* Frees the least recently used records until one more is within the limit. Records that were used
 * at `tick` stay, even above the limit: the view of that tick, which is exclusive, holds pointers
 * into them. */
void lru_make_room(struct lru lru, uint64_t tick);
/* The end of an exclusive view: frees what lru_make_room() let grow above the limit. */
void lru_shrink(struct lru lru);
