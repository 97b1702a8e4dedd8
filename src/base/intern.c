#include "base/intern.h"

#include "base/hash.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct intern_entry {
    uint64_t hash;
    uint32_t refs;
    uint32_t n;
    char bytes[];
};

static bool entry_equal(const void *ctx, uint32_t id, const void *key) {
    const struct intern *t = ctx;
    const struct str *s = key;
    return str_eq(intern_str(t, id), *s);
}

uint32_t intern_find(const struct intern *t, struct str s) {
    return hashmap_find(&t->index, hash_str(s), entry_equal, t, &s);
}

static int reserve_id(struct intern *t) {
    if (t->free_count > 0 || t->count < t->cap)
        return 0;
    uint32_t cap = t->cap == 0 ? 256 : t->cap * 2;
    struct intern_entry **entries = realloc(t->entries, cap * sizeof(struct intern_entry *));
    if (entries == NULL)
        return -ENOMEM;
    t->entries = entries;
    uint32_t *free_ids = realloc(t->free_ids, cap * sizeof *free_ids);
    if (free_ids == NULL)
        return -ENOMEM;
    t->free_ids = free_ids;
    t->cap = cap;
    return 0;
}

uint32_t intern_ref(struct intern *t, struct str s) {
    uint64_t hash = hash_str(s);
    uint32_t id = hashmap_find(&t->index, hash, entry_equal, t, &s);
    if (id != INTERN_NONE) {
        t->entries[id]->refs++;
        return id;
    }
    if (s.n > UINT32_MAX || reserve_id(t) != 0 || hashmap_reserve(&t->index) != 0)
        return INTERN_NONE;
    struct intern_entry *entry = malloc(sizeof *entry + s.n);
    if (entry == NULL)
        return INTERN_NONE;
    *entry = (struct intern_entry){.hash = hash, .refs = 1, .n = (uint32_t)s.n};
    if (s.n > 0)
        memcpy(entry->bytes, s.p, s.n);
    id = t->free_count > 0 ? t->free_ids[--t->free_count] : t->count++;
    t->entries[id] = entry;
    hashmap_insert(&t->index, hash, id);
    return id;
}

void intern_ref_id(struct intern *t, uint32_t id) {
    assert(id < t->count && t->entries[id] != NULL);
    t->entries[id]->refs++;
}

void intern_unref(struct intern *t, uint32_t id) {
    if (id == INTERN_NONE)
        return;
    struct intern_entry *entry = t->entries[id];
    assert(entry != NULL && entry->refs > 0);
    if (--entry->refs > 0)
        return;
    hashmap_remove(&t->index, entry->hash, id);
    t->entries[id] = NULL;
    t->free_ids[t->free_count++] = id;
    free(entry);
}

struct str intern_str(const struct intern *t, uint32_t id) {
    const struct intern_entry *entry = t->entries[id];
    return (struct str){entry->bytes, entry->n};
}

void intern_done(struct intern *t) {
    for (uint32_t id = 0; id < t->count; id++)
        free(t->entries[id]);
    free(t->entries);
    free(t->free_ids);
    hashmap_done(&t->index);
    *t = (struct intern){0};
}
