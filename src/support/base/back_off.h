/*
 * How long to wait before something that has failed is tried again: twice as long after each
 * failure, up to a limit, and longer at random, so that those that failed together do not come back
 * together.
 */
#pragma once

#include <stdint.h>

struct back_off {
    int64_t first_ms, longest_ms; /* before what is added at random */
    unsigned jitter_percent;      /* by which it is longer at most */
};

/* The wait when there have been so many failures before this one. `random` is the state of
 * base/random.h; NULL with a jitter of 0. */
int64_t back_off_ms(const struct back_off *b, unsigned failures, uint64_t *random);
