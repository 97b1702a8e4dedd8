/*
 * Interned strings: equal strings share one dense id, so that labels compare as integers and are
 * stored once. Strings are reference counted, because label values such as pod-template-hash come
 * and go for as long as the daemon lives. Not thread-safe for writers; readers may share it while
 * nobody writes.
 */
#pragma once

#include "base/hashmap.h"
#include "base/str.h"

#define INTERN_NONE UINT32_MAX

union intern_place;

struct intern {
    struct hashmap index;
    union intern_place *places; /* by id; owned */
    uint32_t count, cap;        /* count: ids handed out so far; cap: ids for which there is room */
    uint32_t free_count;
    uint32_t free_head; /* first of the unused ids, if any */
    uint64_t bytes; /* bytes of the strings with their places; also of sets of ids (label_set.h) */
};

/* Returns the id of s, or INTERN_NONE if it is not interned. Takes no reference. */
uint32_t intern_find(const struct intern *t, struct str s);
/* Returns the id of s with one more reference, or INTERN_NONE without memory. */
uint32_t intern_ref(struct intern *t, struct str s);
/* Takes one more reference to an id that is held. */
void intern_ref_id(struct intern *t, uint32_t id);
/* Gives a reference back; the last one frees the string and its id. INTERN_NONE is ignored. */
void intern_unref(struct intern *t, uint32_t id);
/* Returns the string, borrowed while a reference is held. */
struct str intern_str(const struct intern *t, uint32_t id);
void intern_done(struct intern *t);
