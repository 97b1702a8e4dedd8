/*
 * An open-addressing index from a hash to a uint32 id. The caller keeps the keys (usually in an
 * array of records), and passes a function that checks if record `id` has the wanted key. Eight
 * bytes a slot, no allocation per entry, no tombstones. A map of thousands is 70 to 88 % full, a
 * smaller one up to 67 %. Not thread-safe for writers; readers may share it while nobody writes.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define HASHMAP_NONE UINT32_MAX

struct hashmap_slot;

struct hashmap {
    struct hashmap_slot *slots; /* owned */
    uint32_t cap;               /* number of home slots of hashes; some more slots follow them */
    uint32_t count;
};

/* Returns the part of a hash that the map uses. A caller may keep and pass this part instead of the
 * hash: hashmap_fold() does not change it. */
static inline uint32_t hashmap_fold(uint64_t hash) {
    return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

/* Does record `id` have this key? `ctx` and `key` are passed through from hashmap_find(). */
typedef bool hashmap_equal_fn(const void *ctx, uint32_t id, const void *key);

/* Returns the id of the record with this key, or HASHMAP_NONE. */
uint32_t hashmap_find(const struct hashmap *m, uint64_t hash, hashmap_equal_fn *equal,
                      const void *ctx, const void *key);
/* Makes room for one more entry: the next hashmap_insert() cannot fail. Returns 0 or -ENOMEM. */
int hashmap_reserve(struct hashmap *m) MUST_CHECK;
/* Adds a new entry; call hashmap_reserve() first. `id` is not HASHMAP_NONE. */
void hashmap_insert(struct hashmap *m, uint64_t hash, uint32_t id);
/* Removes the entry with this hash and id; it must be there. */
void hashmap_remove(struct hashmap *m, uint64_t hash, uint32_t id);
void hashmap_done(struct hashmap *m);
