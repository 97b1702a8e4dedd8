#include "ocm/score_range.h"

#include <errno.h>
#include <math.h>

int score_normalise(double value, double min, double max, int32_t *ret, struct err *err) {
    if (min >= max)
        return err_set(err, -EINVAL, "min %g is not below max %g", min, max);
    if (!isfinite(max - min))
        return err_set(err, -EINVAL, "min %g and max %g are too far apart", min, max);
    const double inside = value < min ? min : value > max ? max : value;
    *ret = (int32_t)round(-100 + 200 * ((inside - min) / (max - min)));
    return 0;
}

void score_range_observe(struct score_range *range, const double *values, uint32_t count) {
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (fabs(values[i]) > SCORE_VALUE_MAX)
            continue;
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    if (least > most)
        return;
    if (!range->known) {
        *range = (struct score_range){true, least, most};
        return;
    }
    const double low = range->low, high = range->high;
    if (most > high)
        range->high = most + (most - low) / 10;
    if (least < low)
        range->low = least - (high - least) / 10;
}
