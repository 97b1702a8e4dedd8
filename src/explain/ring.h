/*
 * The last decisions of this process, as the texts in which they were told: a ring of places of one
 * size, taken once. A new one is written over the oldest.
 *
 * Threads: any number of writers and readers. One mutex, held for the copy of a text (1.5 KiB at
 * most), or for a look at the hashes (8 bytes a decision) and the copy of what was found.
 * Memory: LIMIT_DECISION_BYTES a place, which the text shares with the parts of its subject; pages
 * are not touched before they are written to.
 */
#pragma once

#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "explain/subject.h"

#include <stdbool.h>
#include <stdint.h>

struct ring;

/* `capacity` > 0. 0 or -ENOMEM. */
int ring_new(uint32_t capacity, struct ring **ret) MUST_CHECK;
void ring_free(struct ring *r); /* NULL is fine */

/* How long a text about this subject may be. */
size_t ring_room(const struct subject *subject);
/* Copies a text that fits into ring_room(). Returns its number: they count from 1. A subject longer
 * than LIMIT_DECISION_SUBJECT, which no API server accepts, is not kept: only a search for every
 * subject finds its text. */
uint64_t ring_add(struct ring *r, const struct subject *subject, struct str text);

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
/* The newest with a number below `before` and, unless it is NULL, this subject. False: there is
 * none, any more. Looks at every hash at most, and at names where the hash is equal: microseconds.
 */
bool ring_find(struct ring *r, const struct subject *subject, uint64_t before,
               struct ring_entry *ret);
