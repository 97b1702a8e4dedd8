/*
 * Finds the end of a run of plain bytes in a JSON string: printable ASCII except quote and
 * backslash. Nearly every string is one such run, and finding its end takes most of the time to
 * read a cluster's state. It reads 16 bytes at a time if the processor has SSE2, otherwise 8.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#define REST __attribute__((noinline)) /* only the text's last bytes */
#else
#define REST inline
#endif

static inline bool plain_byte(char c) {
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Returns the first byte of p[0..end) that is not plain, or `end`; for any processor. The lowest
 * flagged byte is always right: a borrow can only flag bytes above it. */
static REST const char *plain_run_by_words(const char *p, const char *end) {
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    for (; end - p >= 8; p += 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        w = le64toh(w);
        uint64_t quote = w ^ (ones * '"'), backslash = w ^ (ones * '\\');
        uint64_t special = (((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) |
                            ((backslash - ones) & ~backslash) | w) &
                           high;
        if (special != 0)
            return p + __builtin_ctzll(special) / 8;
    }
    while (p < end && plain_byte(*p))
        p++;
    return p;
}

/* The same as plain_run_by_words(), as fast as this processor can. */
static inline const char *plain_run(const char *p, const char *end) {
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i_u *)p);
        /* Bytes are signed here: those from 0x80 on are also below a blank. */
        __m128i special = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(' ')),
                                       _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                                    _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
        unsigned bits = (unsigned)_mm_movemask_epi8(special);
        if (bits != 0)
            return p + (unsigned)__builtin_ctz(bits);
    }
#endif
    return plain_run_by_words(p, end);
}
