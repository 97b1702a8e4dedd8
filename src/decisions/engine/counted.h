/*
 * Walks the nodes that have pods of a counter. Most nodes have no pods of a workload, and a
 * processor cannot predict which nodes have some. So 64 nodes become one mask, and the walk reads
 * its bits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns a mask of 64 counts: a bit is set where the count is not 0. For any processor. */
static inline uint64_t counted_one_by_one(const uint32_t *counts) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i++)
        mask |= (uint64_t)(counts[i] != 0) << i;
    return mask;
}

#ifdef __SSE2__
static inline uint64_t counted_zeros_of_16(const uint32_t *counts) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i_u *at = (const __m128i_u *)counts;
    const __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(at), zero),
                                        _mm_cmpeq_epi32(_mm_loadu_si128(at + 1), zero));
    const __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(at + 2), zero),
                                         _mm_cmpeq_epi32(_mm_loadu_si128(at + 3), zero));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}
#endif

/* Returns the same mask, as fast as this processor can. */
static inline uint64_t counted_of_64(const uint32_t *counts) {
#ifdef __SSE2__
    return ~(counted_zeros_of_16(counts) | counted_zeros_of_16(counts + 16) << 16 |
             counted_zeros_of_16(counts + 32) << 32 | counted_zeros_of_16(counts + 48) << 48);
#else
    return counted_one_by_one(counts);
#endif
}

/* A walk over the slots with a count: begin with {.counts = counts, .slots = slots}. */
struct counted {
    const uint32_t *counts; /* [slots] */
    uint32_t slots;
    uint32_t end;  /* slots below this one have been read */
    uint64_t mask; /* the slots among the last 64 that are still to be returned */
};

/* Returns the next slot, in order, or false at the end. */
static inline bool counted_next(struct counted *c, uint32_t *ret_slot) {
    while (c->mask == 0) {
        if (c->end >= c->slots)
            return false;
        if (c->slots - c->end >= 64)
            c->mask = counted_of_64(c->counts + c->end);
        else
            for (uint32_t slot = c->end; slot < c->slots; slot++)
                c->mask |= (uint64_t)(c->counts[slot] != 0) << (slot - c->end);
        c->end += 64;
    }
    *ret_slot = c->end - 64 + (uint32_t)__builtin_ctzll(c->mask);
    c->mask &= c->mask - 1;
    return true;
}
