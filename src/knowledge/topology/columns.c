/*
 * Columns: for one topology key, the domain of every candidate. Domains are dense ids; the id of an
 * empty domain is reused. Moving a candidate to a new value reserves room first, so that a change
 * is applied whole or not at all.
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

/* Returns the domain of an interned value, or TOPOLOGY_NONE. */
static uint32_t domain_find(const struct column_record *column, uint32_t value) {
    return hashmap_find(&column->index, domain_hash(value), domain_equal, column, &value);
}

/* Finds or makes the domain of a value, and counts a candidate in it; takes no reference to the
 * value. */
static uint32_t domain_take(struct column_record *column, uint32_t value) {
    uint32_t domain = domain_find(column, value);
    if (domain == HASHMAP_NONE) {
        domain = column->free_domain;
        if (domain != TOPOLOGY_NONE)
            column->free_domain = column->table[domain].candidates;
        else
            domain = column->domains++;
        column->table[domain] = (struct domain){.value = value};
        hashmap_insert(&column->index, domain_hash(value), domain);
    }
    column->table[domain].candidates++;
    column->placed++;
    return domain;
}

static void domain_give(struct topology *t, struct column_record *column, uint32_t domain) {
    struct domain *d = &column->table[domain];
    column->placed--;
    if (--d->candidates > 0)
        return;
    hashmap_remove(&column->index, domain_hash(d->value), domain);
    intern_unref(t->strings, d->value);
    *d = (struct domain){INTERN_NONE, column->free_domain};
    column->free_domain = domain;
}

void column_place(struct topology *t, struct column_record *column, uint32_t slot) {
    const struct candidate_record *candidate = pool_at(&t->candidates, slot);
    uint32_t value = topology_is_known(t, slot)
                         ? label_set_value(t->strings, &candidate->labels, column->key)
                         : INTERN_NONE;
    uint32_t before = column->domain_of[slot];
    column->domain_of[slot] = TOPOLOGY_NONE;
    if (value != INTERN_NONE) {
        uint32_t domain = domain_take(column, value);
        if (column->table[domain].candidates == 1)
            intern_ref_id(t->strings, value);
        column->domain_of[slot] = domain;
    }
    if (before != TOPOLOGY_NONE)
        domain_give(t, column, before);
}

static uint32_t column_find(const struct topology *t, struct str key) {
    uint32_t key_id = intern_find(t->strings, key);
    if (key_id == INTERN_NONE)
        return POOL_NONE;
    for (POOL_EACH(&t->columns, id))
        if (((const struct column_record *)pool_at(&t->columns, id))->key == key_id)
            return id;
    return POOL_NONE;
}

static void free_arrays(struct column_record *column) {
    hashmap_done(&column->index);
    free(column->table);
    free(column->domain_of);
}

void column_free(void *topology, uint32_t id) {
    struct topology *t = topology;
    struct column_record *column = pool_at(&t->columns, id);
    for (uint32_t domain = 0; domain < column->domains; domain++)
        if (column->table[domain].value != INTERN_NONE)
            intern_unref(t->strings, column->table[domain].value);
    t->work += column->domains;
    intern_unref(t->strings, column->key);
    free_arrays(column);
    lru_remove(&t->columns_kept, id);
    pool_give(&t->columns, id);
}

/* ---- building ---- */

static int column_fill(struct topology_view *v, struct column_record *column) {
    struct topology *t = v->topology;
    uint32_t cap = t->cap > 0 ? t->cap : 1;
    column->free_domain = TOPOLOGY_NONE;
    column->domain_of = malloc(cap * sizeof *column->domain_of);
    if (column->domain_of == NULL)
        return -ENOMEM;
    memset(column->domain_of, 0xff, cap * sizeof *column->domain_of); /* TOPOLOGY_NONE */
    if (column->key == INTERN_NONE)
        return 0;
    for (KNOWN_EACH(t, slot)) {
        const struct candidate_record *candidate = pool_at(&t->candidates, slot);
        uint32_t value = label_set_value(t->strings, &candidate->labels, column->key);
        if (value == INTERN_NONE)
            continue;
        if (column_reserve(column) != 0)
            return -ENOMEM;
        column->domain_of[slot] = domain_take(column, value);
    }
    return 0;
}

static uint64_t bytes_of(const struct topology *t, const struct column_record *column) {
    return sizeof *column + t->cap * sizeof *column->domain_of +
           column->table_cap * sizeof *column->table + column->index.cap * (uint64_t)8;
}

void built_column_free(struct built_column *built) {
    free_arrays(&built->record);
    free(built);
}

/* Builds a column for `place` in the view's tree. */
static int column_build(struct topology_view *v, struct str key, uint64_t hash,
                        struct hash_node **place) {
    const struct topology *t = v->topology;
    if (v->steps != NULL && !steps_take(v->steps, t->known_names.count + topology_walk_steps(t)))
        return -E2BIG;
    struct built_column *built = calloc(1, sizeof *built + key.n);
    if (built == NULL)
        return -ENOMEM;
    if (key.n > 0)
        memcpy(built->key, key.p, key.n);
    built->key_length = key.n;
    built->changes = t->changes;
    built->record.key = intern_find(t->strings, key);
    int r = column_fill(v, &built->record);
    if (r != 0) {
        built_column_free(built);
        return r;
    }
    built->cost = (struct cost){1, bytes_of(t, &built->record) + key.n};
    built->next = v->columns;
    v->columns = built;
    v->built++;
    built->node.hash = hash;
    *place = &built->node;
    return 0;
}

/* References the values of the candidates, which have not changed since the column was built. */
static void take_references(struct topology *t, const struct column_record *column) {
    for (uint32_t domain = 0; domain < column->domains; domain++)
        intern_ref_id(t->strings, column->table[domain].value);
    t->work += column->domains;
}

void column_publish(struct topology *t, struct built_column *built, const struct topology_view *v) {
    const struct str name = {built->key, built->key_length};
    if (built->changes != t->changes || column_find(t, name) != POOL_NONE ||
        !lru_make_room(&t->columns_kept, v->asker, &built->cost))
        return;
    uint32_t key = intern_ref(t->strings, name);
    uint32_t id = key == INTERN_NONE ? POOL_NONE : pool_take(&t->columns);
    if (id != POOL_NONE && lru_add(&t->columns_kept, id, v->asker, &built->cost, v->tick) != 0) {
        pool_give(&t->columns, id);
        id = POOL_NONE;
    }
    if (id == POOL_NONE) {
        intern_unref(t->strings, key);
        return;
    }
    struct column_record *column = pool_at(&t->columns, id);
    const struct lru_entry entry = column->entry;
    *column = built->record;
    column->entry = entry;
    column->key = key;
    take_references(t, column);
    built->record = (struct column_record){.key = INTERN_NONE}; /* its arrays are the topology's
                                                                   now */
}

/* ---- asking ---- */

static bool built_equal(const struct hash_node *node, const void *key) {
    const struct built_column *built = (const struct built_column *)node;
    return str_eq((struct str){built->key, built->key_length}, *(const struct str *)key);
}

/* Returns the view's own column; builds it if needed. */
static int column_of_view(struct topology_view *v, struct str key, struct column_record **ret) {
    uint64_t hash = hash_str(key);
    struct hash_node **place = hash_tree_place(&v->column_tree, hash, built_equal, &key);
    int r = *place != NULL ? 0 : column_build(v, key, hash, place);
    if (r == 0)
        *ret = &((struct built_column *)*place)->record;
    return r;
}

int topology_column(struct topology_view *v, struct str key, struct topology_column *ret) {
    struct topology *t = v->topology;
    uint32_t id = column_find(t, key);
    struct column_record *column = id != POOL_NONE ? pool_at(&t->columns, id) : NULL;
    int r = column != NULL ? 0 : column_of_view(v, key, &column);
    if (r != 0)
        return r;
    if (id != POOL_NONE)
        atomic_store_explicit(&column->entry.used, v->tick, memory_order_relaxed);
    uint32_t empty = intern_find(t->strings, STR(""));
    *ret = (struct topology_column){.domain_of = column->domain_of,
                                    .domains = column->domains,
                                    .empty = domain_find(column, empty),
                                    .everywhere = column->placed == t->known_names.count,
                                    .record = column};
    return 0;
}

bool topology_domain_used(const struct topology_column *column, uint32_t domain) {
    return column->record->table[domain].value != INTERN_NONE;
}

struct str topology_value(const struct topology_view *v, const struct topology_column *column,
                          uint32_t domain) {
    uint32_t value = column->record->table[domain].value;
    return value == INTERN_NONE ? STR("") : intern_str(v->topology->strings, value);
}
