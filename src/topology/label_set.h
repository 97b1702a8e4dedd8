/*
 * Labels as interned ids: what candidates and classes of pods keep of them. The strings belong to a
 * struct intern that is handed in, the same for the life of a set.
 */
#pragma once

#include "base/err.h"
#include "base/intern.h"
#include "model/labels.h"

struct label_ids {
    uint32_t key, value;
};

/* Owns references to its ids; sorted by key as decoded. */
struct label_set {
    struct label_ids *items; /* owned */
    uint32_t count;
};

/* 0 or -ENOMEM. */
int label_set_make(struct intern *strings, struct labels labels, struct label_set *ret) MUST_CHECK;
void label_set_free(struct intern *strings, struct label_set *set);
bool label_set_is(const struct intern *strings, const struct label_set *set, struct labels labels);
/* The value of a key that is interned; INTERN_NONE: there is no such label. O(log labels). */
uint32_t label_set_value(const struct intern *strings, const struct label_set *set, uint32_t key);

struct label_set_ref {
    const struct intern *strings;
    const struct label_set *set;
};
/* A label_lookup_fn over a struct label_set_ref. */
bool label_set_lookup(const void *ref, struct str key, struct str *ret_value);
