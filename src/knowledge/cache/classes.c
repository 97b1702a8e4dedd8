/*
 * Classes: pods that are equal in everything that a selector or a policy can ask about.
 *
 * Labels are most of a pod's text, and only the API server limits them: it accepts objects of
 * 1.5 MB. So they have a budget. A class is charged for its labels as if no other class had equal
 * ones: so its charge does not change when other classes come or go.
 *
 * A pod whose labels have no room is in a *cut* class, which has only the labels that Evenkeel
 * itself needs. The pod still counts; but its other labels are not known, so questions about them
 * in its namespace have no answer, rather than a wrong one.
 */
#include "base/limits.h"
#include "cache/internal.h"
#include "model/fixed_pod.h"
#include "model/fluid.h"
#include "model/names.h"

#include <stdlib.h>

struct class_key {
    uint32_t namespace, owner;
    bool terminating, cut;
    struct str scheduler; /* "": the default scheduler */
    struct labels labels;
};

/* ---- the budget ---- */

enum {
    /* The bytes that a label takes in addition to its text, if its key and its value are new
     * strings. Measured in sets of 10 to 90,000 labels. */
    LABEL_BYTES = 96,
    SHARE = 5, /* a namespace may take at most 1/SHARE of the free bytes */
};

static uint64_t bytes_of(struct label label) {
    return LABEL_BYTES + label.key.n + label.value.n;
}

static uint64_t bytes_of_all(struct labels labels) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < labels.count; i++)
        bytes += bytes_of(labels.items[i]);
    return bytes;
}

/* Has the budget room for more bytes of the namespace? Even if many namespaces take all that they
 * may, the next one still gets some room; each may take as much as any other. */
static bool has_room(const struct cache *c, uint32_t namespace, uint64_t bytes) {
    const struct namespace_record *payer = pool_at(&c->namespaces, namespace);
    const uint64_t max = c->options.max_label_bytes, all = c->label_bytes + bytes;
    return all <= max && payer->label_bytes + bytes <= (max - all) / SHARE;
}

static uint64_t bytes_of_class(const struct cache *c, const struct class_record *pod_class) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < pod_class->labels.count; i++)
        bytes += bytes_of(label_set_at(&c->strings, &pod_class->labels, i));
    return bytes;
}

/* ---- cut classes ---- */

/* The labels of pods that Evenkeel itself needs, sorted. All others are only needed by selectors
 * and policies of users. */
static const struct str own_keys[] = {STR(FLUID_LABEL_DATASET), STR(TEMPLATE_HASH_LABEL),
                                      STR(ROLLOUT_HASH_LABEL)};
enum { OWN_KEYS = sizeof own_keys / sizeof own_keys[0] };

/* Keeps only the labels in `own_keys`, for a pod in a cut class. Drops values that no label can
 * have. */
static struct labels own_labels(const struct labels *all, struct label ret[static OWN_KEYS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < OWN_KEYS; i++) {
        struct label label = {.key = own_keys[i]};
        if (labels_lookup(all, own_keys[i], &label.value) && label_value_valid(label.value))
            ret[count++] = label;
    }
    return (struct labels){ret, count};
}

static bool is_own(struct str key) {
    for (uint32_t i = 0; i < OWN_KEYS; i++)
        if (str_eq(key, own_keys[i]))
            return true;
    return false;
}

bool class_decides(const struct selector *selector) {
    for (uint32_t i = 0; !selector->nothing && i < selector->count; i++)
        if (!is_own(selector->items[i].key))
            return false;
    return true;
}

void class_count_cut(struct cache *c, const struct class_record *pod_class, int by) {
    if (!pod_class->cut || pod_class->terminating)
        return;
    struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    record->cut_pods += (uint32_t)by; /* modulo 2^32: by is 1 or -1 */
    c->cut_pods += (uint32_t)by;
}

/* ---- finding and making ---- */

/* Returns the name to keep of a scheduler; there are few schedulers. A name that is too long for
 * an object belongs to no scheduler: its beginning is kept, and the pod counts as a pod of
 * another scheduler. */
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
           pod_class->terminating == k->terminating && pod_class->cut == k->cut &&
           str_eq(scheduler_in(c, pod_class), k->scheduler) &&
           label_set_is(&c->strings, &pod_class->labels, k->labels);
}

/* Begins the hash of a class without its labels. */
static struct hash_state hash_of_key(const struct class_key *key) {
    struct hash_state hash = hash_begin();
    hash_add_number(&hash, (uint64_t)key->namespace << 32 | key->owner);
    hash_add_number(&hash, key->terminating + 2u * key->cut);
    if (!str_empty(key->scheduler))
        hash_add(&hash, key->scheduler);
    return hash;
}

static void hash_label(struct hash_state *hash, struct label label) {
    hash_add(hash, label.key);
    hash_add(hash, label.value);
}

static uint64_t class_hash(const struct class_key *key) {
    struct hash_state hash = hash_of_key(key);
    for (uint32_t i = 0; i < key->labels.count; i++)
        hash_label(&hash, key->labels.items[i]);
    return hash_end(hash);
}

/* Returns the hash of a class. Classes are freed too seldom to store the hash. */
static uint64_t hash_of(const struct cache *c, const struct class_record *pod_class) {
    struct hash_state hash =
        hash_of_key(&(struct class_key){.namespace = pod_class->namespace,
                                        .owner = pod_class->owner,
                                        .terminating = pod_class->terminating,
                                        .cut = pod_class->cut,
                                        .scheduler = scheduler_in(c, pod_class)});
    for (uint32_t i = 0; i < pod_class->labels.count; i++)
        hash_label(&hash, label_set_at(&c->strings, &pod_class->labels, i));
    return hash_end(hash);
}

void class_settle(struct cache *c, uint32_t id) {
    struct class_record *pod_class = pool_at(&c->classes, id);
    if (pod_class->pod_count > 0 || pod_class->assumed_count > 0)
        return;
    struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    uint64_t bytes = bytes_of_class(c, pod_class);
    record->label_bytes -= bytes;
    c->label_bytes -= bytes;
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
                                       .cut = key->cut,
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
    uint64_t bytes = bytes_of_class(c, pod_class);
    record->label_bytes += bytes;
    c->label_bytes += bytes;
    owner_add_class(c, key->owner, id);
    hashmap_insert(&c->class_index, hash, id);
    return id;
}

void class_changed(struct cache *c, struct class_record *pod_class) {
    struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    record->changed = ++c->changes;
    class_refresh(c, pod_class);
}

static uint32_t class_find(const struct cache *c, const struct class_key *key, uint64_t hash) {
    return hashmap_find(&c->class_index, hash, class_equal, c, key);
}

uint32_t class_make(struct cache *c, const struct object_meta *meta, struct str scheduler) {
    uint32_t namespace = namespace_make(c, meta->namespace);
    if (namespace == POOL_NONE)
        return POOL_NONE;
    struct label own[OWN_KEYS];
    struct class_key key = {.namespace = namespace,
                            .owner = owner_of(c, namespace, meta),
                            .terminating = meta->terminating,
                            .scheduler = scheduler_key(scheduler),
                            .labels = meta->labels};
    uint64_t hash = class_hash(&key);
    uint32_t id = class_find(c, &key, hash);
    if (id == POOL_NONE && !has_room(c, namespace, bytes_of_all(meta->labels))) {
        key.labels = own_labels(&meta->labels, own);
        key.cut = key.labels.count < meta->labels.count;
        hash = class_hash(&key);
        id = class_find(c, &key, hash);
    }
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
