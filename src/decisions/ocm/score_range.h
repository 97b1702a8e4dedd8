/*
 * Raw values as scores of AddOnPlacementScores, -100 to 100, by a range: one that is given, or one
 * that is observed and kept, so that a value which moves inside it changes nobody else's score.
 * Values; no memory: thread-safe.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* An observed value of a larger size is ignored. */
#define SCORE_VALUE_MAX 1e15

struct score_range {
    bool known; /* false: nothing has been observed yet */
    double low, high;
};

/*
 * -100 at `min` or below, 100 at `max` or above, in proportion between them; rounded half away from
 * zero. All are finite. -EINVAL: min is not below max, or their distance is not finite.
 */
int score_normalise(double value, double min, double max, int32_t *ret, struct err *err) MUST_CHECK;

/*
 * One round of observation: `values` are those of all clusters that are known, all finite. The
 * first values are the range; later it grows to a value outside, and by a tenth of its new width
 * more, and never shrinks. No values change nothing.
 */
void score_range_observe(struct score_range *range, const double *values, uint32_t count);
