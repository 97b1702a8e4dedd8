/*
 * Maps the names of known nodes to slots: from a 128-bit keyed hash of the name (base/name_hash.h),
 * in one memory access. The hash stands for the name (96 bits of it are kept and compared), so
 * neither the node's record nor its name is touched: with thousands of names in a question, the
 * cost of a look-up is reading memory outside the processor's caches.
 *
 * Open addressing, linear probing, no tombstones. Guarded by the topology's lock.
 */
#pragma once

#include "base/err.h"
#include "base/hash.h"

#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct name_entry {
    uint64_t a;
    uint32_t b;
    uint32_t slot; /* NAME_NONE: empty */
};

struct name_table {
    struct name_entry *entries; /* owned */
    uint32_t cap;               /* a power of two, or 0 */
    uint32_t count;
};

/* Makes room for one more name, so that the next name_table_put() cannot fail. Returns 0 or
 * -ENOMEM. */
int name_table_reserve(struct name_table *t) MUST_CHECK;
void name_table_put(struct name_table *t, struct hash128 name, uint32_t slot);
/* Removes a name that is in the table. */
void name_table_take(struct name_table *t, struct hash128 name);
static inline uint32_t name_table_find(const struct name_table *t, struct hash128 name) {
    if (t->cap == 0)
        return NAME_NONE;
    uint32_t i = (uint32_t)name.a & (t->cap - 1);
    while (t->entries[i].slot != NAME_NONE &&
           (t->entries[i].a != name.a || t->entries[i].b != (uint32_t)name.b))
        i = (i + 1) & (t->cap - 1);
    return t->entries[i].slot;
}
/* Prefetches the entry where the search for this name begins. */
static inline void name_table_prefetch(const struct name_table *t, struct hash128 name) {
    if (t->cap > 0)
        __builtin_prefetch(&t->entries[(uint32_t)name.a & (t->cap - 1)]);
}
void name_table_done(struct name_table *t);
