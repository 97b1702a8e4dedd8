#include "base/intern.h"

#include "base/hash.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* The members before the string take 12 bytes, so an entry with a string of up to 12 bytes takes 32
 * bytes of the heap, with malloc()'s own bytes. */
struct intern_entry {
    uint32_t hash; /* folded */
    uint32_t refs;
    uint32_t n;
    char bytes[]; /* aligned, so that it can also hold ids */
};

union intern_place {
    struct intern_entry *entry;
    uintptr_t next_free; /* twice the next free id, plus one: an odd number, which is never the
                            address of an entry */
};

static bool is_free(union intern_place place) {
    return (place.next_free & 1) != 0;
}

static bool entry_equal(const void *ctx, uint32_t id, const void *key) {
    const struct intern *t = ctx;
    const struct str *s = key;
    return str_eq(intern_str(t, id), *s);
}

/* Returns the bytes that an entry takes, with the bytes for malloc() and for the index. */
static uint64_t bytes_of(const struct intern_entry *entry) {
    enum { BESIDE = 32 };
    return sizeof *entry + entry->n + BESIDE;
}

uint32_t intern_find(const struct intern *t, struct str s) {
    return hashmap_find(&t->index, hash_str(s), entry_equal, t, &s);
}

static int reserve_id(struct intern *t) {
    if (t->free_count > 0 || t->count < t->cap)
        return 0;
    uint32_t cap = t->cap == 0 ? 256 : t->cap * 2;
    union intern_place *places = realloc(t->places, cap * sizeof *places);
    if (places == NULL)
        return -ENOMEM;
    t->places = places;
    t->cap = cap;
    return 0;
}

static uint32_t take_id(struct intern *t) {
    if (t->free_count == 0)
        return t->count++;
    uint32_t id = t->free_head;
    t->free_head = (uint32_t)(t->places[id].next_free >> 1);
    t->free_count--;
    return id;
}

static void give_id(struct intern *t, uint32_t id) {
    t->places[id].next_free = (uintptr_t)t->free_head << 1 | 1;
    t->free_head = id;
    t->free_count++;
}

uint32_t intern_ref(struct intern *t, struct str s) {
    uint64_t hash = hash_str(s);
    uint32_t id = hashmap_find(&t->index, hash, entry_equal, t, &s);
    if (id != INTERN_NONE) {
        t->places[id].entry->refs++;
        return id;
    }
    if (s.n > UINT32_MAX || reserve_id(t) != 0 || hashmap_reserve(&t->index) != 0)
        return INTERN_NONE;
    struct intern_entry *entry = malloc(sizeof *entry + s.n);
    if (entry == NULL)
        return INTERN_NONE;
    *entry = (struct intern_entry){.hash = hashmap_fold(hash), .refs = 1, .n = (uint32_t)s.n};
    if (s.n > 0)
        memcpy(entry->bytes, s.p, s.n);
    id = take_id(t);
    t->places[id].entry = entry;
    hashmap_insert(&t->index, hash, id);
    t->bytes += bytes_of(entry);
    return id;
}

void intern_ref_id(struct intern *t, uint32_t id) {
    assert(id < t->count && !is_free(t->places[id]));
    t->places[id].entry->refs++;
}

void intern_unref(struct intern *t, uint32_t id) {
    if (id == INTERN_NONE)
        return;
    assert(id < t->count && !is_free(t->places[id]));
    struct intern_entry *entry = t->places[id].entry;
    assert(entry->refs > 0);
    if (--entry->refs > 0)
        return;
    hashmap_remove(&t->index, entry->hash, id);
    give_id(t, id);
    t->bytes -= bytes_of(entry);
    free(entry);
}

struct str intern_str(const struct intern *t, uint32_t id) {
    const struct intern_entry *entry = t->places[id].entry;
    return (struct str){entry->bytes, entry->n};
}

void intern_done(struct intern *t) {
    for (uint32_t id = 0; id < t->count; id++)
        if (!is_free(t->places[id]))
            free(t->places[id].entry);
    free(t->places);
    hashmap_done(&t->index);
    *t = (struct intern){0};
}
