/*
 * Keeps the texts of this process's decisions in a fixed number of places of one size, allocated
 * once. When all places are taken, a new decision replaces the oldest decision of the namespace
 * with most decisions (all dry runs count as one namespace; see eviction.h).
 *
 * Threads: any number of writers and readers. One mutex is held while a text is copied (1.5 KiB at
 * most), and while a reader searches the labels (16 bytes a decision) and copies the text it finds.
 * Memory: a place has LIMIT_DECISION_BYTES for the text and its subject together. The kernel gives
 * memory to a place when it is first used.
 */
#pragma once

#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "explain/subject.h"

#include <stdbool.h>
#include <stdint.h>

struct ring;

/* `capacity` > 0. Returns 0 or -ENOMEM. */
int ring_new(uint32_t capacity, struct ring **ret) MUST_CHECK;
void ring_free(struct ring *r); /* NULL is fine */

/* Returns the greatest length of a text about this subject. */
size_t ring_room(const struct subject *subject);
/* Copies a text of at most ring_room() bytes. Returns the text's number; the first text has
 * number 1. A subject longer than LIMIT_DECISION_SUBJECT, which no API server accepts, is not kept:
 * only a search without a subject finds its text. */
uint64_t ring_add(struct ring *r, const struct subject *subject, bool dry_run, struct str text);

/* The number of texts that were added, and the most that the ring keeps. */
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
/* Finds the newest text whose number is below `before` and, unless `subject` is NULL, that is about
 * this subject. Returns false if the ring has no such text, or no longer has it. Compares each hash
 * at most once, and the subject where the hash is equal: microseconds. */
bool ring_find(struct ring *r, const struct subject *subject, uint64_t before,
               struct ring_entry *ret);
