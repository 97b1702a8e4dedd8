/*
 * A malloc() that fails when a test wants it to. It is part of the program, so one file of a
 * program includes this, and calls from everywhere come here: the libraries' too.
 *
 * Sanitizers and valgrind have their own malloc(), so can_fail() is false with them, and they find
 * leaks. Otherwise `blocks` shows leaks.
 *
 * One thread only.
 */
#pragma once

#include "base/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_MALLOC 0
#endif
#endif
#ifndef OWN_MALLOC
#define OWN_MALLOC 1
#endif

/* volatile: compilers take malloc() for one that looks at no variable of ours */
static volatile bool armed;   /* calls count, and may fail */
static volatile long until;   /* number of calls that still succeed */
static volatile bool lasting; /* after the first failure all fail, until disarmed */
static volatile bool has_failed;
static volatile long blocks;                        /* blocks that were allocated and not freed */
static void (*volatile before_free)(const void *p); /* called before each free(); NULL: none */

static inline bool must_fail(void) {
    if (!armed || (has_failed && !lasting))
        return false;
    if (until > 0) {
        until--;
        return false;
    }
    has_failed = true;
    errno = ENOMEM;
    return true;
}

#if OWN_MALLOC
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's names are reserved */
/* NOLINTBEGIN(misc-definitions-in-headers): see above */
void *malloc(size_t n) {
    void *p = must_fail() ? NULL : __libc_malloc(n);
    blocks = blocks + (p != NULL);
    return p;
}

void *calloc(size_t count, size_t size) {
    void *p = must_fail() ? NULL : __libc_calloc(count, size);
    blocks = blocks + (p != NULL);
    return p;
}

void *realloc(void *p, size_t n) {
    if (must_fail())
        return NULL;
    void *moved = __libc_realloc(p, n);
    blocks = blocks + (p == NULL && moved != NULL);
    return moved;
}

void free(void *p) {
    blocks = blocks - (p != NULL);
    if (before_free != NULL)
        before_free(p);
    __libc_free(p);
}
/* NOLINTEND(misc-definitions-in-headers) */
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
#endif

/* After `armed` is set, call n from now (0: the next call) fails and, with `all_after`, every later
 * call too. */
static inline void arm(long n, bool all_after) {
    until = n;
    lasting = all_after;
    has_failed = false;
}

/* Is our malloc() the one that programs call? */
static inline bool can_fail(void) {
    struct arena arena; /* asks from another file: valgrind leaves calls within this one alone */
    arena_init(&arena, 4096);
    arm(0, true);
    armed = true;
    void *p = arena_alloc(&arena, 1);
    armed = false;
    arena_done(&arena);
    return p == NULL;
}
