/*
 * A memory arena with a budget of work steps: allocate freely, free once. Every request and every
 * decoded document has one, so decoders and handlers never free single objects. Not thread-safe: an
 * arena belongs to one request or one loader at a time.
 *
 * Every arena has a maximum from the start. Once it is reached, or malloc fails, arena_alloc()
 * returns NULL and arena_failed() stays true until the arena is reset: a decoder may check once at
 * its end, and the request is refused with -ENOMEM.
 */
#pragma once

#include "base/err.h"
#include "base/steps.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first; owned */
    char *next, *end;           /* the free part of the newest chunk */
    size_t total, max; /* bytes from malloc, and the maximum of these bytes. An owner may change the
                          maximum; if it is below total, the arena only stops growing */
    struct steps steps; /* steps of work on the contents; no limit unless the owner sets a limit */
    bool failed;
    bool full; /* failed because of max */
};

/* `max_bytes` limits the bytes from malloc. Allocates nothing yet. */
void arena_init(struct arena *a, size_t max_bytes);
/* Frees all its memory; the arena stays usable with the same maximum. */
void arena_reset(struct arena *a);
/* The same as arena_reset(), for CLEANUP() and the end of the owner's life. */
void arena_done(struct arena *a);

/* Returns zeroed memory, aligned for any type, valid until reset or done; NULL if the arena failed.
 * n == 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n);
/* Returns an array of `count` zeroed items; NULL if the arena failed or the size overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* The same as arena_array(), but not zeroed: the caller writes every item before it reads it. */
void *arena_array_unset(struct arena *a, size_t count, size_t size);
/* Copies s. On failure returns an empty str, with arena_failed() set. */
struct str arena_str(struct arena *a, struct str s);
/* As arena_str(), NUL-terminated; NULL on failure. */
char *arena_cstr(struct arena *a, struct str s);
/* Formats a sentence for people as printf does, and cuts it at ERR_TEXT_SIZE bytes. Fails as
 * arena_str() does. */
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Makes room for one more item in an array that grows in the arena: returns the (perhaps moved)
 * array with items[count] writable, or NULL on failure. Old copies stay in the arena until it is
 * reset. */
void *arena_push(struct arena *a, void *items, size_t count, uint32_t *cap, size_t size);

/* Returns the bytes in use: the smallest maximum with which an arena can hold the same allocations.
 */
static inline size_t arena_used(const struct arena *a) {
    return a->total - (size_t)(a->end - a->next);
}

static inline bool arena_failed(const struct arena *a) {
    return a->failed;
}
