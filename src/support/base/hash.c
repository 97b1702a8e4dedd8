#include "base/hash.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t key[2];
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void draw_key(void) {
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        abort(); /* the kernel has no random bytes; this happens at start-up, before any request */
}

static inline uint64_t rotate(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct hash_state *s) {
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static inline void sip_word(struct hash_state *s, uint64_t word) {
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* Reads fewer than eight bytes as a little-endian number; reads overlap instead of looping. */
static inline uint64_t few_bytes(const unsigned char *p, size_t n) {
    if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        return le32toh(low) | (uint64_t)le32toh(high) << (8 * (n - 4));
    }
    if (n == 0)
        return 0;
    return p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}

static inline uint64_t word_at(const unsigned char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return le64toh(word);
}

static inline struct hash_state begin(uint64_t tweak) {
    (void)pthread_once(&key_once, draw_key); /* cannot fail with a static once */
    return (struct hash_state){key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du ^ tweak,
                               key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
}

static inline struct hash_state absorb(const void *bytes, size_t n, uint64_t tweak) {
    struct hash_state s = begin(tweak);
    const unsigned char *p = bytes;
    const uint64_t length = (uint64_t)n << 56;
    for (; n >= 8; n -= 8, p += 8)
        sip_word(&s, word_at(p));
    sip_word(&s, length | few_bytes(p, n));
    return s;
}

static inline uint64_t squeeze(struct hash_state *s) {
    for (int i = 0; i < 3; i++)
        sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline uint64_t end(struct hash_state s) {
    s.v2 ^= 0xff;
    return squeeze(&s);
}

static inline struct hash128 end128(struct hash_state s) {
    struct hash128 h;
    s.v2 ^= 0xee;
    h.a = squeeze(&s);
    s.v1 ^= 0xdd;
    h.b = squeeze(&s);
    return h;
}

uint64_t hash_bytes(const void *bytes, size_t n) {
    return end(absorb(bytes, n, 0));
}

struct hash128 hash_bytes128(const void *bytes, size_t n) {
    return end128(absorb(bytes, n, 0xee));
}

/* ---- hashes of several parts ---- */

struct hash_state hash_begin(void) {
    return begin(0x11); /* hash_bytes() starts from another state */
}

/* The first word has the number of bytes, so no string is the beginning of another: its highest
 * byte is the length of a short string, or 0xff. */
void hash_add(struct hash_state *s, struct str text) {
    const uint64_t long_one = (uint64_t)0xff << 56;
    const unsigned char *p = (const unsigned char *)text.p;
    size_t n = text.n;
    if (n < 8) {
        sip_word(s, (uint64_t)n << 56 | few_bytes(p, n));
        return;
    }
    sip_word(s, long_one | n);
    for (; n >= 8; n -= 8, p += 8)
        sip_word(s, word_at(p));
    if (n > 0)
        sip_word(s, few_bytes(p, n));
}

void hash_add_number(struct hash_state *s, uint64_t number) {
    sip_word(s, number);
}

uint64_t hash_end(struct hash_state s) {
    return end(s);
}

struct hash128 hash_end128(struct hash_state s) {
    return end128(s);
}

struct hash128 hash_names128(struct str namespace, struct str name) {
    struct hash_state hash = hash_begin();
    hash_add(&hash, namespace);
    hash_add(&hash, name);
    return hash_end128(hash);
}
