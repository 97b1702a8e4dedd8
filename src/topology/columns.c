/*
 * Columns: for one topology key, the domain of every candidate. Domains are dense ids; one whose
 * last candidate left is reused. Moving a candidate to a new value reserves room first, so that a
 * change is applied whole or not at all.
 */
#include "topology/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool domain_equal(const void *ctx, uint32_t id, const void *key) {
    const struct column_record *column = ctx;
    return column->table[id].value == *(const uint32_t *)key;
}

static uint64_t domain_hash(uint32_t value) {
    return hash_mix(0, (uint64_t)value + 1);
}

int column_reserve(struct column_record *column) {
    if (column->free_domain == TOPOLOGY_NONE && column->domains == column->table_cap) {
        uint32_t cap = column->table_cap == 0 ? 16 : column->table_cap * 2;
        struct domain *table = realloc(column->table, cap * sizeof *table);
        if (table == NULL)
            return -ENOMEM;
        column->table = table;
        column->table_cap = cap;
    }
    return hashmap_reserve(&column->index);
}

/* The domain of an interned value, or TOPOLOGY_NONE. */
static uint32_t domain_find(const struct column_record *column, uint32_t value) {
    return hashmap_find(&column->index, domain_hash(value), domain_equal, column, &value);
}

static uint32_t domain_take(struct topology *t, struct column_record *column, uint32_t value) {
    uint32_t domain = domain_find(column, value);
    if (domain == HASHMAP_NONE) {
        domain = column->free_domain;
        if (domain != TOPOLOGY_NONE)
            column->free_domain = column->table[domain].candidates;
        else
            domain = column->domains++;
        column->table[domain] = (struct domain){.value = value};
        intern_ref_id(t->strings, value);
        hashmap_insert(&column->index, domain_hash(value), domain);
    }
    column->table[domain].candidates++;
    return domain;
}

static void domain_give(struct topology *t, struct column_record *column, uint32_t domain) {
    struct domain *d = &column->table[domain];
    if (--d->candidates > 0)
        return;
    hashmap_remove(&column->index, domain_hash(d->value), domain);
    intern_unref(t->strings, d->value);
    *d = (struct domain){INTERN_NONE, column->free_domain};
    column->free_domain = domain;
}

void column_place(struct topology *t, struct column_record *column, uint32_t slot) {
    const struct candidate_record *candidate = pool_at(&t->candidates, slot);
    uint32_t value = candidate->known ? label_set_value(t->strings, &candidate->labels, column->key)
                                      : INTERN_NONE;
    uint32_t before = column->domain_of[slot];
    column->domain_of[slot] = value == INTERN_NONE ? TOPOLOGY_NONE : domain_take(t, column, value);
    if (before != TOPOLOGY_NONE)
        domain_give(t, column, before);
}

static uint32_t column_find(const struct topology *t, struct str key) {
    uint32_t key_id = intern_find(t->strings, key);
    for (POOL_EACH(&t->columns, id))
        if (((const struct column_record *)pool_at(&t->columns, id))->key == key_id)
            return id;
    return POOL_NONE;
}

int column_grow(struct column_record *column, uint32_t from, uint32_t to) {
    uint32_t *grown = realloc(column->domain_of, to * sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    for (uint32_t slot = from; slot < to; slot++)
        grown[slot] = TOPOLOGY_NONE;
    column->domain_of = grown;
    return 0;
}

static int column_fill(struct topology *t, struct column_record *column) {
    column->free_domain = TOPOLOGY_NONE;
    if (column_grow(column, 0, t->cap > 0 ? t->cap : 1) != 0)
        return -ENOMEM;
    for (POOL_EACH(&t->candidates, slot)) {
        if (column_reserve(column) != 0)
            return -ENOMEM;
        column_place(t, column, slot);
    }
    return 0;
}

struct lru columns_lru(struct topology *t) {
    return (struct lru){&t->columns, offsetof(struct column_record, used), t->options.max_columns,
                        column_free, t};
}

static int column_make(struct topology_view *v, struct str key, uint32_t *ret_id) {
    struct topology *t = v->topology;
    lru_make_room(columns_lru(t), v->tick);
    uint32_t key_id = intern_ref(t->strings, key);
    uint32_t id = key_id == INTERN_NONE ? POOL_NONE : pool_take(&t->columns);
    if (id == POOL_NONE) {
        intern_unref(t->strings, key_id);
        return -ENOMEM;
    }
    struct column_record *column = pool_at(&t->columns, id);
    column->key = key_id;
    if (column_fill(t, column) != 0) {
        column_free(t, id);
        return -ENOMEM;
    }
    *ret_id = id;
    return 0;
}

void column_free(void *topology, uint32_t id) {
    struct topology *t = topology;
    struct column_record *column = pool_at(&t->columns, id);
    for (uint32_t domain = 0; domain < column->domains; domain++)
        if (column->table[domain].value != INTERN_NONE)
            intern_unref(t->strings, column->table[domain].value);
    intern_unref(t->strings, column->key);
    hashmap_done(&column->index);
    free(column->table);
    free(column->domain_of);
    pool_give(&t->columns, id);
}

int topology_column(struct topology_view *v, struct str key, struct topology_column *ret) {
    struct topology *t = v->topology;
    uint32_t id = column_find(t, key);
    if (id == POOL_NONE && !v->exclusive)
        return -EAGAIN;
    if (id == POOL_NONE) {
        int r = column_make(v, key, &id);
        if (r != 0)
            return r;
    }
    struct column_record *column = pool_at(&t->columns, id);
    atomic_store_explicit(&column->used, v->tick, memory_order_relaxed);
    uint32_t empty = intern_find(t->strings, STR(""));
    *ret = (struct topology_column){column->domain_of, column->domains, domain_find(column, empty),
                                    id};
    return 0;
}

struct str topology_value(const struct topology_view *v, const struct topology_column *column,
                          uint32_t domain) {
    const struct column_record *record = pool_at(&v->topology->columns, column->id);
    uint32_t value = record->table[domain].value;
    return value == INTERN_NONE ? STR("") : intern_str(v->topology->strings, value);
}
