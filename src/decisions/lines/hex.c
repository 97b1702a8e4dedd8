#include "lines/hex.h"

/* Returns -1 if the character is no digit. */
static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

struct str hex_decode(struct json_reader *r) {
    if (json_null(r))
        return (struct str){0};
    const struct str text = json_string(r);
    char *bytes = arena_alloc(r->arena, text.n / 2);
    if (bytes == NULL || json_failed(r))
        return (struct str){0}; /* the arena or the reader has failed */
    if (text.n % 2 != 0) {
        json_fail(r, "an odd number of hex digits");
        return (struct str){0};
    }
    for (size_t i = 0; i < text.n; i += 2) {
        const int high = digit_value(text.p[i]), low = digit_value(text.p[i + 1]);
        if (high < 0 || low < 0) {
            json_fail(r, "expected hex digits, found '%c%c'", text.p[i], text.p[i + 1]);
            return (struct str){0};
        }
        bytes[i / 2] = (char)(high * 16 + low);
    }
    return (struct str){bytes, text.n / 2};
}

void hex_append(struct str bytes, struct strbuf *out) {
    for (size_t i = 0; i < bytes.n; i++)
        strbuf_appendf(out, "%02x", (unsigned char)bytes.p[i]);
}
