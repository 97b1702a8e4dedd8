/*
 * Keyed hashing (SipHash-1-3). Label values and names come from users, so an unkeyed hash could be
 * flooded. The key is drawn from the kernel once per process. Thread-safe.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t n);

/* 128 bits: wide enough to stand for the string itself. */
struct hash128 {
    uint64_t a, b;
};
struct hash128 hash_bytes128(const void *bytes, size_t n);

static inline uint64_t hash_str(struct str s) {
    return hash_bytes(s.p, s.n);
}

/* Folds a number into a hash already made: for keys of several parts. Begin with 0 where the order
 * of the parts matters, because hash_mix(a, b) is hash_mix(b, a). */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}
