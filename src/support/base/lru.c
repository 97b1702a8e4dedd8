#include "base/lru.h"

#include <errno.h>
#include <stdatomic.h>

struct owner {
    uint64_t hash;
    struct lru_sum sum;
};

static struct lru_entry *entry_of(const struct lru *l, uint32_t id) {
    return (struct lru_entry *)((char *)pool_at(l->pool, id) + l->entry_offset);
}

static uint64_t stamp_of(const struct lru *l, uint32_t id) {
    return atomic_load_explicit(&entry_of(l, id)->used, memory_order_relaxed);
}

void lru_init(struct lru *l) {
    pool_init(&l->owners, sizeof(struct owner));
}

void lru_done(struct lru *l) {
    pool_done(&l->owners);
    hashmap_done(&l->owner_index);
}

/* ---- owners ---- */

static bool owner_equal(const void *ctx, uint32_t id, const void *key) {
    const struct lru *l = ctx;
    return ((const struct owner *)pool_at(&l->owners, id))->hash == *(const uint64_t *)key;
}

static struct owner *owner_at(const struct lru *l, uint32_t id) {
    return pool_at(&l->owners, id);
}

static uint32_t owner_make(struct lru *l, uint64_t hash) {
    uint32_t id = hashmap_find(&l->owner_index, hash, owner_equal, l, &hash);
    if (id != HASHMAP_NONE)
        return id;
    id = hashmap_reserve(&l->owner_index) == 0 ? pool_take(&l->owners) : POOL_NONE;
    if (id == POOL_NONE)
        return POOL_NONE;
    owner_at(l, id)->hash = hash;
    hashmap_insert(&l->owner_index, hash, id);
    return id;
}

static void owner_settle(struct lru *l, uint32_t id) {
    if (owner_at(l, id)->sum.count > 0)
        return;
    hashmap_remove(&l->owner_index, owner_at(l, id)->hash, id);
    pool_give(&l->owners, id);
}

/* ---- limits ---- */

static bool over(uint64_t sum, uint64_t limit) {
    return limit != 0 && sum > limit;
}

static struct lru_sum with(const struct lru_sum *sum, const struct cost *cost) {
    return (struct lru_sum){sum->count + 1,
                            {sum->cost.steps + cost->steps, sum->cost.bytes + cost->bytes}};
}

static bool over_limits(const struct lru *l, const struct lru_sum *sum) {
    return sum->count > l->limits.count || over(sum->cost.bytes, l->limits.bytes) ||
           over(sum->cost.steps, l->limits.steps);
}

static bool over_share(const struct lru *l, const struct lru_sum *sum) {
    return sum->count > (l->limits.count + LRU_SHARES - 1) / LRU_SHARES ||
           over(sum->cost.bytes, l->limits.bytes / LRU_SHARES) ||
           over(sum->cost.steps, l->limits.steps / LRU_SHARES);
}

bool lru_fits(const struct lru *l, const struct cost *cost) {
    const struct lru_sum alone = {0, *cost};
    return !over_share(l, &alone) && !over(cost->steps, l->limits.owner_steps);
}

/* Returns the record to evict, or POOL_NONE. `own_only`: only the asking owner's own limit is
 * exceeded, not the common limit. */
static uint32_t victim(struct lru *l, uint32_t asker, bool asker_over, bool own_only) {
    uint32_t own = POOL_NONE, of_large = POOL_NONE, any = POOL_NONE;
    l->work += l->pool->count;
    for (POOL_EACH(l->pool, id)) {
        uint32_t owner = entry_of(l, id)->owner;
        uint64_t stamp = stamp_of(l, id);
        if (entry_of(l, id)->pinned)
            continue;
        if (owner == asker && (own == POOL_NONE || stamp < stamp_of(l, own)))
            own = id;
        if (any == POOL_NONE || stamp < stamp_of(l, any))
            any = id;
        if ((of_large == POOL_NONE || stamp < stamp_of(l, of_large)) &&
            over_share(l, &owner_at(l, owner)->sum))
            of_large = id;
    }
    if (own_only || (asker_over && own != POOL_NONE))
        return own;
    return of_large != POOL_NONE ? of_large : any;
}

bool lru_make_room(struct lru *l, uint64_t owner, const struct cost *cost) {
    for (uint32_t freed = 0; lru_fits(l, cost) && freed <= LRU_AT_A_TIME; freed++) {
        static const struct lru_sum nothing;
        uint32_t asker = hashmap_find(&l->owner_index, owner, owner_equal, l, &owner);
        struct lru_sum all = with(&l->all, cost),
                       own =
                           with(asker == HASHMAP_NONE ? &nothing : &owner_at(l, asker)->sum, cost);
        bool own_over = over(own.cost.steps, l->limits.owner_steps);
        if (!own_over && !over_limits(l, &all))
            return true;
        uint32_t id = victim(l, asker, over_share(l, &own), own_over);
        if (id == POOL_NONE || freed == LRU_AT_A_TIME)
            break;
        l->free(l->context, id);
    }
    l->refused++;
    return false;
}

/* ---- records ---- */

static void change(struct lru_sum *sum, const struct cost *cost, bool add) {
    /* unsigned arithmetic: adding the negative value subtracts */
    sum->count += add ? 1 : UINT32_MAX;
    sum->cost.steps += add ? cost->steps : 0 - cost->steps;
    sum->cost.bytes += add ? cost->bytes : 0 - cost->bytes;
}

int lru_add(struct lru *l, uint32_t id, uint64_t owner, const struct cost *cost, uint64_t tick) {
    struct lru_entry *entry = entry_of(l, id);
    entry->owner = owner_make(l, owner);
    if (entry->owner == POOL_NONE)
        return -ENOMEM;
    atomic_store_explicit(&entry->used, tick, memory_order_relaxed);
    entry->cost = *cost;
    change(&owner_at(l, entry->owner)->sum, cost, true);
    change(&l->all, cost, true);
    return 0;
}

void lru_remove(struct lru *l, uint32_t id) {
    const struct lru_entry *entry = entry_of(l, id);
    change(&owner_at(l, entry->owner)->sum, &entry->cost, false);
    change(&l->all, &entry->cost, false);
    owner_settle(l, entry->owner);
}

void lru_grow(struct lru *l, uint32_t id, uint64_t bytes) {
    struct lru_entry *entry = entry_of(l, id);
    entry->cost.bytes += bytes;
    owner_at(l, entry->owner)->sum.cost.bytes += bytes;
    l->all.cost.bytes += bytes;
}

void lru_forget(struct lru *l, uint64_t tick) {
    uint32_t freed = 0;
    for (POOL_EACH(l->pool, id))
        if (stamp_of(l, id) <= tick && !entry_of(l, id)->pinned && freed++ < LRU_AT_A_TIME)
            l->free(l->context, id);
}
