#include "base/hashmap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Linear probing; the top 32 bits of the hash are kept, which is also all that growing needs. */
struct hashmap_slot {
    uint32_t hash;
    uint32_t id; /* HASHMAP_NONE: empty */
};

static uint32_t fold(uint64_t hash) {
    return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

uint32_t hashmap_find(const struct hashmap *m, uint64_t hash, hashmap_equal_fn *equal,
                      const void *ctx, const void *key) {
    if (m->cap == 0)
        return HASHMAP_NONE;
    uint32_t folded = fold(hash), mask = m->cap - 1;
    for (uint32_t i = folded & mask; m->slots[i].id != HASHMAP_NONE; i = (i + 1) & mask)
        if (m->slots[i].hash == folded && equal(ctx, m->slots[i].id, key))
            return m->slots[i].id;
    return HASHMAP_NONE;
}

static void place(struct hashmap *m, uint32_t folded, uint32_t id) {
    uint32_t mask = m->cap - 1, i = folded & mask;
    while (m->slots[i].id != HASHMAP_NONE)
        i = (i + 1) & mask;
    m->slots[i] = (struct hashmap_slot){folded, id};
}

int hashmap_reserve(struct hashmap *m) {
    if (m->count < m->cap / 3 * 2)
        return 0;
    if (m->cap > UINT32_MAX / 4)
        return -ENOMEM;
    uint32_t cap = m->cap == 0 ? 16 : m->cap * 2;
    struct hashmap_slot *slots = malloc(cap * sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < cap; i++)
        slots[i] = (struct hashmap_slot){0, HASHMAP_NONE};
    struct hashmap grown = {slots, cap, m->count};
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->slots[i].id != HASHMAP_NONE)
            place(&grown, m->slots[i].hash, m->slots[i].id);
    free(m->slots);
    *m = grown;
    return 0;
}

void hashmap_insert(struct hashmap *m, uint64_t hash, uint32_t id) {
    assert(m->count < m->cap && id != HASHMAP_NONE);
    place(m, fold(hash), id);
    m->count++;
}

void hashmap_remove(struct hashmap *m, uint64_t hash, uint32_t id) {
    uint32_t mask = m->cap - 1, hole = fold(hash) & mask;
    while (m->slots[hole].id != id) {
        assert(m->slots[hole].id != HASHMAP_NONE);
        hole = (hole + 1) & mask;
    }
    /* Close the gap: move back every later entry of the run whose home is not between the hole and
     * itself. */
    for (uint32_t i = (hole + 1) & mask; m->slots[i].id != HASHMAP_NONE; i = (i + 1) & mask) {
        uint32_t home = m->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole].id = HASHMAP_NONE;
    m->count--;
}

void hashmap_done(struct hashmap *m) {
    free(m->slots);
    *m = (struct hashmap){0};
}
