/*
 * Numbers texts in the order in which they are first added: clusters of a binding, reasons to
 * count. Belongs to one question, with its thread and its arena.
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

#define TEXTS_NONE UINT32_MAX

struct texts {
    uint32_t *slots; /* [mask + 1]: numbers of texts, or TEXTS_NONE */
    uint32_t mask;   /* number of slots less one; the number is a power of two */
    struct str *items;
    uint32_t count, cap;
};

/* Makes room for `cap` texts. Added strings are borrowed. Returns 0 or -ENOMEM. */
int texts_init(struct texts *ret, uint32_t cap, struct arena *arena) MUST_CHECK;
/* Returns the text's number; adds the text if it is new. */
uint32_t texts_put(struct texts *t, struct str text);
/* Returns the text's number; TEXTS_NONE if it was never added. */
uint32_t texts_find(const struct texts *t, struct str text);
