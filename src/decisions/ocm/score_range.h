/*
 * Converts raw values to scores of AddOnPlacementScores, -100 to 100, by a range. The range is
 * given, or is observed and kept, so that a value that moves inside the range does not change the
 * scores of other values. Pure and thread-safe.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Observed values with a larger absolute value are ignored. */
#define SCORE_VALUE_MAX 1e15

struct score_range {
    bool known; /* false: nothing has been observed yet */
    double low, high;
};

/*
 * Sets *ret to -100 if `value` is at `min` or below, to 100 if it is at `max` or above, and in
 * proportion between them; rounded half away from zero. The arguments are finite. Returns 0, or
 * -EINVAL if `min` is not below `max`, or if their distance is not finite.
 */
int score_normalise(double value, double min, double max, int32_t *ret, struct err *err) MUST_CHECK;

/*
 * Does one round of observation. `values` are the finite values of all known clusters. The first
 * values make the range. Later the range grows to a value outside, plus a tenth of the new width;
 * it never shrinks. Without values nothing changes.
 */
void score_range_observe(struct score_range *range, const double *values, uint32_t count);
