/*
 * Pods without a node. They count nowhere. The cache keeps their workloads, so that a report about
 * workloads has all pods; and their ages, because a pod may wait for a constraint or a volume. A
 * record has as its key 96 bits of a keyed hash of the pod's UID, and the workload's name in
 * interned parts.
 */
#include "base/limits.h"
#include "base/timestamp.h"
#include "cache/internal.h"
#include "cache/placed.h"

#include <errno.h>

enum { MINUTE_MS = 60000, NOT_KNOWN = INT32_MAX };

static bool uid_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct hash128 *uid = key;
    const struct pending_record *pod = pool_at(&c->pending, id);
    return pod->uid_a == uid->a && pod->uid_b == (uint32_t)uid->b;
}

static uint32_t find(const struct cache *c, const struct object_meta *pod,
                     struct hash128 *ret_uid) {
    *ret_uid = pod_identity(pod);
    return hashmap_find(&c->pending_index, ret_uid->a, uid_equal, c, ret_uid);
}

static void release_names(struct cache *c, const struct pending_record *pod) {
    intern_unref(&c->strings, pod->namespace);
    intern_unref(&c->strings, pod->group);
    intern_unref(&c->strings, pod->kind);
    intern_unref(&c->strings, pod->name);
}

void pending_forget(struct cache *c, uint32_t id) {
    const struct pending_record *pod = pool_at(&c->pending, id);
    release_names(c, pod);
    hashmap_remove(&c->pending_index, pod->uid_a, id);
    pool_give(&c->pending, id);
    c->changes++;
    c->work++;
}

/* Keeps the name of the pod's workload; a pod that nobody can spread has no name. *ret owns its
 * names in any case. */
static int name_workload(struct cache *c, const struct object_meta *pod,
                         struct pending_record *ret) {
    const struct workload_name controller = controller_of(pod);
    ret->namespace = ret->group = ret->kind = ret->name = INTERN_NONE;
    if (str_empty(pod->controller_name) || controller_chooses_node(controller.type))
        return 0;
    const struct workload_name top = workload_of(controller, labels_lookup, &pod->labels);
    ret->namespace = intern_ref(&c->strings, pod->namespace);
    ret->group = intern_ref(&c->strings, str_cut(top.type.group, LIMIT_OBJECT_NAME));
    ret->kind = intern_ref(&c->strings, str_cut(top.type.kind, LIMIT_OBJECT_NAME));
    ret->name = intern_ref(&c->strings, str_cut(top.name, LIMIT_OBJECT_NAME));
    return ret->namespace != INTERN_NONE && ret->group != INTERN_NONE && ret->kind != INTERN_NONE &&
                   ret->name != INTERN_NONE
               ? 0
               : -ENOMEM;
}

static bool same_workload(const struct pending_record *a, const struct pending_record *b) {
    return a->namespace == b->namespace && a->group == b->group && a->kind == b->kind &&
           a->name == b->name;
}

static uint32_t minute_of(struct str created) {
    int64_t ms;
    const bool known = timestamp_parse(created, &ms) && ms >= 0 && ms / MINUTE_MS < NOT_KNOWN;
    return known ? (uint32_t)(ms / MINUTE_MS) : NOT_KNOWN;
}

/* A Pending pod can change its workload: when a controller adopts it, or lets it go. */
int pending_apply(struct cache *c, const struct pod *pod) {
    struct hash128 uid;
    uint32_t id = find(c, &pod->meta, &uid);
    const bool is_new = id == POOL_NONE;
    struct pending_record named = {.uid_a = uid.a,
                                   .uid_b = (uint32_t)uid.b,
                                   .created_min = minute_of(pod->meta.created) & NOT_KNOWN,
                                   .waits_hard = pod->waits_hard};
    if (name_workload(c, &pod->meta, &named) != 0 ||
        (is_new &&
         (hashmap_reserve(&c->pending_index) != 0 || (id = pool_take(&c->pending)) == POOL_NONE))) {
        release_names(c, &named);
        return -ENOMEM;
    }
    struct pending_record *record = pool_at(&c->pending, id);
    if (is_new)
        hashmap_insert(&c->pending_index, uid.a, id);
    else
        release_names(c, record); /* the names in `named` stay */
    if (is_new || !same_workload(record, &named)) {
        c->changes++;
        c->work++;
    }
    *record = named;
    pool_show(&c->pending, id);
    return 0;
}

void pending_end(struct cache *c, const struct object_meta *pod) {
    struct hash128 uid;
    const uint32_t id = c->pending.count > 0 ? find(c, pod, &uid) : POOL_NONE;
    if (id != POOL_NONE)
        pending_forget(c, id);
}

/* ---- reading ---- */

uint32_t cache_pending_next(const struct cache_view *v, uint32_t *from, struct cache_owner *ret,
                            uint32_t max) {
    const struct cache *c = v->cache;
    uint32_t count = 0;
    uint32_t id = pool_next(&c->pending, *from);
    for (; count < max && id != POOL_NONE; id = pool_next(&c->pending, id + 1)) {
        const struct pending_record *pod = pool_at(&c->pending, id);
        *from = id + 1;
        ret[count] = (struct cache_owner){.namespace = STR("")};
        if (pod->name != INTERN_NONE)
            ret[count] = (struct cache_owner){
                .namespace = intern_str(&c->strings, pod->namespace),
                .type = {intern_str(&c->strings, pod->group), intern_str(&c->strings, pod->kind)},
                .name = intern_str(&c->strings, pod->name)};
        count++;
    }
    if (id == POOL_NONE)
        *from = CACHE_PLACED_END;
    return count;
}

uint32_t cache_pending_count_old(const struct cache_view *v, uint32_t *from, uint32_t max,
                                 int64_t before_ms) {
    const struct cache *c = v->cache;
    uint32_t old = 0, count = 0;
    uint32_t id = pool_next(&c->pending, *from);
    for (; count < max && id != POOL_NONE; id = pool_next(&c->pending, id + 1)) {
        const struct pending_record *pod = pool_at(&c->pending, id);
        *from = id + 1;
        old += pod->waits_hard && (int64_t)pod->created_min * MINUTE_MS < before_ms;
        count++;
    }
    if (id == POOL_NONE)
        *from = CACHE_PLACED_END;
    return old;
}
