/*
 * Walking over the classes of pods, for those who ask about all of them at once.
 */
#include "cache/placed.h"

#include "cache/internal.h"

#include <errno.h>

static struct labels labels_of(const struct cache *c, const struct label_set *set,
                               struct arena *arena) {
    struct label *items = arena_array(arena, set->count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < set->count; i++)
        items[i] = label_set_at(&c->strings, set, i);
    return (struct labels){items, items != NULL ? set->count : 0};
}

int cache_group_of(const struct cache_view *v, uint32_t group, struct arena *arena,
                   struct cache_group *ret) {
    const struct cache *c = v->cache;
    const struct class_record *pod_class = pool_at(&c->classes, group);
    const struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    *ret = (struct cache_group){.namespace = intern_str(&c->strings, record->name),
                                .namespace_known = record->known,
                                .namespace_labels = labels_of(c, &record->labels, arena),
                                .labels = labels_of(c, &pod_class->labels, arena),
                                .pods = pod_class->pod_count};
    return arena_failed(arena) ? -ENOMEM : 0;
}

int cache_group_next(const struct cache_view *v, uint32_t *at, struct arena *arena,
                     struct cache_group *ret) {
    const struct cache *c = v->cache;
    uint32_t id = pool_next(&c->classes, *at);
    while (id != POOL_NONE && ((const struct class_record *)pool_at(&c->classes, id))->terminating)
        id = pool_next(&c->classes, id + 1);
    if (id == POOL_NONE)
        return 0;
    *at = id + 1;
    return cache_group_of(v, id, arena, ret) == 0 ? 1 : -ENOMEM;
}
