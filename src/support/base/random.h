/*
 * Pseudo-random numbers for jitter, with a seed, so that a test can repeat a run. Not for secrets.
 */
#pragma once

#include <stdint.h>

/* Returns the next number, and changes `state`; any value is a valid seed. upstream: splitmix64. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns a number in [0, n); n > 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n) {
    return random_next(state) % n;
}
