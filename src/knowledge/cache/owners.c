/*
 * Controllers of pods, with the key (namespace, API group, kind, name). A record has the classes of
 * the controller's pods, so that siblings are found without a walk, and the workload's record, if
 * the workload is kept. The record lives while it has classes or a workload.
 */
#include "base/limits.h"
#include "cache/internal.h"

#include <errno.h>

static bool owner_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct hash128 *wanted = key;
    const struct owner_record *owner = pool_at(&c->owners, id);
    return hash128_equal(owner->key, *wanted);
}

struct hash128 owner_key(uint32_t namespace, struct object_type type, struct str name) {
    struct hash_state hash = hash_begin();
    hash_add_number(&hash, namespace);
    hash_add(&hash, type.group);
    hash_add(&hash, type.kind);
    hash_add(&hash, name);
    return hash_end128(hash);
}

uint32_t owner_find(const struct cache *c, const struct hash128 *key) {
    return hashmap_find(&c->owner_index, key->a, owner_equal, c, key);
}

uint32_t owner_make(struct cache *c, const struct hash128 *key) {
    uint32_t id = owner_find(c, key);
    if (id != POOL_NONE)
        return id;
    if (hashmap_reserve(&c->owner_index) != 0)
        return POOL_NONE;
    id = pool_take(&c->owners);
    if (id == POOL_NONE)
        return POOL_NONE;
    *(struct owner_record *)pool_at(&c->owners, id) = (struct owner_record){.key = *key,
                                                                            .group = INTERN_NONE,
                                                                            .kind = INTERN_NONE,
                                                                            .name = INTERN_NONE,
                                                                            .classes = POOL_NONE,
                                                                            .workload = POOL_NONE};
    hashmap_insert(&c->owner_index, key->a, id);
    return id;
}

static void forget_name(struct cache *c, struct owner_record *owner) {
    intern_unref(&c->strings, owner->group);
    intern_unref(&c->strings, owner->kind);
    intern_unref(&c->strings, owner->name);
    owner->group = owner->kind = owner->name = INTERN_NONE;
}

/* Keeps the name of a controller with pods. Without memory it stays unknown, and its pods belong
 * to no workload. A name that is too long for an object is cut: only a wrong reference can have
 * it. */
static void remember_name(struct cache *c, struct owner_record *owner, struct object_type type,
                          struct str name) {
    if (owner->name != INTERN_NONE)
        return;
    owner->group = intern_ref(&c->strings, str_cut(type.group, LIMIT_OBJECT_NAME));
    owner->kind = intern_ref(&c->strings, str_cut(type.kind, LIMIT_OBJECT_NAME));
    owner->name = intern_ref(&c->strings, str_cut(name, LIMIT_OBJECT_NAME));
    if (owner->group == INTERN_NONE || owner->kind == INTERN_NONE || owner->name == INTERN_NONE)
        forget_name(c, owner);
}

void owner_settle(struct cache *c, uint32_t id) {
    struct owner_record *owner = pool_at(&c->owners, id);
    if (owner->classes == POOL_NONE)
        forget_name(c, owner);
    if (owner->classes != POOL_NONE || owner->workload != POOL_NONE)
        return;
    hashmap_remove(&c->owner_index, owner->key.a, id);
    pool_give(&c->owners, id);
}

/* ---- classes ---- */

uint32_t owner_of(struct cache *c, uint32_t namespace, const struct object_meta *pod) {
    if (str_empty(pod->controller_name))
        return POOL_NONE;
    const struct object_type type = object_type_of(pod->controller_api, pod->controller_kind);
    const struct hash128 key = owner_key(namespace, type, pod->controller_name);
    uint32_t id = owner_make(c, &key);
    if (id != POOL_NONE)
        remember_name(c, pool_at(&c->owners, id), type, pod->controller_name);
    return id;
}

void owner_add_class(struct cache *c, uint32_t id, uint32_t class_id) {
    struct class_record *pod_class = pool_at(&c->classes, class_id);
    pod_class->owner = id;
    pod_class->owner_previous = POOL_NONE;
    pod_class->owner_next = POOL_NONE;
    if (id == POOL_NONE)
        return;
    struct owner_record *owner = pool_at(&c->owners, id);
    pod_class->owner_next = owner->classes;
    if (owner->classes != POOL_NONE)
        ((struct class_record *)pool_at(&c->classes, owner->classes))->owner_previous = class_id;
    owner->classes = class_id;
}

void owner_remove_class(struct cache *c, uint32_t class_id) {
    const struct class_record *pod_class = pool_at(&c->classes, class_id);
    if (pod_class->owner == POOL_NONE)
        return;
    struct owner_record *owner = pool_at(&c->owners, pod_class->owner);
    uint32_t next = pod_class->owner_next, previous = pod_class->owner_previous;
    if (previous == POOL_NONE)
        owner->classes = next;
    else
        ((struct class_record *)pool_at(&c->classes, previous))->owner_next = next;
    if (next != POOL_NONE)
        ((struct class_record *)pool_at(&c->classes, next))->owner_previous = previous;
    owner_settle(c, pod_class->owner);
}

/* ---- reading ---- */

static uint32_t owner_seen(const struct cache_view *v, const struct object_meta *pod) {
    uint32_t namespace = namespace_find(v->cache, pod->namespace);
    if (namespace == POOL_NONE || str_empty(pod->controller_name))
        return POOL_NONE;
    struct hash128 key = owner_key(
        namespace, object_type_of(pod->controller_api, pod->controller_kind), pod->controller_name);
    return owner_find(v->cache, &key);
}

bool cache_owner_selector(const struct cache_view *v, const struct object_meta *pod,
                          const struct label_selector **ret) {
    const struct cache *c = v->cache;
    uint32_t id = owner_seen(v, pod);
    if (id == POOL_NONE)
        return false;
    uint32_t workload = ((const struct owner_record *)pool_at(&c->owners, id))->workload;
    if (workload == POOL_NONE)
        return false;
    *ret = &workload_at(c, workload)->selector;
    return (*ret)->present;
}

void cache_siblings(const struct cache_view *v, const struct object_meta *pod, uint32_t max,
                    cache_sibling_fn *visit, void *ctx) {
    const struct cache *c = v->cache;
    uint32_t id = owner_seen(v, pod);
    uint32_t at = id == POOL_NONE ? POOL_NONE
                                  : ((const struct owner_record *)pool_at(&c->owners, id))->classes;
    for (; at != POOL_NONE && max > 0; max--) {
        const struct class_record *pod_class = pool_at(&c->classes, at);
        const struct label_set_ref labels = {&c->strings, &pod_class->labels};
        at = pod_class->owner_next;
        if (!pod_class->terminating && !pod_class->cut && pod_class->pod_count > 0)
            visit(ctx, label_set_lookup, &labels, pod_class->pod_count);
    }
}
