/*
 * Computes the wait after a failure, before the next try. It doubles with each failure, up to a
 * limit. A random time is added, so that callers that failed together do not come back together.
 */
#pragma once

#include <stdint.h>

struct back_off {
    int64_t first_ms, longest_ms; /* without the random time */
    unsigned jitter_percent;      /* the random time is at most this percentage of the wait */
};

/* Returns the wait in ms after a failure; `failures` is the number of failures before it. `random`
 * is the state for base/random.h; it may be NULL if jitter_percent is 0. */
int64_t back_off_ms(const struct back_off *b, unsigned failures, uint64_t *random);
