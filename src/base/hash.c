#include "base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t key[2];
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void draw_key(void) {
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        abort(); /* at start-up, before any request: the kernel has no randomness to give */
}

static uint64_t rotate(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

struct sip {
    uint64_t v0, v1, v2, v3;
};

static void sip_round(struct sip *s) {
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

static void sip_word(struct sip *s, uint64_t word) {
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

static struct sip absorb(const void *bytes, size_t n, uint64_t tweak) {
    (void)pthread_once(&key_once, draw_key); /* cannot fail with a static once */
    struct sip s = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du ^ tweak,
                    key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    const unsigned char *p = bytes;
    uint64_t last = (uint64_t)n << 56;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        sip_word(&s, word);
    }
    for (size_t i = 0; i < n; i++)
        last |= (uint64_t)p[i] << (8 * i);
    sip_word(&s, last);
    return s;
}

static uint64_t squeeze(struct sip *s) {
    for (int i = 0; i < 3; i++)
        sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

uint64_t hash_bytes(const void *bytes, size_t n) {
    struct sip s = absorb(bytes, n, 0);
    s.v2 ^= 0xff;
    return squeeze(&s);
}

struct hash128 hash_bytes128(const void *bytes, size_t n) {
    struct sip s = absorb(bytes, n, 0xee);
    struct hash128 h;
    s.v2 ^= 0xee;
    h.a = squeeze(&s);
    s.v1 ^= 0xdd;
    h.b = squeeze(&s);
    return h;
}
