/*
 * Keyed hashing (SipHash-1-3). Label values and names come from users, so an unkeyed hash could be
 * flooded. The key is drawn from the kernel once per process. Thread-safe.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t n);

/* 128 bits are enough to store the hash instead of the string. */
struct hash128 {
    uint64_t a, b;
};
struct hash128 hash_bytes128(const void *bytes, size_t n);

static inline bool hash128_equal(struct hash128 x, struct hash128 y) {
    return x.a == y.a && x.b == y.b;
}

static inline uint64_t hash_str(struct str s) {
    return hash_bytes(s.p, s.n);
}

/* Mixes a number into a hash: for keys of several parts. Begin with 0 if the order of the parts
 * matters, because hash_mix(a, b) is hash_mix(b, a). */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

/*
 * A hash of several parts: begin, add the parts, end. This is quicker than hashing each part and
 * mixing the hashes. The border between two strings counts: {"ab", "c"} is not {"a", "bc"}. A
 * string and a number may give the same hash, so all keys of one table must have their numbers at
 * the same places. Then 128 bits of the hash can be stored instead of the parts, even in one table
 * with hashes of single strings.
 */
struct hash_state {
    uint64_t v0, v1, v2, v3;
};
struct hash_state hash_begin(void);
void hash_add(struct hash_state *s, struct str text);
void hash_add_number(struct hash_state *s, uint64_t number);
uint64_t hash_end(struct hash_state s);
struct hash128 hash_end128(struct hash_state s);
/* Hashes two strings: the namespace and the name of an object. */
struct hash128 hash_names128(struct str namespace, struct str name);
