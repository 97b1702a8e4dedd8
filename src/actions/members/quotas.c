/*
 * ResourceQuotas, each prepared for questions in one block of memory. The quotas of a namespace are
 * in a list; an index finds the first one by the namespace.
 */
#include "members/internal.h"

#include <errno.h>
#include <stdlib.h>

struct kept_quota {
    struct listed_record record; /* in the list of its namespace */
    struct estimator_quota quota;
    void *block; /* owned: everything that the quota points to */
    uint64_t bytes;
};

/* ---- blocks ---- */

struct block {
    char *at; /* NULL while only the size is computed */
    size_t used;
};

/* Take larger items first, so that all are aligned. */
static void *block_take(struct block *b, size_t n) {
    void *taken = b->at != NULL ? b->at + b->used : NULL;
    b->used += n;
    return taken;
}

static struct str block_str(struct block *b, struct str text) {
    char *p = block_take(b, text.n);
    if (p == NULL)
        return (struct str){0};
    if (text.n > 0)
        memcpy(p, text.p, text.n);
    return (struct str){p, text.n};
}

static void copy_values(struct block *b, const struct quota_scope *from, struct str *values) {
    for (uint32_t i = 0; i < from->value_count; i++) {
        const struct str value = block_str(b, from->values[i]);
        if (values != NULL)
            values[i] = value;
    }
}

/* With b->at == NULL only the size is computed. */
static void copy_quota(struct block *b, const struct estimator_quota *from,
                       struct estimator_quota *ret) {
    struct quota_room *rooms = block_take(b, from->room_count * sizeof *rooms);
    struct quota_scope *scopes = block_take(b, from->scope_count * sizeof *scopes);
    const bool sizing = b->at == NULL;
    for (uint32_t i = 0; i < from->scope_count; i++) {
        const struct quota_scope *scope = &from->scopes[i];
        struct str *values = block_take(b, scope->value_count * sizeof *values);
        if (!sizing)
            scopes[i] = (struct quota_scope){.values = values, .value_count = scope->value_count};
    }
    for (uint32_t i = 0; i < from->scope_count; i++) {
        const struct str name = block_str(b, from->scopes[i].name),
                         op = block_str(b, from->scopes[i].op);
        copy_values(b, &from->scopes[i], sizing ? NULL : (struct str *)(uintptr_t)scopes[i].values);
        if (!sizing) {
            scopes[i].name = name;
            scopes[i].op = op;
        }
    }
    for (uint32_t i = 0; i < from->room_count; i++) {
        const struct str name = block_str(b, from->rooms[i].name);
        if (!sizing) {
            rooms[i] = from->rooms[i];
            rooms[i].name = name;
        }
    }
    *ret = *from;
    ret->namespace = block_str(b, from->namespace);
    ret->rooms = rooms;
    ret->scopes = scopes;
}

/* ---- the table ---- */

static bool namespace_equal(const void *ctx, uint32_t id, const void *key) {
    const struct quota_table *t = ctx;
    const struct kept_quota *quota = pool_at(&t->quotas, id);
    const struct str *wanted = key;
    return str_eq(quota->quota.namespace, *wanted);
}

static uint32_t find_first(const struct quota_table *t, struct str namespace) {
    return hashmap_find(&t->namespaces, hash_str(namespace), namespace_equal, t, &namespace);
}

void quotas_init(struct member_contents *c) {
    pool_init(&c->quotas.quotas, sizeof(struct kept_quota));
}

/* Puts the quota behind the first quota of its namespace; both indexes must have room. */
static void link_quota(struct quota_table *t, uint32_t id) {
    const struct kept_quota *quota = pool_at(&t->quotas, id);
    const struct str namespace = quota->quota.namespace;
    hashmap_insert(&t->index, quota->record.key.a, id);
    record_link(&t->quotas, &t->namespaces, hash_str(namespace), find_first(t, namespace), id);
}

/* Frees the contents; the record stays. */
static void empty_quota(struct quota_table *t, uint32_t id) {
    const struct kept_quota *quota = pool_at(&t->quotas, id);
    hashmap_remove(&t->index, quota->record.key.a, id);
    record_unlink(&t->quotas, &t->namespaces, hash_str(quota->quota.namespace), id);
    t->block_bytes -= quota->bytes;
    free(quota->block);
}

void quotas_drop(struct member_contents *c, uint32_t id) {
    empty_quota(&c->quotas, id);
    pool_give(&c->quotas.quotas, id);
}

void quotas_done(struct member_contents *c) {
    struct quota_table *t = &c->quotas;
    for (POOL_EACH(&t->quotas, id))
        quotas_drop(c, id);
    pool_done(&t->quotas);
    hashmap_done(&t->index);
    hashmap_done(&t->namespaces);
}

/* ---- events ---- */

static int fill_quota(struct kept_quota *quota, const struct estimator_quota *from) {
    struct block size = {0}, block = {0};
    copy_quota(&size, from, &quota->quota);
    quota->block = block.at = malloc(size.used > 0 ? size.used : 1);
    if (block.at == NULL)
        return -ENOMEM;
    copy_quota(&block, from, &quota->quota);
    quota->bytes = size.used;
    return 0;
}

/* Replaces the old quota, if any, and takes over the new block. */
static int put_quota(struct quota_table *t, uint32_t old, const struct kept_quota *quota) {
    if (hashmap_reserve(&t->index) != 0 || hashmap_reserve(&t->namespaces) != 0)
        return -ENOMEM;
    const uint32_t id = old != HASHMAP_NONE ? old : pool_take(&t->quotas);
    if (id == POOL_NONE)
        return -ENOMEM;
    if (old != HASHMAP_NONE)
        empty_quota(t, id);
    *(struct kept_quota *)pool_at(&t->quotas, id) = *quota;
    t->block_bytes += quota->bytes;
    link_quota(t, id);
    pool_show(&t->quotas, id);
    return 0;
}

int quotas_apply(struct member_contents *c, const struct quota *from, struct arena *arena) {
    struct quota_table *t = &c->quotas;
    struct kept_quota kept = {.record.key = hash_names128(from->meta.namespace, from->meta.name)};
    struct estimator_quota prepared;
    const uint32_t old = record_find(&t->quotas, &t->index, &kept.record.key);
    int r = estimator_quota_init(from, arena, &prepared);
    if (r == 0)
        r = fill_quota(&kept, &prepared);
    if (r == 0 && (r = put_quota(t, old, &kept)) != 0)
        free(kept.block);
    if (r != 0 && old != HASHMAP_NONE)
        quotas_drop(c, old);
    return r;
}

void quotas_remove(struct member_contents *c, struct str namespace, struct str name) {
    const struct hash128 key = hash_names128(namespace, name);
    const uint32_t id = record_find(&c->quotas.quotas, &c->quotas.index, &key);
    if (id != HASHMAP_NONE)
        quotas_drop(c, id);
}

uint64_t quotas_bytes(const struct member_contents *c) {
    enum { QUOTA_BYTES = sizeof(struct kept_quota) + 20 }; /* with its places in two indexes */
    return c->quotas.quotas.count * (uint64_t)QUOTA_BYTES + c->quotas.block_bytes;
}

/* ---- questions ---- */

static uint32_t next_of(const struct quota_table *t, bool all, uint32_t id) {
    return all ? pool_next(&t->quotas, id + 1)
               : ((const struct kept_quota *)pool_at(&t->quotas, id))->record.next;
}

int member_quotas(const struct member_view *v, struct str namespace, struct arena *arena,
                  const struct estimator_quota **ret, uint32_t *ret_count) {
    const struct quota_table *t = &v->contents->quotas;
    const bool all = str_empty(namespace);
    struct estimator_quota *quotas = NULL;
    uint32_t count = 0, cap = 0;
    uint32_t id = all ? pool_next(&t->quotas, 0) : find_first(t, namespace);
    for (; id != POOL_NONE; id = next_of(t, all, id)) {
        if (!steps_take(&arena->steps, 4))
            return -E2BIG;
        quotas = arena_push(arena, quotas, count, &cap, sizeof *quotas);
        if (quotas == NULL)
            return -ENOMEM;
        quotas[count++] = ((const struct kept_quota *)pool_at(&t->quotas, id))->quota;
    }
    *ret = quotas;
    *ret_count = count;
    return 0;
}
