/*
 * Pods. A pod's record has the ids of its node and class, and 96 bits of a keyed hash of its UID as
 * the key. The class has everything that a selector can ask about, and the list of the counters
 * that match it. So to add a pod: find its class, and add 1 to each of those counters at the pod's
 * node.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool uid_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct hash128 *uid = key;
    const struct pod_record *pod = pool_at(&c->pods, id);
    return pod->uid_a == uid->a && pod->uid_b == (uint32_t)uid->b;
}

struct hash128 pod_identity(const struct object_meta *meta) {
    if (meta->uid.n > 0)
        return hash_bytes128(meta->uid.p, meta->uid.n);
    return hash_names128(meta->namespace, meta->name);
}

uint32_t pod_find_identity(const struct cache *c, const struct hash128 *uid) {
    return hashmap_find(&c->pod_index, uid->a, uid_equal, c, uid);
}

uint32_t pod_find(const struct cache *c, const struct object_meta *meta) {
    struct hash128 uid = pod_identity(meta);
    return pod_find_identity(c, &uid);
}

int pod_meta(const struct cache *c, uint32_t id, struct arena *arena, struct object_meta *ret) {
    const struct pod_record *pod = pool_at(&c->pods, id);
    const struct class_record *pod_class = pool_at(&c->classes, pod->pod_class);
    const struct namespace_record *home = pool_at(&c->namespaces, pod_class->namespace);
    struct label *labels = arena_array(arena, pod_class->labels.count, sizeof *labels);
    if (pod_class->cut)
        return -ENODATA;
    if (labels == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < pod_class->labels.count; i++)
        labels[i] = label_set_at(&c->strings, &pod_class->labels, i);
    *ret = (struct object_meta){.namespace = intern_str(&c->strings, home->name),
                                .labels = {labels, pod_class->labels.count}};
    return 0;
}

static void class_count(struct cache *c, struct class_record *pod_class, uint32_t slot,
                        uint32_t by) {
    class_changed(c, pod_class);
    for (uint32_t i = 0; i < pod_class->counter_count; i++) {
        struct counter_record *counter = pool_at(&c->counters, pod_class->counters[i].id);
        counter->counts[slot] += by; /* modulo 2^32: by is 1 or -1 */
    }
}

/* The node, class and requests of a pod to add; the caller has a reference to the requests. */
struct pod_place {
    uint32_t slot, pod_class, requests;
};

/* Is the pod's node fixed, by its record of requests? */
static bool is_tied(const struct cache *c, uint32_t requests) {
    const struct requests_record *record = pool_at(&c->requests, requests);
    return record->reach == CACHE_REACH_FIXED;
}

static void place(struct cache *c, uint32_t id, const struct pod_place *at) {
    struct pod_record *pod = pool_at(&c->pods, id);
    struct class_record *pod_class = pool_at(&c->classes, at->pod_class);
    pod->node = at->slot;
    pod->pod_class = at->pod_class;
    pod->requests = at->requests & INT32_MAX;
    pod->previous = POOL_NONE;
    pod->next = pod_class->pods;
    if (pod_class->pods != POOL_NONE)
        ((struct pod_record *)pool_at(&c->pods, pod_class->pods))->previous = id;
    pod_class->pods = id;
    pod_class->pod_count++;
    pod_class->tied_count += is_tied(c, pod->requests);
    class_count_cut(c, pod_class, 1);
    topology_hold(c->nodes, at->slot);
    class_count(c, pod_class, at->slot, 1);
    node_requests_add(c, at->slot, at->requests);
}

static void unplace(struct cache *c, uint32_t id) {
    struct pod_record *pod = pool_at(&c->pods, id);
    struct class_record *pod_class = pool_at(&c->classes, pod->pod_class);
    class_count(c, pod_class, pod->node, UINT32_MAX);
    node_requests_take(c, pod->node, pod->requests);
    if (pod->previous != POOL_NONE)
        ((struct pod_record *)pool_at(&c->pods, pod->previous))->next = pod->next;
    else
        pod_class->pods = pod->next;
    if (pod->next != POOL_NONE)
        ((struct pod_record *)pool_at(&c->pods, pod->next))->previous = pod->previous;
    pod_class->pod_count--;
    pod_class->tied_count -= is_tied(c, pod->requests);
    class_count_cut(c, pod_class, -1);
    topology_unhold(c->nodes, pod->node);
}

/* ---- coming and going ---- */

/* Returns a new record in the index, without a place yet. */
static uint32_t record_new(struct cache *c, const struct hash128 *uid) {
    if (hashmap_reserve(&c->pod_index) != 0)
        return POOL_NONE;
    uint32_t id = pool_take(&c->pods);
    if (id == POOL_NONE)
        return POOL_NONE;
    struct pod_record *pod = pool_at(&c->pods, id);
    pod->uid_a = uid->a;
    pod->uid_b = (uint32_t)uid->b;
    hashmap_insert(&c->pod_index, uid->a, id);
    return id;
}

/* Gives back a place that no pod has taken. */
static void settle(struct cache *c, const struct pod_place *at) {
    if (at->requests != POOL_NONE)
        requests_unref(c, at->requests);
    if (at->pod_class != POOL_NONE)
        class_settle(c, at->pod_class);
    topology_settle(c->nodes, at->slot);
}

/* Moves record `id` (or a new one) to the place, and owns the place on success. */
static uint32_t put_pod(struct cache *c, uint32_t id, const struct hash128 *uid,
                        const struct pod_place *at) {
    if (node_requests_reserve(c, at->slot, at->requests) != 0)
        return POOL_NONE;
    if (id == POOL_NONE) {
        id = record_new(c, uid);
        if (id != POOL_NONE)
            place(c, id, at);
        return id;
    }
    const struct pod_record *pod = pool_at(&c->pods, id);
    const struct pod_place old = {pod->node, pod->pod_class, pod->requests};
    if (old.slot == at->slot && old.pod_class == at->pod_class && old.requests == at->requests) {
        requests_unref(c, at->requests); /* the record has a reference already */
        return id;
    }
    unplace(c, id);
    place(c, id, at);
    settle(c, &old);
    return id;
}

/* Finds or makes the place for a pod. Returns 0, or -ENOMEM: then everything has been given
 * back. */
static int place_make(struct cache *c, const struct pod *pod, struct pod_place *ret) {
    *ret = (struct pod_place){topology_slot_make(c->nodes, pod->node_name), POOL_NONE, POOL_NONE};
    if (ret->slot == POOL_NONE)
        return -ENOMEM;
    __builtin_prefetch(&c->node_records[ret->slot]); /* node_requests_reserve() looks there */
    ret->pod_class = class_make(c, &pod->meta, pod->scheduler);
    __builtin_prefetch(c->node_records[ret->slot].requested.items);
    struct pod_says says = {TERMS_NONE, CACHE_REACH_FIXED};
    const struct class_record *made =
        ret->pod_class != POOL_NONE ? pool_at(&c->classes, ret->pod_class) : NULL;
    if (made != NULL && terms_ref(c, pod, &says.terms) == 0 &&
        reach_ref(c, pod, made->namespace, &says.reach) == 0)
        ret->requests = requests_ref(c, &pod->requests, says);
    if (ret->requests != POOL_NONE)
        return 0;
    terms_unref(c, says.terms);
    reach_unref(c, says.reach);
    settle(c, ret);
    return -ENOMEM;
}

int pod_apply(struct cache *c, const struct pod *pod, bool reserved, uint32_t *ret_id) {
    struct hash128 uid = pod_identity(&pod->meta);
    uint32_t id = pod_find_identity(c, &uid);
    if (pod->finished || pod->node_name.n == 0) {
        /* while a pod is pending, its reservation stays */
        bool ends = pod->finished || pod->meta.terminating;
        if (id != POOL_NONE && (ends || !((struct pod_record *)pool_at(&c->pods, id))->reserved))
            pod_forget(c, id);
        return 0;
    }
    struct pod_place at;
    if (place_make(c, pod, &at) != 0)
        return -ENOMEM;
    id = put_pod(c, id, &uid, &at);
    if (id == POOL_NONE) {
        settle(c, &at);
        return -ENOMEM;
    }
    struct pod_record *record = pool_at(&c->pods, id);
    pool_show(&c->pods, id);
    if (record->reserved && !reserved)
        reservation_end(c, id);
    if (ret_id != NULL)
        *ret_id = id;
    return 0;
}

void pod_forget(struct cache *c, uint32_t id) {
    struct pod_record *pod = pool_at(&c->pods, id);
    if (pod->reserved)
        reservation_end(c, id);
    unplace(c, id);
    hashmap_remove(&c->pod_index, pod->uid_a, id);
    requests_unref(c, pod->requests);
    class_settle(c, pod->pod_class);
    topology_settle(c->nodes, pod->node);
    pool_give(&c->pods, id);
}

/* ---- reading ---- */

bool cache_pod_find(const struct cache_view *v, const struct object_meta *meta,
                    struct cache_pod *ret) {
    uint32_t id = pod_find(v->cache, meta);
    if (id == POOL_NONE)
        return false;
    const struct pod_record *pod = pool_at(&v->cache->pods, id);
    const struct class_record *pod_class = pool_at(&v->cache->classes, pod->pod_class);
    *ret = (struct cache_pod){id, pod->node, pod_class->terminating, pod->reserved};
    return true;
}

bool cache_pod_counts(const struct cache_view *v, const struct cache_pod *pod, struct str namespace,
                      const struct selector *selector) {
    const struct cache *c = v->cache;
    const struct pod_record *record = pool_at(&c->pods, pod->id);
    const struct class_record *pod_class = pool_at(&c->classes, record->pod_class);
    const struct namespace_record *home = pool_at(&c->namespaces, pod_class->namespace);
    struct label_set_ref labels = {&c->strings, &pod_class->labels};
    return !pod_class->terminating && str_eq(intern_str(&c->strings, home->name), namespace) &&
           selector_matches(selector, label_set_lookup, &labels);
}
