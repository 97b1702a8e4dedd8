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
    uint32_t count, cap;        /* ids handed out so far, room */
    uint32_t free_count;
    uint32_t free_head; /* of the ids given back, while there are any */
    uint64_t bytes; /* that the strings take, with their places; sets of ids (label_set.h) too */
};

/* The id of s, or INTERN_NONE when nobody holds it. Takes no reference. */
uint32_t intern_find(const struct intern *t, struct str s);
/* The id of s with one more reference, or INTERN_NONE when memory ran out. */
uint32_t intern_ref(struct intern *t, struct str s);
/* One more reference to an id that is held. */
void intern_ref_id(struct intern *t, uint32_t id);
/* Gives a reference back; the last one frees the string and its id. INTERN_NONE is ignored. */
void intern_unref(struct intern *t, uint32_t id);
/* The string, borrowed while a reference is held. */
struct str intern_str(const struct intern *t, uint32_t id);
void intern_done(struct intern *t);
