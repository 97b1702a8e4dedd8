/*
 * Assumed pods: kube-scheduler knows the best nodes for them and will very probably bind them
 * there, but no watch event has shown it yet. Each counts as one pod that is divided evenly among
 * those nodes, so a counter has, beside its pods per node, such shares per node.
 *
 * A record belongs to the pod's class, like a real pod: its shares are added to the counters that
 * match the class. All records live equally long, so one list from the oldest to the newest serves
 * both the time limit and making room.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool uid_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct hash128 *uid = key;
    const struct assumed_record *assumed = pool_at(&c->assumed, id);
    return hash128_equal(assumed->uid, *uid);
}

static uint32_t assumed_find(const struct cache *c, const struct object_meta *pod) {
    struct hash128 uid = pod_identity(pod);
    return hashmap_find(&c->assumed_index, uid.a, uid_equal, c, &uid);
}

/* Returns the share of slot i; all shares together are one pod. */
static int64_t share(const struct assumed_record *assumed, uint32_t i) {
    return CACHE_POD / assumed->count + (i < CACHE_POD % assumed->count);
}

int assumed_add(const struct cache *c, const struct assumed_record *assumed,
                struct counter_record *counter) {
    if (counter->assumed == NULL) {
        counter->assumed = calloc(topology_cap(c->nodes), sizeof *counter->assumed);
        if (counter->assumed == NULL)
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < assumed->count; i++)
        counter->assumed[assumed->slots[i]] += share(assumed, i);
    counter->assumed_pods++;
    return 0;
}

/* Calls assumed_add() for a kept counter, and counts its additional bytes. */
static int add_counted(struct cache *c, const struct assumed_record *assumed, uint32_t id) {
    struct counter_record *counter = pool_at(&c->counters, id);
    bool had = counter->assumed != NULL;
    int r = assumed_add(c, assumed, counter);
    if (r == 0 && !had)
        lru_grow(&c->counters_kept, id, topology_cap(c->nodes) * sizeof *counter->assumed);
    return r;
}

static void take_from(const struct assumed_record *assumed, struct counter_record *counter) {
    for (uint32_t i = 0; i < assumed->count; i++)
        counter->assumed[assumed->slots[i]] -= share(assumed, i);
    counter->assumed_pods--;
}

static struct counter_record *counter_of(struct cache *c, const struct class_record *pod_class,
                                         uint32_t i) {
    return pool_at(&c->counters, pod_class->counters[i].id);
}

/* Returns the record's class, prepared for a change of its counters. Takes one step for each 16
 * changed counts. */
static struct class_record *changing_class(struct cache *c, const struct assumed_record *assumed) {
    struct class_record *pod_class = pool_at(&c->classes, assumed->pod_class);
    class_changed(c, pod_class);
    c->work += (uint64_t)pod_class->counter_count * assumed->count / 16;
    return pod_class;
}

/* Counts the pod in all counters of its class, or in none. */
static int count(struct cache *c, const struct assumed_record *assumed) {
    struct class_record *pod_class = changing_class(c, assumed);
    for (uint32_t i = 0; i < pod_class->counter_count; i++)
        if (add_counted(c, assumed, pod_class->counters[i].id) != 0) {
            while (i > 0)
                take_from(assumed, counter_of(c, pod_class, --i));
            return -ENOMEM;
        }
    return 0;
}

static void uncount(struct cache *c, const struct assumed_record *assumed) {
    struct class_record *pod_class = changing_class(c, assumed);
    for (uint32_t i = 0; i < pod_class->counter_count; i++)
        take_from(assumed, counter_of(c, pod_class, i));
}

/* Releases the slots, which the record has held. */
static void release_slots(struct cache *c, const struct assumed_record *assumed) {
    for (uint32_t i = 0; i < assumed->count; i++) {
        topology_unhold(c->nodes, assumed->slots[i]);
        topology_settle(c->nodes, assumed->slots[i]);
    }
}

static void unlink_record(struct cache *c, const struct assumed_record *assumed) {
    if (assumed->older != POOL_NONE)
        ((struct assumed_record *)pool_at(&c->assumed, assumed->older))->newer = assumed->newer;
    else
        c->assumed_oldest = assumed->newer;
    if (assumed->newer != POOL_NONE)
        ((struct assumed_record *)pool_at(&c->assumed, assumed->newer))->older = assumed->older;
    else
        c->assumed_newest = assumed->older;
}

void assumed_free(struct cache *c, uint32_t id) {
    struct assumed_record *assumed = pool_at(&c->assumed, id);
    struct class_record *pod_class = pool_at(&c->classes, assumed->pod_class);
    uncount(c, assumed);
    release_slots(c, assumed);
    unlink_record(c, assumed);
    pod_class->assumed_count--;
    class_settle(c, assumed->pod_class);
    hashmap_remove(&c->assumed_index, assumed->uid.a, id);
    free(assumed->slots);
    pool_give(&c->assumed, id);
}

void assumed_end(struct cache *c, const struct object_meta *pod) {
    if (c->assumed.count == 0)
        return;
    uint32_t id = assumed_find(c, pod);
    if (id != POOL_NONE)
        assumed_free(c, id);
}

void assumed_expire(struct cache *c, int64_t now_ms) {
    while (c->assumed.count > 0 &&
           ((const struct assumed_record *)pool_at(&c->assumed, c->assumed_oldest))->expires_ms <=
               now_ms) {
        assumed_free(c, c->assumed_oldest);
        cache_write_pause(c);
    }
}

static void append_record(struct cache *c, uint32_t id) {
    struct assumed_record *assumed = pool_at(&c->assumed, id);
    assumed->older = c->assumed.count > 1 ? c->assumed_newest : POOL_NONE;
    assumed->newer = POOL_NONE;
    if (assumed->older != POOL_NONE)
        ((struct assumed_record *)pool_at(&c->assumed, assumed->older))->newer = id;
    else
        c->assumed_oldest = id;
    c->assumed_newest = id;
}

/* Adds a record to the class, index and list, and counts it. Settles the class on failure. */
static int put(struct cache *c, const struct object_meta *pod, uint32_t class_id,
               const uint32_t *slots, uint32_t slot_count) {
    uint32_t id = hashmap_reserve(&c->assumed_index) == 0 ? pool_take(&c->assumed) : POOL_NONE;
    uint32_t *kept = malloc(slot_count * sizeof *kept);
    if (id == POOL_NONE || kept == NULL) {
        if (id != POOL_NONE)
            pool_give(&c->assumed, id);
        free(kept);
        class_settle(c, class_id);
        return -ENOMEM;
    }
    memcpy(kept, slots, slot_count * sizeof *kept);
    struct assumed_record *assumed = pool_at(&c->assumed, id);
    assumed->uid = pod_identity(pod);
    assumed->expires_ms =
        c->options.clock->now_ms(c->options.clock) + c->options.reservation_ttl_ms;
    assumed->pod_class = class_id;
    assumed->slots = kept;
    assumed->count = slot_count;
    if (count(c, assumed) != 0) {
        pool_give(&c->assumed, id);
        free(kept);
        class_settle(c, class_id);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < slot_count; i++)
        topology_hold(c->nodes, kept[i]);
    ((struct class_record *)pool_at(&c->classes, class_id))->assumed_count++;
    hashmap_insert(&c->assumed_index, assumed->uid.a, id);
    append_record(c, id);
    return 0;
}

/* Are the labels short enough to be kept while the pod is assumed? */
static bool is_short(const struct labels *labels) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < labels->count; i++)
        bytes += labels->items[i].key.n + labels->items[i].value.n;
    return bytes <= LIMIT_ASSUMED_TEXT;
}

int cache_assume(struct cache *c, const struct object_meta *pod, const struct cache_nodes *where) {
    assumed_end(c, pod);
    if (where->epoch != topology_slot_epoch(c->nodes))
        return -ESTALE;
    if (where->count == 0 || pod->terminating || !is_short(&pod->labels) ||
        pod_find(c, pod) != POOL_NONE)
        return 0;
    if (c->assumed.count >= LIMIT_ASSUMED)
        assumed_free(c, c->assumed_oldest);
    uint32_t pod_class = class_make(c, pod, STR("")); /* its scheduler does not matter */
    if (pod_class == POOL_NONE)
        return -ENOMEM;
    if (((const struct class_record *)pool_at(&c->classes, pod_class))->cut) {
        class_settle(c, pod_class);
        return 0;
    }
    return put(c, pod, pod_class, where->slots, where->count);
}

int cache_assume_on(struct cache *c, const struct object_meta *pod, struct str node_name) {
    uint32_t slot = topology_slot(c->nodes, node_name);
    const struct cache_nodes where = {&slot, slot == POOL_NONE ? 0 : 1,
                                      topology_slot_epoch(c->nodes)};
    return cache_assume(c, pod, &where);
}

int cache_move_assumed(struct cache *c, const struct object_meta *pod, struct str node_name) {
    uint32_t id = assumed_find(c, pod), slot = topology_slot(c->nodes, node_name);
    if (id == POOL_NONE || slot == POOL_NONE)
        return -ENOENT;
    struct assumed_record *assumed = pool_at(&c->assumed, id);
    uncount(c, assumed);
    topology_hold(c->nodes, slot);
    release_slots(c, assumed);
    assumed->slots[0] = slot;
    assumed->count = 1;
    return count(c, assumed); /* cannot fail: every counter has shares already */
}

void cache_unassume(struct cache *c, const struct object_meta *pod) {
    assumed_end(c, pod);
}

bool cache_is_assumed(const struct cache_view *v, const struct object_meta *pod) {
    return v->cache->assumed.count > 0 && assumed_find(v->cache, pod) != POOL_NONE;
}
