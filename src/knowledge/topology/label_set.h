/*
 * Labels as interned ids, for candidates and classes of pods. The strings belong to a struct intern
 * that is passed in, the same for the life of a set.
 *
 * Nodes share the same twenty keys, and the pods of a controller differ in values only. The list of
 * keys is therefore stored once for all sets that share it: the bytes of the keys' ids are interned
 * like a string.
 */
#pragma once

#include "base/err.h"
#include "base/intern.h"
#include "model/labels.h"

/* A set of labels, sorted by the text of their keys. Owns references to its ids. All zero is the
 * empty set. */
struct label_set {
    uint32_t *values; /* owned; [count] */
    uint32_t count;
    uint32_t keys; /* the list of keys, interned; meaningless while count is 0 */
};

/* Returns 0 or -ENOMEM. */
int label_set_make(struct intern *strings, struct labels labels, struct label_set *ret) MUST_CHECK;
void label_set_free(struct intern *strings, struct label_set *set);
bool label_set_is(const struct intern *strings, const struct label_set *set, struct labels labels);
/* Returns label i, 0 <= i < count; borrowed until the set changes. */
struct label label_set_at(const struct intern *strings, const struct label_set *set, uint32_t i);
/* Returns the value of an interned key; INTERN_NONE if there is no such label. O(log labels). */
uint32_t label_set_value(const struct intern *strings, const struct label_set *set, uint32_t key);

/* Returns the index of the first label whose key begins with `prefix`; other labels with the
 * prefix follow it. Returns `count` if no key begins with it. O(log labels). */
uint32_t label_set_first(const struct intern *strings, const struct label_set *set,
                         struct str prefix);

struct label_set_ref {
    const struct intern *strings;
    const struct label_set *set;
};
/* A label_lookup_fn over a struct label_set_ref. */
bool label_set_lookup(const void *ref, struct str key, struct str *ret_value);
