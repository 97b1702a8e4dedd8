/*
 * Namespace records connect the classes, counters and workloads of a namespace. A record lives
 * while one of these refers to it, or while a Namespace object of that name is known.
 */
#include "cache/internal.h"

#include <errno.h>

static bool name_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct namespace_record *record = pool_at(&c->namespaces, id);
    const struct str *name = key;
    return str_eq(intern_str(&c->strings, record->name), *name);
}

uint32_t namespace_find(const struct cache *c, struct str name) {
    return hashmap_find(&c->namespace_index, hash_str(name), name_equal, c, &name);
}

uint32_t namespace_make(struct cache *c, struct str name) {
    uint32_t id = namespace_find(c, name);
    if (id != POOL_NONE)
        return id;
    if (hashmap_reserve(&c->namespace_index) != 0)
        return POOL_NONE;
    uint32_t name_id = intern_ref(&c->strings, name);
    id = name_id == INTERN_NONE ? POOL_NONE : pool_take(&c->namespaces);
    if (id == POOL_NONE) {
        intern_unref(&c->strings, name_id);
        return POOL_NONE;
    }
    *(struct namespace_record *)pool_at(&c->namespaces, id) = (struct namespace_record){
        .name = name_id, .classes = POOL_NONE, .counters = POOL_NONE, .services = POOL_NONE};
    hashmap_insert(&c->namespace_index, hash_str(name), id);
    return id;
}

void namespace_settle(struct cache *c, uint32_t id) {
    struct namespace_record *record = pool_at(&c->namespaces, id);
    if (record->references > 0)
        return;
    hashmap_remove(&c->namespace_index, hash_str(intern_str(&c->strings, record->name)), id);
    intern_unref(&c->strings, record->name);
    pool_give(&c->namespaces, id);
}

int namespace_apply(struct cache *c, const struct object_meta *meta) {
    struct label_set labels;
    uint32_t id = namespace_make(c, meta->name);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct namespace_record *record = pool_at(&c->namespaces, id);
    if (label_set_make(&c->strings, meta->labels, &labels) != 0) {
        namespace_settle(c, id);
        return -ENOMEM;
    }
    label_set_free(&c->strings, &record->labels);
    record->labels = labels;
    const bool is_new = !pool_is_known(&c->namespaces, id);
    record->references += is_new;
    c->known_namespaces += is_new;
    pool_show(&c->namespaces, id);
    return 0;
}

void namespace_forget(struct cache *c, uint32_t id) {
    struct namespace_record *record = pool_at(&c->namespaces, id);
    if (!pool_is_known(&c->namespaces, id))
        return;
    label_set_free(&c->strings, &record->labels);
    pool_hide(&c->namespaces, id);
    c->known_namespaces--;
    record->references--;
    namespace_settle(c, id);
}

int cache_namespace_labels(const struct cache_view *v, struct str name, struct arena *arena,
                           struct labels *ret) {
    const struct cache *c = v->cache;
    uint32_t id = namespace_find(c, name);
    const struct namespace_record *record = id == POOL_NONE ? NULL : pool_at(&c->namespaces, id);
    if (record == NULL || !pool_is_known(&c->namespaces, id))
        return -ENOENT;
    struct label *items = arena_array(arena, record->labels.count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < record->labels.count; i++) {
        const struct label label = label_set_at(&c->strings, &record->labels, i);
        items[i] = (struct label){arena_str(arena, label.key), arena_str(arena, label.value)};
    }
    if (arena_failed(arena))
        return -ENOMEM;
    *ret = (struct labels){items, record->labels.count};
    return 0;
}
