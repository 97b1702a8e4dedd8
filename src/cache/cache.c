#include "cache/internal.h"

#include "base/mutex.h"

#include <errno.h>
#include <stdlib.h>

/* ---- label sets ---- */

static void label_ids_unref(struct cache *c, struct label_ids *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        intern_unref(&c->strings, items[i].key);
        intern_unref(&c->strings, items[i].value);
    }
}

int label_set_make(struct cache *c, struct labels labels, struct label_set *ret) {
    struct label_ids *items = NULL;
    if (labels.count > 0) {
        items = malloc(labels.count * sizeof *items);
        if (items == NULL)
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < labels.count; i++) {
        items[i] = (struct label_ids){intern_ref(&c->strings, labels.items[i].key),
                                      intern_ref(&c->strings, labels.items[i].value)};
        if (items[i].key == INTERN_NONE || items[i].value == INTERN_NONE) {
            label_ids_unref(c, items, i + 1);
            free(items);
            return -ENOMEM;
        }
    }
    *ret = (struct label_set){items, labels.count};
    return 0;
}

void label_set_free(struct cache *c, struct label_set *set) {
    label_ids_unref(c, set->items, set->count);
    free(set->items);
    *set = (struct label_set){0};
}

bool label_set_is(const struct cache *c, const struct label_set *set, struct labels labels) {
    if (set->count != labels.count)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (!str_eq(intern_str(&c->strings, set->items[i].key), labels.items[i].key) ||
            !str_eq(intern_str(&c->strings, set->items[i].value), labels.items[i].value))
            return false;
    return true;
}

bool label_set_lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct label_set_ref *ref = ctx;
    uint32_t id = intern_find(&ref->cache->strings, key);
    for (uint32_t i = 0; id != INTERN_NONE && i < ref->set->count; i++)
        if (ref->set->items[i].key == id) {
            *ret_value = intern_str(&ref->cache->strings, ref->set->items[i].value);
            return true;
        }
    return false;
}

/* ---- life ---- */

int cache_new(const struct cache_options *options, struct cache **ret, struct err *err) {
    struct cache *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for the cache");
    rwlock_init(&c->lock);
    c->options = *options;
    if (c->options.max_counters == 0)
        c->options.max_counters = LIMIT_COUNTERS;
    if (c->options.max_eligibilities == 0)
        c->options.max_eligibilities = LIMIT_ELIGIBILITIES;
    if (c->options.max_columns == 0)
        c->options.max_columns = LIMIT_COLUMNS;
    if (c->options.clock == NULL)
        c->options.clock = clock_real();
    pool_init(&c->nodes, sizeof(struct node_record));
    pool_init(&c->namespaces, sizeof(struct namespace_record));
    pool_init(&c->classes, sizeof(struct class_record));
    pool_init(&c->pods, sizeof(struct pod_record));
    pool_init(&c->counters, sizeof(struct counter_record));
    pool_init(&c->columns, sizeof(struct column_record));
    pool_init(&c->eligibilities, sizeof(struct eligibility_record));
    pool_init(&c->workloads, sizeof(struct workload_record));
    pool_init(&c->flights, sizeof(struct flight_record));
    pool_init(&c->assumed, sizeof(struct assumed_record));
    *ret = c;
    return 0;
}

static void free_contents(struct cache *c) {
    for (POOL_EACH(&c->flights, id))
        flight_free(c, id);
    for (POOL_EACH(&c->assumed, id))
        assumed_free(c, id);
    for (POOL_EACH(&c->counters, id))
        counter_free(c, id);
    for (POOL_EACH(&c->eligibilities, id))
        eligibility_free(c, id);
    for (POOL_EACH(&c->columns, id))
        column_free(c, id);
    for (POOL_EACH(&c->pods, id))
        pod_forget(c, id);
    for (POOL_EACH(&c->nodes, id))
        node_forget(c, id);
    for (POOL_EACH(&c->workloads, id))
        workload_forget(c, id);
    for (POOL_EACH(&c->namespaces, id))
        namespace_forget(c, id);
}

void cache_free(struct cache *c) {
    if (c == NULL)
        return;
    free_contents(c);
    struct pool *pools[] = {&c->nodes,    &c->namespaces, &c->classes,       &c->pods,
                            &c->counters, &c->columns,    &c->eligibilities, &c->workloads,
                            &c->flights,  &c->assumed};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        pool_done(pools[i]);
    struct hashmap *indexes[] = {&c->node_index,   &c->namespace_index, &c->class_index,
                                 &c->pod_index,    &c->counter_index,   &c->eligibility_index,
                                 &c->flight_index, &c->assumed_index};
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        hashmap_done(indexes[i]);
    name_table_done(&c->known_names);
    free(c->reservations);
    intern_done(&c->strings);
    rwlock_done(&c->lock);
    free(c);
}

/* ---- writing ---- */

void cache_write_begin(struct cache *c) NOT_ANALYSED {
    rwlock_write(&c->lock);
}

void cache_write_end(struct cache *c) NOT_ANALYSED {
    rwlock_write_done(&c->lock);
}

/* The pod is bound or gone: nothing about it is a guess any more. */
static void unassume(struct cache *c, const struct object_meta *pod) {
    flight_end(c, pod);
    assumed_end(c, pod);
}

/* A pod still pending says nothing about where it is to land. */
static int apply_pod(struct cache *c, const struct pod *pod) {
    int r = pod_apply(c, pod, false, NULL);
    if (r == 0 && (pod->node_name.n > 0 || pod->finished || pod->meta.terminating))
        unassume(c, &pod->meta);
    return r;
}

int cache_apply(struct cache *c, const struct object *object) {
    switch (object->kind) {
    case OBJECT_NODE:
        return node_apply(c, &object->node);
    case OBJECT_POD:
        return apply_pod(c, &object->pod);
    case OBJECT_NAMESPACE:
        return namespace_apply(c, &object->meta);
    case OBJECT_SERVICE:
    case OBJECT_REPLICATION_CONTROLLER:
    case OBJECT_REPLICA_SET:
    case OBJECT_STATEFUL_SET:
        return workload_apply(c, object->kind, &object->workload);
    case OBJECT_OTHER:
        break;
    }
    return 0;
}

void cache_remove(struct cache *c, const struct object *object) {
    uint32_t id = POOL_NONE;
    switch (object->kind) {
    case OBJECT_NODE:
        if ((id = node_slot(c, object->meta.name)) != POOL_NONE)
            node_forget(c, id);
        break;
    case OBJECT_POD:
        unassume(c, &object->meta);
        if ((id = pod_find(c, &object->meta)) != POOL_NONE)
            pod_forget(c, id);
        break;
    case OBJECT_NAMESPACE:
        if ((id = namespace_find(c, object->meta.name)) != POOL_NONE)
            namespace_forget(c, id);
        break;
    case OBJECT_SERVICE:
    case OBJECT_REPLICATION_CONTROLLER:
    case OBJECT_REPLICA_SET:
    case OBJECT_STATEFUL_SET:
        if ((id = workload_find(c, object->kind, &object->meta)) != POOL_NONE)
            workload_forget(c, id);
        break;
    case OBJECT_OTHER:
        break;
    }
}

void cache_sync_begin(struct cache *c, uint32_t kinds) {
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++)
        if (kinds & CACHE_KIND(kind))
            c->generations[kind]++;
}

static void forget_old_pods(struct cache *c) {
    for (POOL_EACH(&c->pods, id)) {
        const struct pod_record *pod = pool_at(&c->pods, id);
        if (pod->generation != c->generations[OBJECT_POD] && !pod->reserved)
            pod_forget(c, id);
    }
}

static void forget_old_nodes(struct cache *c) {
    for (POOL_EACH(&c->nodes, id)) {
        const struct node_record *node = pool_at(&c->nodes, id);
        if (node->known && node->generation != c->generations[OBJECT_NODE])
            node_forget(c, id);
    }
}

static void forget_old_workloads(struct cache *c, uint32_t kinds) {
    for (POOL_EACH(&c->workloads, id)) {
        const struct workload_record *workload = pool_at(&c->workloads, id);
        if ((kinds & CACHE_KIND(workload->kind)) &&
            workload->generation != c->generations[workload->kind])
            workload_forget(c, id);
    }
}

static void forget_old_namespaces(struct cache *c) {
    for (POOL_EACH(&c->namespaces, id)) {
        const struct namespace_record *record = pool_at(&c->namespaces, id);
        if (record->known && record->generation != c->generations[OBJECT_NAMESPACE])
            namespace_forget(c, id);
    }
}

void cache_sync_end(struct cache *c, uint32_t kinds) {
    if (kinds & CACHE_KIND(OBJECT_POD))
        forget_old_pods(c);
    if (kinds & CACHE_KIND(OBJECT_NODE))
        forget_old_nodes(c);
    forget_old_workloads(c, kinds);
    if (kinds & CACHE_KIND(OBJECT_NAMESPACE))
        forget_old_namespaces(c);
    c->synced |= kinds;
    if ((c->synced & CACHE_ALL_KINDS) == CACHE_ALL_KINDS)
        atomic_store(&c->ready, true);
}

/* ---- age ---- */

void cache_heard(struct cache *c, enum object_kind kind, int64_t at_ms) {
    atomic_store_explicit(&c->heard_ms[kind], at_ms, memory_order_relaxed);
}

int64_t cache_age_ms(const struct cache *c) {
    int64_t oldest_ms = INT64_MAX;
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++) {
        int64_t at_ms = atomic_load_explicit(&c->heard_ms[kind], memory_order_relaxed);
        if (at_ms != 0 && at_ms < oldest_ms)
            oldest_ms = at_ms;
    }
    int64_t now_ms = c->options.clock->now_ms(c->options.clock);
    return oldest_ms > now_ms ? 0 : now_ms - oldest_ms;
}

/* ---- reading ---- */

bool cache_ready(const struct cache *c) {
    return atomic_load(&c->ready);
}

void cache_view_open(struct cache *c, bool exclusive, struct cache_view *ret) NOT_ANALYSED {
    if (exclusive)
        rwlock_write(&c->lock);
    else
        rwlock_read(&c->lock);
    *ret = (struct cache_view){
        .cache = c,
        .exclusive = exclusive,
        .tick = atomic_fetch_add_explicit(&c->tick, 1, memory_order_relaxed) + 1};
}

void cache_view_close(struct cache_view *v) NOT_ANALYSED {
    if (v->exclusive) {
        lru_shrink(v->cache, columns_lru(v->cache));
        lru_shrink(v->cache, counters_lru(v->cache));
        lru_shrink(v->cache, eligibilities_lru(v->cache));
    }
    if (v->exclusive)
        rwlock_write_done(&v->cache->lock);
    else
        rwlock_read_done(&v->cache->lock);
    strbuf_done(&v->key);
    v->cache = NULL;
}

struct cache_stats cache_stats(struct cache *c) {
    rwlock_read(&c->lock);
    struct cache_stats stats = {
        .nodes = c->known_names.count,
        .namespaces = c->known_namespaces,
        .pods = c->pods.count - c->reservation_count,
        .classes = c->classes.count,
        .counters = c->counters.count,
        .columns = c->columns.count,
        .eligibilities = c->eligibilities.count,
        .reservations = c->reservation_count,
        .workloads = c->workloads.count,
        .flights = c->flights.count,
        .assumed = c->assumed.count,
    };
    rwlock_read_done(&c->lock);
    return stats;
}
