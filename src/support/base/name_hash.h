/*
 * A keyed universal hash for the names of nodes: short strings that are looked up in thousands. It
 * takes a sixth of SipHash's instructions. The key is drawn from the kernel once per process.
 * Thread-safe.
 *
 * The string is read as 64-bit words. NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, 1999)
 * adds up the products of pairs of words, each masked with a word of the key, modulo 2^128. The
 * first pair is the length, so strings of different lengths are different messages. The sum is
 * multiplied by an odd 128-bit key, modulo 2^128 too, so that its highest bits depend on all
 * others.
 *
 * Collisions: two strings that were chosen without the key have the same sum with a probability of
 * at most 2^-64. Different sums agree in their highest 96 bits, which a name table keeps, with at
 * most 2^-95 (Dietzfelbinger and others, 1997). So among 10,000 known names and a million unknown
 * ones, the probability of a collision is below 2^-30. Nobody can choose strings after seeing
 * hashes: no answer shows one.
 *
 * A universal hash is no pseudo-random function: use hash.h for text that users choose freely.
 */
#pragma once

#include "base/hash.h"

enum {
    NAME_HASH_BLOCK = 16, /* bytes: a pair of words */
    NAME_HASH_BYTES = 256 /* names of nodes have at most 253; SipHash hashes longer strings */
};

struct name_hash_key {
    uint64_t masks[2 + NAME_HASH_BYTES / 8];
    uint64_t factor_low, factor_high; /* low is odd */
};

/* The process's key. It never changes. */
const struct name_hash_key *name_hash_key(void);

__extension__ typedef unsigned __int128 name_hash_sum;

static inline uint64_t name_hash_word(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static inline name_hash_sum name_hash_pair(const uint64_t *masks, uint64_t a, uint64_t b) {
    return (name_hash_sum)(a + masks[0]) * (b + masks[1]);
}

/* Reads up to 16 bytes as two words, which may share bytes; with the length, no two strings give
 * the same words. */
static inline name_hash_sum name_hash_short(const uint64_t *masks, struct str s) {
    uint64_t a = 0, b = 0;
    if (s.n >= 8) {
        a = name_hash_word(s.p);
        b = name_hash_word(s.p + s.n - 8);
    } else {
        for (size_t i = 0; i < s.n; i++)
            a = a << 8 | (unsigned char)s.p[i];
    }
    return name_hash_pair(masks, a, b);
}

/* Reads blocks of 16 bytes; the last one may overlap the one before. */
static inline name_hash_sum name_hash_long(const uint64_t *masks, struct str s) {
    const char *last = s.p + s.n - NAME_HASH_BLOCK;
    name_hash_sum sum = 0;
    for (const char *p = s.p; p < last; p += NAME_HASH_BLOCK, masks += 2)
        sum += name_hash_pair(masks, name_hash_word(p), name_hash_word(p + 8));
    return sum + name_hash_pair(masks, name_hash_word(last), name_hash_word(last + 8));
}

/* Returns 128 bits. A user that keeps fewer bits should drop the low half of `b` last. */
static inline struct hash128 name_hash(const struct name_hash_key *key, struct str s) {
    if (s.n > NAME_HASH_BYTES)
        return hash_bytes128(s.p, s.n);
    name_hash_sum sum = name_hash_pair(key->masks, s.n, 0);
    sum += s.n > NAME_HASH_BLOCK ? name_hash_long(key->masks + 2, s)
                                 : name_hash_short(key->masks + 2, s);
    sum *= (name_hash_sum)key->factor_high << 64 | key->factor_low;
    uint64_t a = (uint64_t)(sum >> 64), b = (uint64_t)sum;
    /* one to one, so no information is lost; the low bits, with which a table begins its search,
     * now depend on the high bits */
    a = (a ^ a >> 32) * 0x9e3779b97f4a7c15u;
    return (struct hash128){a ^ a >> 29, b >> 32 | b << 32};
}
