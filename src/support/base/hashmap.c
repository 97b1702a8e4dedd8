/*
 * Linear probing in the order of the hashes: the larger a hash, the later its home slot, and
 * entries of one run are sorted. So a search ends at the first entry with a larger hash, even if
 * the next free slot is far away. Therefore large maps can be nearly full, and growing is one walk
 * over both arrays. Nothing wraps around: more slots follow the home slots and take the entries
 * that are pushed there; the last slot stays free.
 */
#include "base/hashmap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hashmap_slot {
    /* folded; growing needs no other part of the hash. UINT32_MAX: the slot is free */
    uint32_t hash;
    uint32_t id; /* HASHMAP_NONE: the slot is free */
};

static const struct hashmap_slot free_slot = {UINT32_MAX, HASHMAP_NONE};

/* Small maps may be emptier, because they are read often; large maps take most of the memory. */
enum { LARGE = 4096 };

static uint32_t room_of(uint32_t cap) {
    return cap < LARGE ? cap / 3 * 2 : cap / 8 * 7;
}

static uint32_t next_cap(uint32_t cap) {
    return cap == 0 ? 16 : cap < LARGE ? cap * 2 : cap + cap / 4;
}

/* Returns the number of all slots, with the slots behind the home slots. There are enough slots:
 * random hashes push no entry beyond the last. */
static uint32_t slots_of(uint32_t cap) {
    return cap + cap / 64 + 16;
}

static uint32_t home(uint32_t cap, uint32_t folded) {
    return (uint32_t)((uint64_t)folded * cap >> 32);
}

/* Returns the run's first entry with this hash or a larger one, or the free slot behind it. */
static struct hashmap_slot *seek(const struct hashmap *m, uint32_t folded) {
    struct hashmap_slot *slot = m->slots + home(m->cap, folded);
    while (slot->hash < folded)
        slot++;
    return slot;
}

uint32_t hashmap_find(const struct hashmap *m, uint64_t hash, hashmap_equal_fn *equal,
                      const void *ctx, const void *key) {
    if (m->cap == 0)
        return HASHMAP_NONE;
    uint32_t folded = hashmap_fold(hash);
    const struct hashmap_slot *slot = seek(m, folded);
    for (; slot->hash == folded && slot->id != HASHMAP_NONE; slot++)
        if (equal(ctx, slot->id, key))
            return slot->id;
    return HASHMAP_NONE;
}

/* Copies all entries, in their order, to free slots of a larger map. Returns false if entries are
 * pushed beyond the last slot. */
static bool copy_all(const struct hashmap *from, struct hashmap *to) {
    uint32_t at = 0, end = slots_of(to->cap) - 2;
    for (uint32_t i = 0; from->cap > 0 && i < slots_of(from->cap); i++) {
        if (from->slots[i].id == HASHMAP_NONE)
            continue;
        uint32_t wanted = home(to->cap, from->slots[i].hash);
        at = wanted > at ? wanted : at;
        if (at >= end)
            return false;
        to->slots[at++] = from->slots[i];
    }
    return true;
}

int hashmap_reserve(struct hashmap *m) {
    if (m->cap > 0 && m->count < room_of(m->cap) &&
        m->slots[slots_of(m->cap) - 2].id == HASHMAP_NONE)
        return 0;
    struct hashmap grown = {.cap = m->cap, .count = m->count};
    do {
        free(grown.slots);
        if (grown.cap > UINT32_MAX / 4)
            return -ENOMEM;
        grown.cap = next_cap(grown.cap);
        uint32_t slots = slots_of(grown.cap);
        grown.slots = malloc(slots * sizeof *grown.slots);
        if (grown.slots == NULL)
            return -ENOMEM;
        for (uint32_t i = 0; i < slots; i++)
            grown.slots[i] = free_slot;
    } while (!copy_all(m, &grown));
    free(m->slots);
    *m = grown;
    return 0;
}

void hashmap_insert(struct hashmap *m, uint64_t hash, uint32_t id) {
    assert(m->cap > 0 && id != HASHMAP_NONE);
    uint32_t folded = hashmap_fold(hash);
    struct hashmap_slot *to = seek(m, folded), *end = to;
    while (end->id != HASHMAP_NONE)
        end++;
    assert(end < m->slots + slots_of(m->cap) - 1);
    if (end > to)
        memmove(to + 1, to, (size_t)(end - to) * sizeof *to);
    *to = (struct hashmap_slot){folded, id};
    m->count++;
}

void hashmap_remove(struct hashmap *m, uint64_t hash, uint32_t id) {
    struct hashmap_slot *hole = seek(m, hashmap_fold(hash));
    for (; hole->id != id; hole++)
        assert(hole->id != HASHMAP_NONE);
    /* Close the gap: move back every later entry of the run that is not at its home. */
    for (; hole[1].id != HASHMAP_NONE && m->slots + home(m->cap, hole[1].hash) <= hole; hole++)
        hole[0] = hole[1];
    *hole = free_slot;
    m->count--;
}

void hashmap_done(struct hashmap *m) {
    free(m->slots);
    *m = (struct hashmap){0};
}
