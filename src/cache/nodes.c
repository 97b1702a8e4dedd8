/*
 * Node slots. A slot exists while a node of that name is known or a pod is bound to it: pods may
 * arrive before their node, and stay after it. Every per-node array (counters, columns,
 * eligibilities) has room for node_cap slots.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool name_equal(const void *ctx, uint32_t id, const void *key) {
    const struct cache *c = ctx;
    const struct node_record *node = pool_at(&c->nodes, id);
    const struct str *name = key;
    return str_eq(node->text, *name);
}

uint32_t node_slot(const struct cache *c, struct str name) {
    return hashmap_find(&c->node_index, hash_str(name), name_equal, c, &name);
}

static int grow_assumed(struct counter_record *counter, uint32_t from, uint32_t to) {
    if (counter->assumed == NULL)
        return 0;
    int64_t *grown = realloc(counter->assumed, to * sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    memset(grown + from, 0, (to - from) * sizeof *grown);
    counter->assumed = grown;
    return 0;
}

static int grow_u32(uint32_t **array, uint32_t from, uint32_t to, uint32_t fill) {
    uint32_t *grown = realloc(*array, to * sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    for (uint32_t i = from; i < to; i++)
        grown[i] = fill;
    *array = grown;
    return 0;
}

/* Doubles the room of every per-node array. Arrays grown before a failure are merely larger than
 * they need be. */
static int grow_arrays(struct cache *c) {
    uint32_t from = c->node_cap, to = from == 0 ? 64 : from * 2;
    for (POOL_EACH(&c->counters, id)) {
        struct counter_record *counter = pool_at(&c->counters, id);
        if (grow_u32(&counter->counts, from, to, 0) != 0 || grow_assumed(counter, from, to) != 0)
            return -ENOMEM;
    }
    for (POOL_EACH(&c->columns, id)) {
        struct column_record *column = pool_at(&c->columns, id);
        if (grow_u32(&column->domain_of, from, to, CACHE_NONE) != 0)
            return -ENOMEM;
    }
    for (POOL_EACH(&c->eligibilities, id)) {
        struct eligibility_record *eligibility = pool_at(&c->eligibilities, id);
        uint8_t *flags = realloc(eligibility->flags, to);
        if (flags == NULL)
            return -ENOMEM;
        memset(flags + from, 0, to - from);
        eligibility->flags = flags;
    }
    c->node_cap = to;
    return 0;
}

uint32_t node_slot_make(struct cache *c, struct str name) {
    uint32_t slot = node_slot(c, name);
    if (slot != POOL_NONE)
        return slot;
    if ((c->nodes.count == c->node_cap && grow_arrays(c) != 0) ||
        hashmap_reserve(&c->node_index) != 0)
        return POOL_NONE;
    uint32_t name_id = intern_ref(&c->strings, name);
    if (name_id == INTERN_NONE)
        return POOL_NONE;
    slot = pool_take(&c->nodes);
    if (slot == POOL_NONE) {
        intern_unref(&c->strings, name_id);
        return POOL_NONE;
    }
    struct node_record *node = pool_at(&c->nodes, slot);
    node->name = name_id;
    node->text = intern_str(&c->strings, name_id);
    hashmap_insert(&c->node_index, hash_str(name), slot);
    return slot;
}

void node_settle(struct cache *c, uint32_t slot) {
    struct node_record *node = pool_at(&c->nodes, slot);
    if (node->known || node->pods > 0)
        return;
    flights_forget_node(c, slot);
    c->slot_epoch++;
    hashmap_remove(&c->node_index, hash_str(node->text), slot);
    intern_unref(&c->strings, node->name);
    pool_give(&c->nodes, slot);
}

/* ---- taints: one block holds the array and its strings ---- */

static struct str put(char **at, struct str s) {
    char *to = *at;
    if (s.n > 0)
        memcpy(to, s.p, s.n);
    *at += s.n;
    return (struct str){to, s.n};
}

static int taints_make(const struct node *node, struct taint **ret) {
    *ret = NULL;
    if (node->taint_count == 0)
        return 0;
    size_t bytes = node->taint_count * sizeof **ret;
    for (uint32_t i = 0; i < node->taint_count; i++)
        bytes += node->taints[i].key.n + node->taints[i].value.n + node->taints[i].effect.n;
    struct taint *taints = malloc(bytes);
    if (taints == NULL)
        return -ENOMEM;
    char *at = (char *)(taints + node->taint_count);
    for (uint32_t i = 0; i < node->taint_count; i++)
        taints[i] = (struct taint){put(&at, node->taints[i].key), put(&at, node->taints[i].value),
                                   put(&at, node->taints[i].effect)};
    *ret = taints;
    return 0;
}

static bool taints_are(const struct node_record *record, const struct node *node) {
    if (record->taint_count != node->taint_count)
        return false;
    for (uint32_t i = 0; i < node->taint_count; i++)
        if (!str_eq(record->taints[i].key, node->taints[i].key) ||
            !str_eq(record->taints[i].value, node->taints[i].value) ||
            !str_eq(record->taints[i].effect, node->taints[i].effect))
            return false;
    return true;
}

/* ---- nodes ---- */

/* Labels, taints or existence changed: bring what is derived from them up to date. */
static void node_changed(struct cache *c, uint32_t slot) {
    for (POOL_EACH(&c->columns, id))
        column_place(c, pool_at(&c->columns, id), slot);
    eligibility_update(c, slot);
}

/* Room for one more name was reserved where it becomes true. */
static void set_known(struct cache *c, uint32_t slot, bool known) {
    struct node_record *record = pool_at(&c->nodes, slot);
    struct hash128 name = hash_bytes128(record->text.p, record->text.n);
    if (known && !record->known)
        name_table_put(&c->known_names, name, slot);
    else if (!known && record->known)
        name_table_take(&c->known_names, name);
    record->known = known;
}

static int node_replace(struct cache *c, uint32_t slot, const struct node *node) {
    struct node_record *record = pool_at(&c->nodes, slot);
    struct label_set labels;
    struct taint *taints;
    for (POOL_EACH(&c->columns, id))
        if (column_reserve(c, pool_at(&c->columns, id)) != 0)
            return -ENOMEM;
    if (name_table_reserve(&c->known_names) != 0 || taints_make(node, &taints) != 0)
        return -ENOMEM;
    if (label_set_make(c, node->meta.labels, &labels) != 0) {
        free(taints);
        return -ENOMEM;
    }
    label_set_free(c, &record->labels);
    free(record->taints);
    record->labels = labels;
    record->taints = taints;
    record->taint_count = node->taint_count;
    set_known(c, slot, true);
    node_changed(c, slot);
    return 0;
}

int node_apply(struct cache *c, const struct node *node) {
    uint32_t slot = node_slot_make(c, node->meta.name);
    if (slot == POOL_NONE)
        return -ENOMEM;
    struct node_record *record = pool_at(&c->nodes, slot);
    record->generation = c->generations[OBJECT_NODE];
    if (record->known && label_set_is(c, &record->labels, node->meta.labels) &&
        taints_are(record, node))
        return 0;
    int r = node_replace(c, slot, node);
    node_settle(c, slot);
    return r;
}

void node_forget(struct cache *c, uint32_t slot) {
    struct node_record *record = pool_at(&c->nodes, slot);
    label_set_free(c, &record->labels);
    free(record->taints);
    record->taints = NULL;
    record->taint_count = 0;
    set_known(c, slot, false);
    node_changed(c, slot);
    node_settle(c, slot);
}

/* ---- reading ---- */

uint32_t cache_slots(const struct cache_view *v) {
    return v->cache->nodes.end;
}

uint64_t cache_slot_epoch(const struct cache_view *v) {
    return v->cache->slot_epoch;
}

uint32_t cache_node_find(const struct cache_view *v, struct str name) {
    return name_table_find(&v->cache->known_names, hash_bytes128(name.p, name.n));
}

void cache_nodes_find(const struct cache_view *v, const struct str *names, uint32_t count,
                      uint32_t *ret_slots) {
    enum { BATCH = 16 }; /* look-ups whose memory is fetched at the same time */
    const struct name_table *known = &v->cache->known_names;
    struct hash128 hashes[BATCH];
    for (uint32_t from = 0; from < count; from += BATCH) {
        uint32_t n = count - from < BATCH ? count - from : BATCH;
        for (uint32_t i = 0; i < n; i++) {
            hashes[i] = hash_bytes128(names[from + i].p, names[from + i].n);
            name_table_prefetch(known, hashes[i]);
        }
        for (uint32_t i = 0; i < n; i++)
            ret_slots[from + i] = name_table_find(known, hashes[i]);
    }
}

bool cache_node_known(const struct cache_view *v, uint32_t slot) {
    return pool_live(&v->cache->nodes, slot) &&
           ((const struct node_record *)pool_at(&v->cache->nodes, slot))->known;
}

struct str cache_node_name(const struct cache_view *v, uint32_t slot) {
    const struct node_record *node = pool_at(&v->cache->nodes, slot);
    return node->text;
}

/* INTERN_NONE where the node has no such label. */
static uint32_t label_value(const struct label_set *set, uint32_t key) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].key == key)
            return set->items[i].value;
    return INTERN_NONE;
}

static int by_value(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool has(const uint32_t *ids, uint32_t count, uint32_t id) {
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

int cache_places(const struct cache_view *v, struct label label, struct str topology_key,
                 struct arena *arena, struct str **ret, uint32_t *ret_count) {
    const struct cache *c = v->cache;
    uint32_t key = intern_find(&c->strings, label.key),
             value = intern_find(&c->strings, label.value);
    uint32_t topology = intern_find(&c->strings, topology_key);
    uint32_t found[LIMIT_PLACES], count = 0;
    *ret = NULL;
    *ret_count = 0;
    if (key == INTERN_NONE || value == INTERN_NONE || topology == INTERN_NONE)
        return 0;
    for (POOL_EACH(&c->nodes, slot)) {
        const struct node_record *node = pool_at(&c->nodes, slot);
        if (!node->known || label_value(&node->labels, key) != value)
            continue;
        uint32_t place = label_value(&node->labels, topology);
        if (place == INTERN_NONE || has(found, count, place))
            continue;
        if (count == LIMIT_PLACES)
            return -E2BIG;
        found[count++] = place;
    }
    struct str *places = arena_array(arena, count, sizeof *places);
    for (uint32_t i = 0; places != NULL && i < count; i++)
        places[i] = arena_str(arena, intern_str(&c->strings, found[i]));
    if (places == NULL || arena_failed(arena))
        return -ENOMEM;
    qsort(places, count, sizeof *places, by_value);
    *ret = places;
    *ret_count = count;
    return 0;
}
