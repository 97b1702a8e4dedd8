/*
 * Records of pods, workloads and quotas: found by the hash of their namespace and name, and in
 * lists whose first records an index finds.
 */
#include "members/internal.h"

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct hash128 *has = pool_at(ctx, id), *wanted = key;
    return hash128_equal(*has, *wanted);
}

uint32_t record_find(const struct pool *records, const struct hashmap *index,
                     const struct hash128 *key) {
    return hashmap_find(index, key->a, key_equal, records, key);
}

static struct listed_record *listed_at(const struct pool *records, uint32_t id) {
    return pool_at(records, id);
}

void record_link(const struct pool *records, struct hashmap *firsts, uint64_t hash, uint32_t first,
                 uint32_t id) {
    struct listed_record *record = listed_at(records, id);
    record->next = record->before = POOL_NONE;
    if (first == HASHMAP_NONE) {
        hashmap_insert(firsts, hash, id);
        return;
    }
    struct listed_record *head = listed_at(records, first);
    record->next = head->next;
    record->before = first;
    if (head->next != POOL_NONE)
        listed_at(records, head->next)->before = id;
    head->next = id;
}

void record_unlink(const struct pool *records, struct hashmap *firsts, uint64_t hash, uint32_t id) {
    const struct listed_record *record = listed_at(records, id);
    if (record->before == POOL_NONE)
        hashmap_remove(firsts, hash, id);
    else
        listed_at(records, record->before)->next = record->next;
    if (record->next == POOL_NONE)
        return;
    listed_at(records, record->next)->before = record->before;
    if (record->before == POOL_NONE)
        hashmap_insert(firsts, hash, record->next);
}
