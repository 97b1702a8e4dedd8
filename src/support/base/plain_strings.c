#include "base/plain_strings.h"

#ifdef __SSE2__

#include <emmintrin.h>

enum {
    BLOCK = 64,
    BEHIND = 2, /* bytes read behind a closing quote */
};

/* One bit for each byte of a block. */
struct marks {
    uint64_t quotes;
    uint64_t odd; /* control characters, backslashes, and all bytes beyond ASCII */
};

static uint64_t bits_of(__m128i a, __m128i b, __m128i c, __m128i d) {
    return (uint64_t)(uint32_t)_mm_movemask_epi8(a) |
           (uint64_t)(uint32_t)_mm_movemask_epi8(b) << 16 |
           (uint64_t)(uint32_t)_mm_movemask_epi8(c) << 32 |
           (uint64_t)(uint32_t)_mm_movemask_epi8(d) << 48;
}

static __m128i quotes_of(__m128i v) {
    return _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
}

/* Bytes are signed here: those from 0x80 on are also below a blank. */
static __m128i odd_of(__m128i v) {
    return _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(' ')),
                        _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
}

/* Unrolled by hand, because compilers keep a loop of four. */
static inline struct marks marks_of(const char *block) {
    const __m128i_u *p = (const __m128i_u *)block;
    __m128i a = _mm_loadu_si128(p), b = _mm_loadu_si128(p + 1), c = _mm_loadu_si128(p + 2),
            d = _mm_loadu_si128(p + 3);
    return (struct marks){bits_of(quotes_of(a), quotes_of(b), quotes_of(c), quotes_of(d)),
                          bits_of(odd_of(a), odd_of(b), odd_of(c), odd_of(d))};
}

uint32_t plain_strings(const char *p, const char *end, struct str *ret, uint32_t room,
                       const char **ret_after) {
    const char *string = p + 1;
    uint32_t count = 0;
    bool opens = false; /* the quote that opens the first string is in the block before */
    *ret_after = p;
    for (const char *block = string; end - block >= BLOCK + BEHIND; block += BLOCK) {
        struct marks m = marks_of(block);
        uint64_t quotes = opens ? m.quotes & (m.quotes - 1) : m.quotes;
        if (m.odd != 0)
            quotes &= (m.odd & -m.odd) - 1; /* quotes before the first odd byte */
        opens = false;
        for (; quotes != 0; quotes &= quotes - 1) {
            const char *close = block + __builtin_ctzll(quotes);
            if (count == room)
                return count;
            ret[count++] = (struct str){string, (size_t)(close - string)};
            *ret_after = close + 1;
            if (close[1] != ',' || close[2] != '"')
                return count;
            string = close + 1 + BEHIND;
            quotes &= quotes - 1;
            opens = quotes == 0; /* the quote that opens the next string is in the next block */
        }
        if (m.odd != 0)
            return count;
    }
    return count;
}

#else

uint32_t plain_strings(const char *p, const char *end, struct str *ret, uint32_t room,
                       const char **ret_after) {
    (void)end;
    (void)ret;
    (void)room;
    *ret_after = p;
    return 0;
}

#endif
