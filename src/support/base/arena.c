#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct arena_chunk {
    struct arena_chunk *next;
    alignas(max_align_t) char bytes[];
};

enum { CHUNK_FIRST = 4096, CHUNK_LARGEST = 1 << 20 };

void arena_init(struct arena *a, size_t max_bytes) {
    *a = (struct arena){.max = max_bytes};
}

void arena_reset(struct arena *a) {
    struct arena_chunk *chunk = a->chunks;
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *a = (struct arena){.max = a->max, .steps.max = a->steps.max};
}

void arena_done(struct arena *a) {
    arena_reset(a);
}

/* Adds a chunk. Each chunk doubles the total size, so the number of mallocs is logarithmic in the
 * bytes used. */
static bool grow(struct arena *a, size_t n) {
    size_t needed = n + sizeof(struct arena_chunk);
    a->full = a->max < a->total || a->max - a->total < needed;
    if (a->full)
        return false;
    size_t room = a->max - a->total, size = a->total < CHUNK_FIRST ? CHUNK_FIRST : a->total;
    if (size > CHUNK_LARGEST)
        size = CHUNK_LARGEST;
    if (size < needed)
        size = needed;
    if (size > room)
        size = room;
    struct arena_chunk *chunk = malloc(size);
    if (chunk == NULL)
        return false;
    chunk->next = a->chunks;
    a->chunks = chunk;
    a->next = chunk->bytes;
    a->end = (char *)chunk + size;
    a->total += size;
    return true;
}

/* Returns n bytes that are not set. */
static void *take(struct arena *a, size_t n) {
    const size_t align = alignof(max_align_t);
    if (a->failed || n > SIZE_MAX / 2) {
        a->failed = true;
        return NULL;
    }
    n = (n + align - 1) / align * align;
    if (n == 0)
        n = align;
    if ((size_t)(a->end - a->next) < n && !grow(a, n)) {
        a->failed = true;
        return NULL;
    }
    void *p = a->next;
    a->next += n;
    return p;
}

void *arena_alloc(struct arena *a, size_t n) {
    void *p = take(a, n);
    return p == NULL ? NULL : memset(p, 0, n);
}

void *arena_array(struct arena *a, size_t count, size_t size) {
    size_t n;
    if (__builtin_mul_overflow(count, size, &n)) {
        a->failed = true;
        return NULL;
    }
    return arena_alloc(a, n);
}

void *arena_array_unset(struct arena *a, size_t count, size_t size) {
    size_t n;
    if (__builtin_mul_overflow(count, size, &n)) {
        a->failed = true;
        return NULL;
    }
    return take(a, n);
}

char *arena_cstr(struct arena *a, struct str s) {
    char *p = arena_alloc(a, s.n + 1);
    if (p != NULL && s.n > 0)
        memcpy(p, s.p, s.n);
    return p;
}

struct str arena_str(struct arena *a, struct str s) {
    char *p = arena_cstr(a, s);
    return p == NULL ? (struct str){0} : (struct str){p, s.n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...) {
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* truncation is meant */
    va_end(args);
    return arena_str(a, str_of(text));
}

void *arena_push(struct arena *a, void *items, size_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return items;
    uint32_t grown = *cap == 0 ? 8 : *cap * 2;
    size_t n;
    bool too_many = *cap > UINT32_MAX / 2 || __builtin_mul_overflow(grown, size, &n);
    char *moved = too_many ? NULL : take(a, n);
    a->failed = a->failed || too_many;
    if (moved == NULL)
        return NULL;
    if (count > 0)
        memcpy(moved, items, count * size);
    memset(moved + count * size, 0, n - count * size); /* the new half, if the array is large */
    *cap = grown;
    return moved;
}
