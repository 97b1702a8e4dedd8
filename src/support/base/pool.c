#include "base/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *p, size_t item_size) {
    assert(item_size >= sizeof(uint32_t));
    *p = (struct pool){.item_size = item_size, .free_head = POOL_NONE};
}

enum { CHUNK_WORDS = POOL_CHUNK / 64 };

static bool grow(struct pool *p) {
    const uint32_t before = p->chunk_count * CHUNK_WORDS, words = before + CHUNK_WORDS;
    char **chunks = realloc(p->chunks, (p->chunk_count + 1) * sizeof *chunks);
    if (chunks == NULL)
        return false;
    p->chunks = chunks;
    uint64_t *live = realloc(p->live, words * sizeof *live);
    if (live == NULL)
        return false;
    p->live = live;
    memset(live + before, 0, CHUNK_WORDS * sizeof *live);
    struct pool_marks *marks = realloc(p->marks, words * sizeof *marks);
    if (marks == NULL)
        return false;
    p->marks = marks;
    memset(marks + before, 0, CHUNK_WORDS * sizeof *marks);
    chunks[p->chunk_count] = malloc(POOL_CHUNK * p->item_size);
    if (chunks[p->chunk_count] == NULL)
        return false;
    p->chunk_count++;
    return true;
}

static uint64_t bit_of(uint32_t id) {
    return (uint64_t)1 << (id % 64);
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
    p->live[id / 64] |= bit_of(id);
    p->count++;
    return id;
}

void pool_give(struct pool *p, uint32_t id) {
    assert(pool_live(p, id));
    memcpy(pool_at(p, id), &p->free_head, sizeof p->free_head);
    p->free_head = id;
    pool_hide(p, id);
    p->live[id / 64] &= ~bit_of(id);
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
    free(p->marks);
    pool_init(p, p->item_size);
}

/* ---- listings ---- */

void pool_show(struct pool *p, uint32_t id) {
    assert(pool_live(p, id));
    struct pool_marks *m = &p->marks[id / 64];
    const uint64_t bit = bit_of(id);
    if (p->listing && !(m->known & bit))
        m->fresh |= bit;
    m->known |= bit;
    m->shown |= bit;
}

void pool_hide(struct pool *p, uint32_t id) {
    assert(pool_live(p, id));
    struct pool_marks *m = &p->marks[id / 64];
    const uint64_t others = ~bit_of(id);
    *m = (struct pool_marks){m->known & others, m->shown & others, m->fresh & others};
}

static uint64_t known(const struct pool_marks *m) {
    return m->known;
}

static uint64_t not_shown(const struct pool_marks *m) {
    return m->known & ~m->shown;
}

static uint64_t fresh(const struct pool_marks *m) {
    return m->fresh;
}

/* Returns the first id, from `from` on, that has its bit set in the word that `pick` returns. */
static inline uint32_t next_marked(const struct pool *p,
                                   uint64_t (*pick)(const struct pool_marks *), uint32_t from) {
    while (from < p->end) {
        const uint64_t word = pick(&p->marks[from / 64]) >> (from % 64);
        if (word != 0)
            return from + (uint32_t)__builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return POOL_NONE;
}

uint32_t pool_next_known(const struct pool *p, uint32_t from) {
    return next_marked(p, known, from);
}

void pool_listing_begin(struct pool *p) {
    p->listing = true;
    for (uint32_t word = 0; word < p->chunk_count * CHUNK_WORDS; word++)
        p->marks[word].shown = 0;
}

void pool_listing_end(struct pool *p, bool complete, pool_drop_fn *drop, void *owner,
                      uint32_t kind) {
    uint64_t (*const gone)(const struct pool_marks *) = complete ? not_shown : fresh;
    for (uint32_t id = 0; (id = next_marked(p, gone, id)) != POOL_NONE; id++)
        drop(owner, kind, id);
    p->listing = false;
    for (uint32_t word = 0; complete && word < p->chunk_count * CHUNK_WORDS; word++)
        p->marks[word].fresh = 0;
}
