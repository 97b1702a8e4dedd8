/*
 * A budget of work, checked inside loops over what a user writes: whoever does the work counts its
 * steps, and stops when there are none left. A limit that is compared afterwards limits nothing. A
 * step is a comparison, a look at one item of a list, or 16 bytes that are read or written.
 * Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct steps {
    uint64_t used;
    uint64_t max; /* 0: no limit */
};

/* What a user's text costs: steps each time it is matched, bytes for as long as a copy is kept. */
struct cost {
    uint64_t steps, bytes;
};

/* Counts some more. False: the budget is spent; what has been worked out so far must not be used.
 */
static inline bool steps_take(struct steps *s, uint64_t count) {
    s->used += count;
    return s->max == 0 || s->used <= s->max;
}

/* The same for reading or writing so many bytes, and for sorting so many items, whose comparisons
 * are quick: four are a step. */
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
