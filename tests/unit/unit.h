/*
 * Every unit test includes this: cmocka with the headers that it needs first, and helpers that all
 * tests share. cmocka prints TAP when CMOCKA_MESSAGE_OUTPUT=TAP, which tests/run sets.
 */
#pragma once

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* cmocka does not declare that a function that fails a test never returns; compilers need this
 * declaration. */
_Noreturn void _fail(const char *file, int line);

/* Compares a struct str with a C string. */
#define assert_str(got, want) unit_assert_str((got), (want), __FILE__, __LINE__)
/* A C string must contain another C string. */
#define assert_contains(text, part) unit_assert_contains((text), (part), __FILE__, __LINE__)

static inline void unit_assert_str(struct str got, const char *want, const char *file, int line) {
    if (str_eq(got, str_of(want)))
        return;
    print_error("got '%.*s', want '%s'\n", (int)got.n, got.p != NULL ? got.p : "", want);
    _fail(file, line);
}

static inline void unit_assert_contains(const char *text, const char *part, const char *file,
                                        int line) {
    if (strstr(text, part) != NULL)
        return;
    print_error("'%s' does not contain '%s'\n", text, part);
    _fail(file, line);
}

/*
 * Returns the seed of a randomised test: TEST_SEED, or the time. Prints it, so that a failure can
 * be repeated with TEST_SEED=... in front of the program.
 */
static inline uint64_t unit_seed(void) {
    const char *wish = getenv("TEST_SEED");
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    uint64_t seed = wish != NULL ? strtoull(wish, NULL, 10)
                                 : (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;
    print_message("# TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* Returns the next number of the sequence (splitmix64). */
static inline uint64_t unit_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns a number in [0, n). */
static inline uint32_t unit_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(unit_random(state) % n);
}

/* Waits for `steps` times a fraction of a microsecond, for tests in which two threads meet at a
 * random moment. The thread keeps its processor, because a busy machine would give it back late. */
static inline void unit_linger(unsigned steps) {
    enum { TURNS = 100 };
    for (volatile unsigned i = 0; i < steps * TURNS; i++)
        continue;
}
