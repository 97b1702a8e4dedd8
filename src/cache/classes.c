/*
 * Classes: pods that have everything in common that a selector, or a policy, can ask about.
 */
#include "base/limits.h"
#include "cache/internal.h"
#include "model/placement.h"

#include <stdlib.h>

struct class_key {
    uint32_t namespace, owner;
    bool terminating;
    struct str scheduler; /* "": the default one */
    struct labels labels;
};

/* Names of schedulers are few. What is longer than any name of an object is nobody's: its beginning
 * is kept, and the pod counts as one of another scheduler. */
static struct str scheduler_key(struct str named) {
    if (str_eq(scheduler_of(named), scheduler_of(STR(""))))
        return STR("");
    return str_cut(named, LIMIT_OBJECT_NAME);
}

static struct str scheduler_in(const struct cache *c, const struct class_record *pod_class) {
    return pod_class->scheduler == INTERN_NONE ? STR("")
                                               : intern_str(&c->strings, pod_class->scheduler);
}

static bool class_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct class_key *k = key;
    const struct class_record *pod_class = pool_at(&c->classes, id);
    return pod_class->namespace == k->namespace && pod_class->owner == k->owner &&
           pod_class->terminating == k->terminating &&
           str_eq(scheduler_in(c, pod_class), k->scheduler) &&
           label_set_is(&c->strings, &pod_class->labels, k->labels);
}

/* Of what it is; the labels are added. */
static struct hash_state hash_of_key(uint32_t namespace, uint32_t owner, bool terminating,
                                     struct str scheduler) {
    struct hash_state hash = hash_begin();
    hash_add_number(&hash, (uint64_t) namespace << 32 | owner);
    hash_add_number(&hash, terminating);
    if (!str_empty(scheduler))
        hash_add(&hash, scheduler);
    return hash;
}

static void hash_label(struct hash_state *hash, struct label label) {
    hash_add(hash, label.key);
    hash_add(hash, label.value);
}

static uint64_t class_hash(const struct class_key *key) {
    struct hash_state hash =
        hash_of_key(key->namespace, key->owner, key->terminating, key->scheduler);
    for (uint32_t i = 0; i < key->labels.count; i++)
        hash_label(&hash, key->labels.items[i]);
    return hash_end(hash);
}

/* The same of a class: it goes too seldom to keep the hash. */
static uint64_t hash_of(const struct cache *c, const struct class_record *pod_class) {
    struct hash_state hash = hash_of_key(pod_class->namespace, pod_class->owner,
                                         pod_class->terminating, scheduler_in(c, pod_class));
    for (uint32_t i = 0; i < pod_class->labels.count; i++)
        hash_label(&hash, label_set_at(&c->strings, &pod_class->labels, i));
    return hash_end(hash);
}

void class_settle(struct cache *c, uint32_t id) {
    struct class_record *pod_class = pool_at(&c->classes, id);
    if (pod_class->pod_count > 0 || pod_class->assumed_count > 0)
        return;
    struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    if (pod_class->previous == POOL_NONE)
        record->classes = pod_class->next;
    else
        ((struct class_record *)pool_at(&c->classes, pod_class->previous))->next = pod_class->next;
    if (pod_class->next != POOL_NONE)
        ((struct class_record *)pool_at(&c->classes, pod_class->next))->previous =
            pod_class->previous;
    record->references--;
    namespace_settle(c, pod_class->namespace);
    hashmap_remove(&c->class_index, hash_of(c, pod_class), id);
    owner_remove_class(c, id);
    label_set_free(&c->strings, &pod_class->labels);
    intern_unref(&c->strings, pod_class->scheduler);
    free(pod_class->counters);
    pool_give(&c->classes, id);
}

static uint32_t class_new(struct cache *c, const struct class_key *key, uint64_t hash) {
    struct namespace_record *record = pool_at(&c->namespaces, key->namespace);
    if (hashmap_reserve(&c->class_index) != 0)
        return POOL_NONE;
    uint32_t id = pool_take(&c->classes);
    if (id == POOL_NONE)
        return POOL_NONE;
    struct class_record *pod_class = pool_at(&c->classes, id);
    *pod_class = (struct class_record){.namespace = key->namespace,
                                       .next = record->classes,
                                       .previous = POOL_NONE,
                                       .pods = POOL_NONE,
                                       .terminating = key->terminating,
                                       .scheduler = INTERN_NONE};
    if (!str_empty(key->scheduler))
        pod_class->scheduler = intern_ref(&c->strings, key->scheduler);
    if ((!str_empty(key->scheduler) && pod_class->scheduler == INTERN_NONE) ||
        label_set_make(&c->strings, key->labels, &pod_class->labels) != 0) {
        intern_unref(&c->strings, pod_class->scheduler);
        pool_give(&c->classes, id);
        return POOL_NONE;
    }
    if (pod_class->next != POOL_NONE)
        ((struct class_record *)pool_at(&c->classes, pod_class->next))->previous = id;
    record->classes = id;
    record->references++;
    owner_add_class(c, key->owner, id);
    hashmap_insert(&c->class_index, hash, id);
    return id;
}

void class_changed(struct cache *c, struct class_record *pod_class) {
    struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    record->changed = ++c->changes;
    class_refresh(c, pod_class);
}

uint32_t class_make(struct cache *c, const struct object_meta *meta, struct str scheduler) {
    uint32_t namespace = namespace_make(c, meta->namespace);
    if (namespace == POOL_NONE)
        return POOL_NONE;
    struct class_key key = {namespace, owner_of(c, namespace, meta), meta->terminating,
                            scheduler_key(scheduler), meta->labels};
    uint64_t hash = class_hash(&key);
    uint32_t id = hashmap_find(&c->class_index, hash, class_equal, c, &key);
    if (id != POOL_NONE)
        return id;
    id = class_new(c, &key, hash);
    if (id != POOL_NONE)
        return id;
    if (key.owner != POOL_NONE)
        owner_settle(c, key.owner);
    if (pool_live(&c->namespaces, namespace))
        namespace_settle(c, namespace);
    return POOL_NONE;
}
