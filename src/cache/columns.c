/*
 * Columns: for one topology key, the domain of every node. Domains are dense ids; one whose last
 * node left is reused. Moving a node to a new value reserves room first, so that an event is
 * applied whole or not at all.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool domain_equal(const void *ctx, uint32_t id, const void *key) {
    const struct column_record *column = ctx;
    return column->table[id].value == *(const uint32_t *)key;
}

static uint64_t domain_hash(uint32_t value) {
    return hash_mix(0, (uint64_t)value + 1);
}

int column_reserve(struct cache *c, struct column_record *column) {
    (void)c;
    if (column->free_domain == CACHE_NONE && column->domains == column->table_cap) {
        uint32_t cap = column->table_cap == 0 ? 16 : column->table_cap * 2;
        struct domain *table = realloc(column->table, cap * sizeof *table);
        if (table == NULL)
            return -ENOMEM;
        column->table = table;
        column->table_cap = cap;
    }
    return hashmap_reserve(&column->index);
}

/* The domain of an interned value, or CACHE_NONE. */
static uint32_t domain_find(const struct column_record *column, uint32_t value) {
    return hashmap_find(&column->index, domain_hash(value), domain_equal, column, &value);
}

static uint32_t domain_take(struct cache *c, struct column_record *column, uint32_t value) {
    uint32_t domain = domain_find(column, value);
    if (domain == HASHMAP_NONE) {
        domain = column->free_domain;
        if (domain != CACHE_NONE)
            column->free_domain = column->table[domain].nodes;
        else
            domain = column->domains++;
        column->table[domain] = (struct domain){.value = value};
        intern_ref_id(&c->strings, value);
        hashmap_insert(&column->index, domain_hash(value), domain);
    }
    column->table[domain].nodes++;
    return domain;
}

static void domain_give(struct cache *c, struct column_record *column, uint32_t domain) {
    struct domain *d = &column->table[domain];
    if (--d->nodes > 0)
        return;
    hashmap_remove(&column->index, domain_hash(d->value), domain);
    intern_unref(&c->strings, d->value);
    *d = (struct domain){INTERN_NONE, column->free_domain};
    column->free_domain = domain;
}

void column_place(struct cache *c, struct column_record *column, uint32_t slot) {
    const struct node_record *node = pool_at(&c->nodes, slot);
    uint32_t value = INTERN_NONE;
    for (uint32_t i = 0; node->known && i < node->labels.count; i++)
        if (node->labels.items[i].key == column->key)
            value = node->labels.items[i].value;
    uint32_t before = column->domain_of[slot];
    column->domain_of[slot] = value == INTERN_NONE ? CACHE_NONE : domain_take(c, column, value);
    if (before != CACHE_NONE)
        domain_give(c, column, before);
}

static uint32_t column_find(const struct cache *c, struct str key) {
    uint32_t key_id = intern_find(&c->strings, key);
    for (POOL_EACH(&c->columns, id))
        if (((const struct column_record *)pool_at(&c->columns, id))->key == key_id)
            return id;
    return POOL_NONE;
}

static int column_fill(struct cache *c, struct column_record *column) {
    column->free_domain = CACHE_NONE;
    column->domain_of = malloc((c->node_cap > 0 ? c->node_cap : 1) * sizeof *column->domain_of);
    if (column->domain_of == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < c->node_cap; slot++)
        column->domain_of[slot] = CACHE_NONE;
    for (POOL_EACH(&c->nodes, slot)) {
        if (column_reserve(c, column) != 0)
            return -ENOMEM;
        column_place(c, column, slot);
    }
    return 0;
}

struct lru columns_lru(struct cache *c) {
    return (struct lru){&c->columns, offsetof(struct column_record, used), c->options.max_columns,
                        column_free};
}

static int column_make(struct cache_view *v, struct str key, uint32_t *ret_id) {
    struct cache *c = v->cache;
    lru_make_room(c, columns_lru(c), v->tick);
    uint32_t key_id = intern_ref(&c->strings, key);
    uint32_t id = key_id == INTERN_NONE ? POOL_NONE : pool_take(&c->columns);
    if (id == POOL_NONE) {
        intern_unref(&c->strings, key_id);
        return -ENOMEM;
    }
    struct column_record *column = pool_at(&c->columns, id);
    column->key = key_id;
    if (column_fill(c, column) != 0) {
        column_free(c, id);
        return -ENOMEM;
    }
    *ret_id = id;
    return 0;
}

void column_free(struct cache *c, uint32_t id) {
    struct column_record *column = pool_at(&c->columns, id);
    for (uint32_t domain = 0; domain < column->domains; domain++)
        if (column->table[domain].value != INTERN_NONE)
            intern_unref(&c->strings, column->table[domain].value);
    intern_unref(&c->strings, column->key);
    hashmap_done(&column->index);
    free(column->table);
    free(column->domain_of);
    pool_give(&c->columns, id);
}

int cache_column(struct cache_view *v, struct str topology_key, struct cache_column *ret) {
    struct cache *c = v->cache;
    uint32_t id = column_find(c, topology_key);
    if (id == POOL_NONE && !v->exclusive)
        return -EAGAIN;
    if (id == POOL_NONE) {
        int r = column_make(v, topology_key, &id);
        if (r != 0)
            return r;
    }
    struct column_record *column = pool_at(&c->columns, id);
    atomic_store_explicit(&column->used, v->tick, memory_order_relaxed);
    uint32_t empty = intern_find(&c->strings, STR(""));
    *ret =
        (struct cache_column){column->domain_of, column->domains, domain_find(column, empty), id};
    return 0;
}

struct str cache_column_value(const struct cache_view *v, const struct cache_column *column,
                              uint32_t domain) {
    const struct column_record *record = pool_at(&v->cache->columns, column->id);
    uint32_t value = record->table[domain].value;
    return value == INTERN_NONE ? STR("") : intern_str(&v->cache->strings, value);
}
