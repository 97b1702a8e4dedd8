/*
 * How much the largest of the last items come to: of a list of numbers >= 0, for each place in it,
 * the sum of the n largest from there on. A bound for whoever chooses n of them in order.
 */
#pragma once

#include "base/arena.h"

struct tops {
    int64_t *rows; /* [.., width] */
    int64_t *largest;
    size_t cells; /* room in rows */
    uint32_t stride, width;
};

/* Room for lists of `count` numbers and sums of `depth` of them, in `cells` cells if need be, but
 * for one row at least. 0 or -ENOMEM. */
int tops_init(struct tops *t, uint32_t count, uint32_t depth, size_t cells,
              struct arena *arena) MUST_CHECK;
/* No more than tops_init() was asked for; depth <= count. Where there is no room, or no time, for
 * all places, the sums of an earlier place stand for those of a later one. Returns what it took, in
 * steps. */
uint64_t tops_build(struct tops *t, const int64_t *values, uint32_t count, uint32_t depth);
/* The sum of the `take` largest from `from` on, or more; saturating. */
static inline int64_t tops_sum(const struct tops *t, uint32_t from, uint32_t take) {
    return t->rows[(size_t)(from / t->stride) * t->width + take];
}
