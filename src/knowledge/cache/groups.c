/*
 * Walks over the classes of pods, for callers that need all of them.
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

/* Gets the controller; a pod without a controller counts as its own controller. Returns false if
 * the controller is not known. */
static bool find_controller(const struct cache_view *v, uint32_t group,
                            const struct class_record *pod_class, struct workload_name *ret) {
    struct cache_owner owner;
    *ret = controller_of(&(struct object_meta){.name = STR("")});
    if (pod_class->owner == POOL_NONE)
        return true;
    if (!cache_placed_owner(v, group, &owner))
        return false;
    *ret = (struct workload_name){owner.type, owner.name};
    return true;
}

int cache_group_of(const struct cache_view *v, uint32_t group, struct arena *arena,
                   struct cache_group *ret) {
    const struct cache *c = v->cache;
    const struct class_record *pod_class = pool_at(&c->classes, group);
    const struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    *ret =
        (struct cache_group){.namespace = intern_str(&c->strings, record->name),
                             .namespace_known = pool_is_known(&c->namespaces, pod_class->namespace),
                             .namespace_labels = labels_of(c, &record->labels, arena),
                             .labels_known = !pod_class->cut,
                             .labels = labels_of(c, &pod_class->labels, arena),
                             .scheduler = pod_class->scheduler == INTERN_NONE
                                              ? STR("")
                                              : intern_str(&c->strings, pod_class->scheduler),
                             .pods = pod_class->pod_count,
                             .tied = pod_class->tied_count};
    ret->controller_known = find_controller(v, group, pod_class, &ret->controller);
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

/* Gets the next class of the namespace that is not terminating and whose labels are kept; POOL_NONE
 * after the last. 0 or -E2BIG. */
static int next_class(const struct cache_view *v, uint32_t namespace, uint32_t from,
                      uint32_t *ret) {
    enum { PASSED_A_STEP = 16 };
    const struct cache *c = v->cache;
    uint32_t passed = 0;
    for (*ret = pool_next(&c->classes, from); *ret != POOL_NONE;
         *ret = pool_next(&c->classes, *ret + 1)) {
        const struct class_record *pod_class = pool_at(&c->classes, *ret);
        if (pod_class->namespace == namespace && !pod_class->terminating && !pod_class->cut)
            return 0;
        if (++passed % PASSED_A_STEP == 0 && view_take(v, 1) != 0)
            return -E2BIG;
    }
    return 0;
}

int cache_labels_next(const struct cache_view *v, struct str namespace, uint32_t *at,
                      struct label_set_ref *ret) {
    const struct cache *c = v->cache;
    uint32_t home = namespace_find(c, namespace), id = POOL_NONE;
    int r = home == POOL_NONE ? 0 : next_class(v, home, *at, &id);
    if (r != 0 || id == POOL_NONE)
        return r;
    const struct class_record *pod_class = pool_at(&c->classes, id);
    if (view_take(v, 1) != 0)
        return -E2BIG;
    *at = id + 1;
    *ret = (struct label_set_ref){&c->strings, &pod_class->labels};
    return 1;
}
