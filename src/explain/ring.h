/*
 * The last decisions of this process, as the texts in which they were told: a ring of places of one
 * size, taken once. A new one is written over the oldest.
 *
 * Threads: any number of writers and readers. One mutex, held for the copy of a text (1.5 KiB at
 * most), or for a look at the keys (16 bytes a decision) and the copy of what was found.
 * Memory: LIMIT_DECISION_BYTES a place; pages are not touched before they are written to.
 */
#pragma once

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct ring;

/* `capacity` > 0. 0 or -ENOMEM. */
int ring_new(uint32_t capacity, struct ring **ret) MUST_CHECK;
void ring_free(struct ring *r); /* NULL is fine */

/* Copies a text of at most LIMIT_DECISION_BYTES under this key. Returns its number: they count from
 * 1. */
uint64_t ring_add(struct ring *r, struct hash128 key, struct str text);

/* How many there have been, and how many are kept at most. */
struct ring_size {
    uint64_t added;
    uint32_t capacity;
};
struct ring_size ring_size(struct ring *r);

struct ring_entry {
    uint64_t number;
    size_t n; /* bytes of text */
    char text[LIMIT_DECISION_BYTES];
};
/* The newest with a number below `before` and, unless it is NULL, this key. False: there is none,
 * any more. Looks at every key at most: microseconds. */
bool ring_find(struct ring *r, const struct hash128 *key, uint64_t before, struct ring_entry *ret);
