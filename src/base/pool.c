#include "base/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *p, size_t item_size) {
    assert(item_size >= sizeof(uint32_t));
    *p = (struct pool){.item_size = item_size, .free_head = POOL_NONE};
}

static bool grow(struct pool *p) {
    uint32_t words = (p->chunk_count + 1) * (POOL_CHUNK / 64);
    char **chunks = realloc(p->chunks, (p->chunk_count + 1) * sizeof *chunks);
    if (chunks == NULL)
        return false;
    p->chunks = chunks;
    uint64_t *live = realloc(p->live, words * sizeof *live);
    if (live == NULL)
        return false;
    p->live = live;
    memset(live + words - POOL_CHUNK / 64, 0, POOL_CHUNK / 64 * sizeof *live);
    chunks[p->chunk_count] = malloc(POOL_CHUNK * p->item_size);
    if (chunks[p->chunk_count] == NULL)
        return false;
    p->chunk_count++;
    return true;
}

uint32_t pool_take(struct pool *p) {
    uint32_t id = p->free_head;
    if (id != POOL_NONE) {
        memcpy(&p->free_head, pool_at(p, id), sizeof p->free_head);
    } else {
        if (p->end == p->chunk_count * POOL_CHUNK && !grow(p))
            return POOL_NONE;
        id = p->end++;
    }
    memset(pool_at(p, id), 0, p->item_size);
    p->live[id / 64] |= (uint64_t)1 << (id % 64);
    p->count++;
    return id;
}

void pool_give(struct pool *p, uint32_t id) {
    assert(pool_live(p, id));
    memcpy(pool_at(p, id), &p->free_head, sizeof p->free_head);
    p->free_head = id;
    p->live[id / 64] &= ~((uint64_t)1 << (id % 64));
    p->count--;
}

uint32_t pool_next(const struct pool *p, uint32_t from) {
    while (from < p->end) {
        uint64_t word = p->live[from / 64] >> (from % 64);
        if (word != 0)
            return from + (uint32_t)__builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return POOL_NONE;
}

void pool_done(struct pool *p) {
    for (uint32_t i = 0; i < p->chunk_count; i++)
        free(p->chunks[i]);
    free(p->chunks);
    free(p->live);
    pool_init(p, p->item_size);
}
