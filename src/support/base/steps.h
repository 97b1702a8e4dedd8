/*
 * A budget of work, checked inside loops over users' lists: the code that does the work counts its
 * steps, and stops when no steps are left. A limit that is checked only after the work limits
 * nothing. A step is a comparison, a look at one item of a list, or 16 bytes read or written. Not
 * thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct steps {
    uint64_t used;
    uint64_t max; /* 0: no limit */
};

/* The cost of a user's text: the steps of each match, and the bytes of a kept copy. */
struct cost {
    uint64_t steps, bytes;
};

/* Counts more steps. Returns false if the budget is spent; then the caller must not use the result
 * that it has so far. */
static inline bool steps_take(struct steps *s, uint64_t count) {
    s->used += count;
    return s->max == 0 || s->used <= s->max;
}

/* The same as steps_take() for reading or writing `bytes` bytes, and for sorting `count` items. A
 * comparison in sorting is quick and counts as a quarter of a step. */
static inline bool steps_take_bytes(struct steps *s, uint64_t bytes) {
    return steps_take(s, bytes / 16 + 1);
}
static inline bool steps_take_sort(struct steps *s, uint64_t count) {
    return steps_take(s, count +
                             (count < 2 ? 0 : count * (63 - (unsigned)__builtin_clzll(count)) / 4));
}

static inline bool steps_spent(const struct steps *s) {
    return s->max != 0 && s->used > s->max;
}
