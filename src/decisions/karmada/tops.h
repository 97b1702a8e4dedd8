/*
 * Keeps, for each place in a list of numbers >= 0, the sum of the n largest numbers from there to
 * the end, for each n. The sums are bounds for a search that chooses n numbers in order.
 */
#pragma once

#include "base/arena.h"

struct tops {
    int64_t *rows; /* [][width]: one row of sums for every `stride` places */
    int64_t *largest;
    size_t cells; /* size of `rows` */
    uint32_t stride, width;
};

/* Makes room for lists of `count` numbers and sums of up to `depth` numbers. Takes at most `cells`
 * cells, but always enough for one row. Returns 0 or -ENOMEM. */
int tops_init(struct tops *t, uint32_t count, uint32_t depth, size_t cells,
              struct arena *arena) MUST_CHECK;
/* Makes the sums of a list. The list is not longer, and `depth` not larger, than in tops_init();
 * depth <= count. Without room or time for all places, the sums of an earlier place are used for a
 * later place. Returns the number of steps. */
uint64_t tops_build(struct tops *t, const int64_t *values, uint32_t count, uint32_t depth);
/* Returns the sum of the `take` largest numbers from place `from` on, or more; saturating. */
static inline int64_t tops_sum(const struct tops *t, uint32_t from, uint32_t take) {
    return t->rows[(size_t)(from / t->stride) * t->width + take];
}
