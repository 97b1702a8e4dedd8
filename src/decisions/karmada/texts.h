/*
 * Texts numbered in the order in which they are first seen: clusters that a binding names, reasons
 * that are counted. Of a question; belongs to its thread and its arena.
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define TEXTS_NONE UINT32_MAX

struct texts {
    uint32_t *slots; /* numbers, or TEXTS_NONE */
    uint32_t mask;   /* of slots: a power of two less one */
    struct str *items;
    uint32_t count, cap;
};

/* Room for `cap` texts. Strings that are put in are borrowed. 0 or -ENOMEM. */
int texts_init(struct texts *ret, uint32_t cap, struct arena *arena) MUST_CHECK;
/* The text's number; it may be new. */
uint32_t texts_put(struct texts *t, struct str text);
/* TEXTS_NONE: it was never put in. */
uint32_t texts_find(const struct texts *t, struct str text);
