/*
 * The figures of one turn of a race, and medians over turns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct turn {
    double p50_us, p99_us, max_us, calls_per_s;
};

/* Sorts the times of `count` calls (at least one) and computes their figures. `lasted_ns` is the
 * duration of the turn. */
void turn_measure(int64_t *times_ns, uint32_t count, int64_t lasted_ns, struct turn *ret);

/* Returns the median of one member (a double at this offset) over `count` turns, at least one. */
double turn_median(const struct turn *turns, uint32_t count, size_t field);
/* Returns the median over the turns of the quotient: our p50 divided by their p50. */
double turn_median_ratio(const struct turn *ours, const struct turn *theirs, uint32_t count);
