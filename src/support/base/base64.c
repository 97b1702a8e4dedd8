#include "base/base64.h"

static int digit_of(char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

bool base64_decode(struct str text, struct arena *arena, struct str *ret) {
    char *out = arena_alloc(arena, text.n / 4 * 3 + 3);
    uint32_t bits = 0;
    size_t n = 0, characters = 0, padding = 0;
    if (out == NULL)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        int digit = digit_of(c);
        if (c == '\n' || c == '\r')
            continue;
        if (c == '=' ? ++padding > 2 : digit < 0 || padding > 0)
            return false;
        bits = bits << 6 | (c == '=' ? 0 : (uint32_t)digit);
        if (++characters % 4 != 0)
            continue;
        out[n++] = (char)(bits >> 16);
        out[n++] = (char)(bits >> 8);
        out[n++] = (char)bits;
    }
    if (characters % 4 != 0)
        return false;
    *ret = (struct str){out, n - padding};
    return true;
}

void base64_append(struct strbuf *out, struct str bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < bytes.n ? (unsigned char)bytes.p[i + k] : 0);
        const char four[] = {digits[bits >> 18], digits[bits >> 12 & 63],
                             i + 1 < bytes.n ? digits[bits >> 6 & 63] : '=',
                             i + 2 < bytes.n ? digits[bits & 63] : '='};
        strbuf_append(out, four, sizeof four);
    }
}
