#include "cache/internal.h"

#include "base/mutex.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- life ---- */

/* Called by the topology: gives every array by slot room for `cap` nodes, or drops it, as the
 * topology does. */
static int grow(void *cache, uint32_t cap) {
    struct cache *c = cache;
    if (node_records_grow(c, cap) != 0)
        return -ENOMEM;
    for (POOL_EACH(&c->counters, id))
        counter_free(c, id);
    return 0;
}

/* Called by the topology before another node gets the slot. */
static void slot_freed(void *cache, uint32_t slot) {
    flights_forget_node(cache, slot);
    node_release(cache, slot);
}

/* Counters get half of the bytes, columns 5/16, trees of domains 1/16, feasibilities the rest. */
static void keep_counters(struct cache *c, uint64_t bytes) {
    uint64_t steps = c->options.max_update_steps;
    c->counters_kept =
        (struct lru){.pool = &c->counters,
                     .entry_offset = offsetof(struct counter_record, entry),
                     .limits = {.count = c->options.max_counters,
                                .bytes = bytes,
                                .owner_steps = steps != 0 ? steps : LIMIT_UPDATE_STEPS},
                     .free = counter_free,
                     .context = c};
    lru_init(&c->counters_kept);
}

static void keep_flights(struct cache *c) {
    c->flights_kept = (struct lru){.pool = &c->flights,
                                   .entry_offset = offsetof(struct flight_record, entry),
                                   .limits = {.count = LIMIT_FLIGHTS, .bytes = LIMIT_FLIGHTS_BYTES},
                                   .free = flight_free,
                                   .context = c};
    lru_init(&c->flights_kept);
}

int cache_new(const struct cache_options *options, struct cache **ret, struct err *err) {
    struct cache *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for the cache");
    uint64_t bytes = options->max_bytes != 0 ? options->max_bytes : LIMIT_CACHE_BYTES;
    const struct topology_options nodes = {.strings = &c->strings,
                                           .max_columns = options->max_columns,
                                           .max_feasibilities = options->max_feasibilities,
                                           .max_column_bytes = bytes / 16 * 5,
                                           .max_tree_bytes = bytes / 16,
                                           .max_feasibility_bytes = bytes / 8,
                                           .max_update_steps = options->max_update_steps,
                                           .owner = c,
                                           .grow = grow,
                                           .freed = slot_freed};
    int r = topology_new(&nodes, &c->nodes, err);
    if (r != 0) {
        free(c);
        return r;
    }
    rwlock_init(&c->lock);
    c->options = *options;
    if (c->options.max_counters == 0)
        c->options.max_counters = LIMIT_COUNTERS;
    if (c->options.max_label_bytes == 0)
        c->options.max_label_bytes = LIMIT_LABELS_BYTES;
    if (c->options.clock == NULL)
        c->options.clock = clock_real();
    pool_init(&c->namespaces, sizeof(struct namespace_record));
    pool_init(&c->classes, sizeof(struct class_record));
    pool_init(&c->pods, sizeof(struct pod_record));
    pool_init(&c->pending, sizeof(struct pending_record));
    pool_init(&c->counters, sizeof(struct counter_record));
    for (uint32_t k = 0; k < WORKLOAD_KINDS; k++)
        pool_init(&c->workloads[k], sizeof(struct workload_record));
    pool_init(&c->flights, sizeof(struct flight_record));
    pool_init(&c->assumed, sizeof(struct assumed_record));
    pool_init(&c->requests, sizeof(struct requests_record));
    pool_init(&c->owners, sizeof(struct owner_record));
    pool_init(&c->terms, sizeof(struct terms_record));
    pool_init(&c->reaches, sizeof(struct reach_record));
    pool_init(&c->images, sizeof(struct image_record));
    keep_counters(c, bytes / 2);
    keep_flights(c);
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
    for (POOL_EACH(&c->pods, id))
        pod_forget(c, id);
    for (POOL_EACH(&c->pending, id))
        pending_forget(c, id);
    for (uint32_t k = 0; k < WORKLOAD_KINDS; k++)
        for (POOL_EACH(&c->workloads[k], record))
            workload_forget(c, workload_id(OBJECT_SERVICE + k, record));
    for (POOL_EACH(&c->namespaces, id))
        namespace_forget(c, id);
}

void cache_free(struct cache *c) {
    if (c == NULL)
        return;
    free_contents(c);
    lru_done(&c->counters_kept);
    lru_done(&c->flights_kept);
    node_records_free(c); /* gives back images */
    struct pool *pools[] = {&c->namespaces, &c->classes, &c->pods,     &c->counters,
                            &c->flights,    &c->assumed, &c->requests, &c->owners,
                            &c->terms,      &c->reaches, &c->images,   &c->pending};
    for (uint32_t k = 0; k < WORKLOAD_KINDS; k++)
        pool_done(&c->workloads[k]);
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        pool_done(pools[i]);
    struct hashmap *indexes[] = {&c->pending_index, &c->namespace_index, &c->class_index,
                                 &c->pod_index,     &c->counter_index,   &c->flight_index,
                                 &c->assumed_index, &c->requests_index,  &c->owner_index,
                                 &c->terms_index,   &c->reach_index,     &c->image_index};
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        hashmap_done(indexes[i]);
    topology_free(c->nodes);
    free(c->reservations);
    intern_done(&c->strings);
    rwlock_done(&c->lock);
    free(c);
}

/* ---- writing ---- */

static uint64_t work(const struct cache *c) {
    return c->work + c->counters_kept.work + c->flights_kept.work + topology_work(c->nodes);
}

void cache_write_begin(struct cache *c) NOT_ANALYSED {
    rwlock_write(&c->lock);
    c->write.began_ns = clock_now_ns();
    c->write.began_work = work(c);
}

void cache_write_end(struct cache *c) NOT_ANALYSED {
    int64_t took_ns = clock_now_ns() - c->write.began_ns;
    uint64_t steps = work(c) - c->write.began_work;
    if (took_ns > c->write.longest_ns)
        c->write.longest_ns = took_ns;
    if (steps > c->write.most_steps)
        c->write.most_steps = steps;
    rwlock_write_done(&c->lock);
}

bool cache_write_is_long(const struct cache *c) {
    return work(c) - c->write.began_work > LIMIT_WRITE_STEPS;
}

void cache_write_pause(struct cache *c) {
    if (!cache_write_is_long(c))
        return;
    cache_write_end(c);
    cache_write_begin(c);
}

/* Call when the pod is bound or gone: ends its flight and assumption. */
static void unassume(struct cache *c, const struct object_meta *pod) {
    flight_end(c, pod);
    assumed_end(c, pod);
}

/* Applies a pod. While the pod is pending, its flight and its assumption stay. */
static int apply_pod(struct cache *c, const struct pod *pod) {
    if (c->options.left_out != NULL && is_controlled_by(&pod->meta, c->options.left_out))
        return 0;
    const bool pending = pod->node_name.n == 0 && !pod->finished && !pod->meta.terminating;
    int r = pending ? pending_apply(c, pod) : 0;
    if (r == 0)
        r = pod_apply(c, pod, false, NULL);
    if (r == 0 && !pending) {
        pending_end(c, &pod->meta);
        unassume(c, &pod->meta);
    }
    return r;
}

static int apply_node(struct cache *c, const struct node *node) {
    struct amount_list allocatable;
    uint8_t *images;
    if (amount_list_make(c, &node->allocatable, &allocatable) != 0)
        return -ENOMEM;
    if (image_list_make(c, node, &images) != 0) {
        amount_list_free(c, &allocatable);
        return -ENOMEM;
    }
    int r = topology_apply(c->nodes, &(struct candidate){node->meta.name, node->meta.labels,
                                                         node->taints, node->taint_count});
    if (r != 0) {
        amount_list_free(c, &allocatable);
        image_list_free(c, images);
        return r;
    }
    uint32_t slot = topology_slot(c->nodes, node->meta.name);
    node_set(c, slot, allocatable, node->unschedulable);
    node_set_images(c, slot, images);
    return 0;
}

static void remove_node(struct cache *c, struct str name) {
    uint32_t slot = topology_slot(c->nodes, name);
    if (slot == TOPOLOGY_NONE)
        return;
    node_forget(c, slot);
    topology_remove(c->nodes, name);
}

int cache_apply(struct cache *c, const struct object *object) {
    switch (object->kind) {
    case OBJECT_NODE:
        return apply_node(c, &object->node);
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
        remove_node(c, object->meta.name);
        break;
    case OBJECT_POD:
        unassume(c, &object->meta);
        pending_end(c, &object->meta);
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

/* ---- listings ---- */

static struct pool *records_of(struct cache *c, uint32_t kind) {
    return kind == OBJECT_NODE        ? topology_records(c->nodes)
           : kind == OBJECT_POD       ? &c->pods
           : kind == OBJECT_NAMESPACE ? &c->namespaces
                                      : &c->workloads[kind - OBJECT_SERVICE];
}

/* Drops an object. Reserved pods stay: they may be being bound. */
static void drop(void *cache, uint32_t kind, uint32_t id) {
    struct cache *c = cache;
    if (kind == OBJECT_NODE) {
        node_forget(c, id);
        topology_drop(c->nodes, id);
    } else if (kind == OBJECT_NAMESPACE) {
        namespace_forget(c, id);
    } else if (kind != OBJECT_POD) {
        workload_forget(c, workload_id(kind, id));
    } else if (!((const struct pod_record *)pool_at(&c->pods, id))->reserved) {
        pod_forget(c, id);
    }
    c->work++;
    cache_write_pause(c);
}

static void drop_pending(void *cache, uint32_t kind, uint32_t id) {
    (void)kind; /* only pods are dropped here */
    pending_forget(cache, id);
    cache_write_pause(cache);
}

/* Ends the listings of pods before those of their nodes. */
static void end_listings(struct cache *c, uint32_t kinds, bool complete) {
    if (kinds & CACHE_KIND(OBJECT_POD))
        pool_listing_end(&c->pending, complete, drop_pending, c, OBJECT_POD);
    for (uint32_t kind = OBJECT_KINDS; kind-- > OBJECT_NODE;)
        if (kinds & CACHE_KIND(kind))
            pool_listing_end(records_of(c, kind), complete, drop, c, kind);
}

void cache_sync_begin(struct cache *c, uint32_t kinds) {
    if (kinds & CACHE_KIND(OBJECT_POD))
        pool_listing_begin(&c->pending);
    for (uint32_t kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        if (kinds & CACHE_KIND(kind))
            pool_listing_begin(records_of(c, kind));
}

void cache_sync_end(struct cache *c, uint32_t kinds) {
    end_listings(c, kinds, true);
    c->synced |= kinds;
    if ((c->synced & CACHE_ALL_KINDS) == CACHE_ALL_KINDS)
        atomic_store(&c->ready, true);
}

void cache_sync_abort(struct cache *c, uint32_t kinds) {
    end_listings(c, kinds, false);
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

int64_t cache_kind_age_ms(const struct cache *c, enum object_kind kind) {
    int64_t at_ms = atomic_load_explicit(&c->heard_ms[kind], memory_order_relaxed);
    int64_t now_ms = c->options.clock->now_ms(c->options.clock);
    return at_ms == 0 ? -1 : at_ms > now_ms ? 0 : now_ms - at_ms;
}

/* ---- reading ---- */

bool cache_ready(const struct cache *c) {
    return atomic_load(&c->ready);
}

void cache_view_open(struct cache *c, struct cache_view *ret) NOT_ANALYSED {
    rwlock_read(&c->lock);
    *ret = (struct cache_view){.cache = c};
    topology_view_open(c->nodes, &ret->nodes);
}

/* Publishes one counter, or another part, that the view has built. */
static bool publish(struct cache_view *v) {
    struct built_counter *counter = v->counters;
    if (counter == NULL)
        return topology_publish(&v->nodes);
    v->counters = counter->next;
    if (counter_publish(v, counter)) {
        counter->next = v->pending;
        v->pending = counter;
    } else {
        built_counter_free(counter);
    }
    return true;
}

/* Publishes at most LIMIT_PUBLISHED parts: a question that needs more would only push out its
 * own parts. Lets other threads take the lock in between. */
void cache_publish(struct cache_view *v) {
    uint32_t left = LIMIT_PUBLISHED;
    while (left > 0) {
        cache_write_begin(v->cache);
        while (left > 0 && !cache_write_is_long(v->cache))
            left = publish(v) ? left - 1 : 0;
        cache_write_end(v->cache);
    }
    while (v->pending != NULL) {
        struct built_counter *counter = v->pending;
        v->pending = counter->next;
        counter_complete(v, counter);
        built_counter_free(counter);
    }
}

void cache_view_close(struct cache_view *v) NOT_ANALYSED {
    rwlock_read_done(&v->cache->lock);
    if (v->nodes.built > 0)
        cache_publish(v);
    while (v->counters != NULL) {
        struct built_counter *next = v->counters->next;
        built_counter_free(v->counters);
        v->counters = next;
    }
    topology_view_close(&v->nodes);
    v->cache = NULL;
}

static uint32_t count_workloads(const struct cache *c) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < WORKLOAD_KINDS; k++)
        count += c->workloads[k].count;
    return count;
}

struct cache_stats cache_stats(struct cache *c) {
    rwlock_read(&c->lock);
    const struct topology_stats nodes = topology_stats(c->nodes);
    struct cache_stats stats = {
        .nodes = nodes.candidates,
        .namespaces = c->known_namespaces,
        .pods = c->pods.count - c->reservation_count,
        .classes = c->classes.count,
        .counters = c->counters.count,
        .columns = nodes.columns,
        .feasibilities = nodes.feasibilities,
        .trees = nodes.trees,
        .reservations = c->reservation_count,
        .workloads = count_workloads(c),
        .flights = c->flights.count,
        .assumed = c->assumed.count,
        .pods_without_labels = c->cut_pods,
    };
    rwlock_read_done(&c->lock);
    return stats;
}

static uint64_t bytes_of(const struct pool *records) {
    enum { IN_INDEX = 10 };
    return records->count * (uint64_t)(records->item_size + IN_INDEX);
}

/* Call on a view, or with the lock. */
static uint64_t bytes_of_objects(const struct cache *c) {
    uint64_t workloads = 0;
    for (uint32_t k = 0; k < WORKLOAD_KINDS; k++)
        workloads += bytes_of(&c->workloads[k]);
    return bytes_of(&c->namespaces) + bytes_of(&c->classes) + bytes_of(&c->pods) +
           bytes_of(&c->pending) + workloads + bytes_of(&c->requests) + bytes_of(&c->owners) +
           bytes_of(&c->terms) + bytes_of(&c->reaches) + bytes_of(&c->images) +
           topology_slots(c->nodes) * sizeof(struct node_record) + topology_kept_bytes(c->nodes) +
           c->strings.bytes + c->terms_bytes + c->reach_bytes + c->list_bytes;
}

uint64_t cache_kept_bytes(struct cache *c) {
    rwlock_read(&c->lock);
    uint64_t bytes = bytes_of_objects(c);
    rwlock_read_done(&c->lock);
    return bytes;
}

struct cache_load cache_load(struct cache *c) {
    rwlock_read(&c->lock);
    const struct topology_stats nodes = topology_stats(c->nodes);
    struct cache_load load = {
        .counters = {c->counters_kept.all.cost.bytes, c->counters_kept.refused},
        .columns = {nodes.column_bytes, nodes.columns_refused},
        .feasibilities = {nodes.feasibility_bytes, nodes.feasibilities_refused},
        .trees = {nodes.tree_bytes, nodes.trees_refused},
        .label_bytes = c->label_bytes,
        .object_bytes = bytes_of_objects(c),
        .write_steps = c->write.most_steps,
        .write_ns = (uint64_t)c->write.longest_ns,
    };
    rwlock_read_done(&c->lock);
    return load;
}
