/* Finds the workloads of a round. */
#include "evenness/round.h"
#include "model/workload.h"

#include <errno.h>

static bool namespace_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    return str_eq(s->namespaces[id].name, *(const struct str *)key);
}

int round_namespace(struct evenness_round *r, struct str name, struct seen_namespace **ret) {
    struct seen *s = &r->seen;
    uint64_t hash = hash_str(name);
    uint32_t id = hashmap_find(&s->namespace_index, hash, namespace_equal, s, &name);
    if (id == HASHMAP_NONE) {
        struct seen_namespace *items =
            room_for(s->namespaces, s->namespace_count, &s->namespace_cap, sizeof *items);
        if (items == NULL || hashmap_reserve(&s->namespace_index) != 0) {
            s->namespaces = items != NULL ? items : s->namespaces;
            return -ENOMEM;
        }
        s->namespaces = items;
        id = s->namespace_count++;
        items[id] = (struct seen_namespace){.name = arena_str(r->report->arena, name)};
        hashmap_insert(&s->namespace_index, hash, id);
    }
    *ret = &s->namespaces[id];
    return 0;
}

static bool workload_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    const struct hash128 *wanted = key;
    return hash128_equal(s->workloads[id].key, *wanted);
}

/* Returns `last` if it is equal, otherwise a copy: there are few kinds, so workloads that follow
 * each other share a name. */
static struct str shared(struct evenness_round *r, struct str text, struct str last) {
    return str_eq(text, last) ? last : arena_str(r->report->arena, text);
}

static int add_workload(struct evenness_round *r, struct str namespace,
                        const struct workload_name *name, const struct hash128 *key,
                        uint32_t *ret) {
    struct seen *s = &r->seen;
    struct seen_namespace *home;
    int result = round_namespace(r, namespace, &home);
    if (result != 0)
        return result;
    *ret = MEMO_BEYOND;
    if (s->workload_count == LIMIT_EVENNESS_WORKLOADS ||
        home->workloads == LIMIT_EVENNESS_OF_A_NAMESPACE)
        return 0;
    struct seen_workload *items =
        room_for(s->workloads, s->workload_count, &s->workload_cap, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    s->workloads = items;
    if (hashmap_reserve(&s->workload_index) != 0)
        return -ENOMEM;
    const struct evenness_workload none = {.pods = 0},
                                   *last = s->workload_count > 0 ? &items[s->workload_count - 1].is
                                                                 : &none;
    home->workloads++;
    items[s->workload_count] =
        (struct seen_workload){.key = *key,
                               .is = {.namespace = home->name,
                                      .group = shared(r, name->type.group, last->group),
                                      .kind = shared(r, name->type.kind, last->kind),
                                      .name = arena_str(r->report->arena, name->name),
                                      .tag = UINT32_MAX},
                               .groups = UINT32_MAX};
    hashmap_insert(&s->workload_index, key->a, s->workload_count);
    *ret = s->workload_count++;
    return arena_failed(r->report->arena) ? -ENOMEM : 0;
}

struct labels_of_group {
    const struct cache_view *view;
    uint32_t group;
};

static bool lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct labels_of_group *labels = ctx;
    return cache_placed_label(labels->view, labels->group, key, ret_value);
}

static struct hash128 key_of(struct str namespace, const struct workload_name *name) {
    struct hash_state hash = hash_begin();
    hash_add(&hash, namespace);
    hash_add(&hash, name->type.group);
    hash_add(&hash, name->type.kind);
    hash_add(&hash, name->name);
    return hash_end128(hash);
}

int round_add_pending(struct evenness_round *r, const struct cache_owner *workload) {
    const struct workload_name name = {workload->type, workload->name};
    r->seen.pending++;
    if (str_empty(workload->name))
        return 0;
    const struct hash128 key = key_of(workload->namespace, &name);
    uint32_t id = hashmap_find(&r->seen.workload_index, key.a, workload_equal, &r->seen, &key);
    int result = id == HASHMAP_NONE ? add_workload(r, workload->namespace, &name, &key, &id) : 0;
    if (result == 0 && id < MEMO_BEYOND)
        r->seen.workloads[id].is.pending++;
    return result;
}

int round_workload_of(struct evenness_round *r, const struct cache_view *v, uint32_t group,
                      uint32_t *ret) {
    uint32_t *memo = &r->groups.items[group];
    struct cache_owner owner;
    *ret = *memo;
    if (*memo != MEMO_EMPTY)
        return 0;
    r->piece_steps += RESOLVE_STEPS;
    *ret = *memo = MEMO_NONE;
    if (!cache_placed_owner(v, group, &owner))
        return 0;
    const struct labels_of_group labels = {v, group};
    const struct workload_name name =
        workload_of((struct workload_name){owner.type, owner.name}, lookup, &labels);
    const struct hash128 key = key_of(owner.namespace, &name);
    uint32_t id = hashmap_find(&r->seen.workload_index, key.a, workload_equal, &r->seen, &key);
    int result = id == HASHMAP_NONE ? add_workload(r, owner.namespace, &name, &key, &id) : 0;
    if (result != 0)
        return result;
    if (r->tag != NULL && id < MEMO_BEYOND && r->seen.workloads[id].is.pods == 0) {
        r->seen.workloads[id].is.tag = r->tag(r->tag_ctx, v, group);
        r->piece_steps += r->tag_steps;
    }
    *ret = *memo = id;
    return 0;
}
