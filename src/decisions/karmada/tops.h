/*
 * For each place in a list of numbers >= 0: the sums of the n largest numbers from there to the
 * end. They are bounds for a search that chooses n numbers in order.
 */
#pragma once

#include "base/arena.h"

struct tops {
    int64_t *rows; /* [.., width] */
    int64_t *largest;
    size_t cells; /* size of `rows` */
    uint32_t stride, width;
};

/* Makes room for lists of `count` numbers and sums of `depth` of them, in at most `cells` cells,
 * but always for one row. Returns 0 or -ENOMEM. */
int tops_init(struct tops *t, uint32_t count, uint32_t depth, size_t cells,
              struct arena *arena) MUST_CHECK;
/* Sums a list, not longer or deeper than in tops_init(); depth <= count. Without room or time for
 * all places, the sums of an earlier place are used for a later one. Returns the steps that it
 * took. */
uint64_t tops_build(struct tops *t, const int64_t *values, uint32_t count, uint32_t depth);
/* Returns the sum of the `take` largest from `from` on, or more; saturating. */
static inline int64_t tops_sum(const struct tops *t, uint32_t from, uint32_t take) {
    return t->rows[(size_t)(from / t->stride) * t->width + take];
}
