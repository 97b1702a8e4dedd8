#include "base/back_off.h"

#include "base/random.h"

#include <stddef.h>

int64_t back_off_ms(const struct back_off *b, unsigned failures, uint64_t *random) {
    int64_t wait_ms = b->first_ms;
    for (unsigned i = 0; i < failures && wait_ms < b->longest_ms; i++)
        wait_ms *= 2;
    if (wait_ms > b->longest_ms)
        wait_ms = b->longest_ms;
    if (random == NULL)
        return wait_ms;
    const int64_t most_ms = wait_ms * b->jitter_percent / 100;
    return wait_ms + (int64_t)random_below(random, (uint64_t)most_ms + 1);
}
