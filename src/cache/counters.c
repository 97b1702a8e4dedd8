/*
 * Counters: for one (namespace, selector), the live matching pods of every node. Made by walking
 * the classes of the namespace once, then kept right by every pod event through the class's list of
 * counters.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

int counters_grow(struct cache *c, uint32_t cap) {
    uint32_t from = topology_cap(c->nodes);
    for (POOL_EACH(&c->counters, id)) {
        struct counter_record *counter = pool_at(&c->counters, id);
        uint32_t *counts = realloc(counter->counts, cap * sizeof *counts);
        if (counts == NULL)
            return -ENOMEM;
        memset(counts + from, 0, (cap - from) * sizeof *counts);
        counter->counts = counts;
        if (counter->assumed == NULL)
            continue;
        int64_t *assumed = realloc(counter->assumed, cap * sizeof *assumed);
        if (assumed == NULL)
            return -ENOMEM;
        memset(assumed + from, 0, (cap - from) * sizeof *assumed);
        counter->assumed = assumed;
    }
    return 0;
}

bool counter_matches(const struct cache *c, const struct counter_record *counter,
                     const struct class_record *pod_class) {
    struct label_set_ref labels = {&c->strings, &pod_class->labels};
    return !pod_class->terminating &&
           selector_matches(&counter->selector, label_set_lookup, &labels);
}

int class_add_counter(struct class_record *pod_class, uint32_t counter) {
    if (pod_class->counter_count == pod_class->counter_cap) {
        uint32_t cap = pod_class->counter_cap == 0 ? 4 : pod_class->counter_cap * 2;
        uint32_t *counters = realloc(pod_class->counters, cap * sizeof *counters);
        if (counters == NULL)
            return -ENOMEM;
        pod_class->counters = counters;
        pod_class->counter_cap = cap;
    }
    pod_class->counters[pod_class->counter_count++] = counter;
    return 0;
}

static void class_drop_counter(struct class_record *pod_class, uint32_t counter) {
    for (uint32_t i = 0; i < pod_class->counter_count; i++)
        if (pod_class->counters[i] == counter) {
            pod_class->counters[i] = pod_class->counters[--pod_class->counter_count];
            return;
        }
}

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct counter_record *counter = pool_at(&c->counters, id);
    const struct str *wanted = key;
    return str_eq(counter->key, *wanted);
}

static bool class_has_counter(const struct class_record *pod_class, uint32_t counter) {
    for (uint32_t i = 0; i < pod_class->counter_count; i++)
        if (pod_class->counters[i] == counter)
            return true;
    return false;
}

/* The assumed pods of the classes that match, which know so by now. */
static int count_assumed(struct cache *c, uint32_t id) {
    struct counter_record *counter = pool_at(&c->counters, id);
    for (POOL_EACH(&c->assumed, assumed_id)) {
        const struct assumed_record *assumed = pool_at(&c->assumed, assumed_id);
        const struct class_record *pod_class = pool_at(&c->classes, assumed->pod_class);
        if (pod_class->namespace == counter->namespace && class_has_counter(pod_class, id) &&
            assumed_add(c, assumed, counter) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* Counts every pod of every matching class of the namespace. */
static int count_all(struct cache *c, uint32_t id) {
    struct counter_record *counter = pool_at(&c->counters, id);
    const struct namespace_record *record = pool_at(&c->namespaces, counter->namespace);
    for (uint32_t class_id = record->classes; class_id != POOL_NONE;) {
        struct class_record *pod_class = pool_at(&c->classes, class_id);
        if (counter_matches(c, counter, pod_class)) {
            if (class_add_counter(pod_class, id) != 0)
                return -ENOMEM;
            for (uint32_t pod_id = pod_class->pods; pod_id != POOL_NONE;) {
                const struct pod_record *pod = pool_at(&c->pods, pod_id);
                counter->counts[pod->node]++;
                pod_id = pod->next;
            }
        }
        class_id = pod_class->next;
    }
    return count_assumed(c, id);
}

static int copy_key(struct counter_record *counter, struct str key,
                    const struct selector *selector) {
    arena_init(&counter->arena, LIMIT_REQUEST_ARENA);
    counter->key = arena_str(&counter->arena, key);
    counter->hash = hash_str(key);
    return selector_copy(selector, &counter->arena, &counter->selector);
}

struct lru counters_lru(struct cache *c) {
    return (struct lru){&c->counters, offsetof(struct counter_record, used),
                        c->options.max_counters, counter_free, c};
}

static int make(struct cache_view *v, struct str key, struct str namespace,
                const struct selector *selector, uint32_t *ret_id) {
    struct cache *c = v->cache;
    lru_make_room(counters_lru(c), v->nodes.tick);
    if (hashmap_reserve(&c->counter_index) != 0)
        return -ENOMEM;
    uint32_t namespace_id = namespace_make(c, namespace);
    if (namespace_id == POOL_NONE)
        return -ENOMEM;
    uint32_t id = pool_take(&c->counters);
    if (id == POOL_NONE) {
        namespace_settle(c, namespace_id);
        return -ENOMEM;
    }
    struct namespace_record *home = pool_at(&c->namespaces, namespace_id);
    struct counter_record *counter = pool_at(&c->counters, id);
    int r = copy_key(counter, key, selector);
    counter->counts =
        calloc(topology_cap(c->nodes) > 0 ? topology_cap(c->nodes) : 1, sizeof *counter->counts);
    counter->namespace = namespace_id;
    counter->next = home->counters;
    home->counters = id;
    home->references++;
    hashmap_insert(&c->counter_index, counter->hash, id);
    if (r != 0 || counter->counts == NULL || count_all(c, id) != 0) {
        counter_free(c, id);
        return -ENOMEM;
    }
    *ret_id = id;
    return 0;
}

void counter_free(void *cache, uint32_t id) {
    struct cache *c = cache;
    struct counter_record *counter = pool_at(&c->counters, id);
    struct namespace_record *record = pool_at(&c->namespaces, counter->namespace);
    for (uint32_t class_id = record->classes; class_id != POOL_NONE;) {
        struct class_record *pod_class = pool_at(&c->classes, class_id);
        class_drop_counter(pod_class, id);
        class_id = pod_class->next;
    }
    uint32_t *link = &record->counters;
    while (*link != id)
        link = &((struct counter_record *)pool_at(&c->counters, *link))->next;
    *link = counter->next;
    record->references--;
    namespace_settle(c, counter->namespace);
    hashmap_remove(&c->counter_index, counter->hash, id);
    arena_done(&counter->arena);
    free(counter->counts);
    free(counter->assumed);
    pool_give(&c->counters, id);
}

int cache_counter(struct cache_view *v, struct str namespace, const struct selector *selector,
                  const uint32_t **ret_counts) {
    const int64_t *assumed;
    return cache_counter_assumed(v, namespace, selector, ret_counts, &assumed);
}

int cache_counter_assumed(struct cache_view *v, struct str namespace,
                          const struct selector *selector, const uint32_t **ret_counts,
                          const int64_t **ret_assumed) {
    struct cache *c = v->cache;
    strbuf_clear(&v->nodes.key);
    key_append(&v->nodes.key, namespace);
    selector_key(selector, &v->nodes.key);
    if (strbuf_failed(&v->nodes.key))
        return -ENOMEM;
    struct str key = strbuf_str(&v->nodes.key);
    uint32_t id = hashmap_find(&c->counter_index, hash_str(key), key_equal, c, &key);
    if (id == HASHMAP_NONE && !v->nodes.exclusive)
        return -EAGAIN;
    if (id == HASHMAP_NONE) {
        int r = make(v, key, namespace, selector, &id);
        if (r != 0)
            return r;
    }
    struct counter_record *counter = pool_at(&c->counters, id);
    atomic_store_explicit(&counter->used, v->nodes.tick, memory_order_relaxed);
    *ret_counts = counter->counts;
    *ret_assumed = counter->assumed_pods > 0 ? counter->assumed : NULL;
    return 0;
}
