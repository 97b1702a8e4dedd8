/* Bytes written in hex, the form of the recorded messages. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdio.h>

#include "unit/unit.h"

/* Appends the bytes that the digits mean; any other character fails the test. */
static inline void hex_append(const char *hex, struct strbuf *out) {
    static const char digits[] = "0123456789abcdef";
    for (; *hex != '\0'; hex += 2) {
        const char *high = strchr(digits, hex[0]),
                   *low = hex[1] == '\0' ? NULL : strchr(digits, hex[1]);
        assert_true(high != NULL && low != NULL);
        strbuf_append_char(out, (char)((high - digits) << 4 | (low - digits)));
    }
}

/* ---- messages, put together field by field: hex that is valid until the next test ---- */

/* The memory of these messages; call hex_reset() before each test. */
struct hex_pool {
    char text[1 << 16];
    size_t used;
};
extern struct hex_pool hex_pool;

static inline void hex_reset(void) {
    hex_pool.used = 0;
}

static inline const char *hex_printf(const char *format, ...) PRINTF_LIKE(1, 2);
static inline const char *hex_printf(const char *format, ...) {
    char *at = hex_pool.text + hex_pool.used;
    const size_t room = sizeof hex_pool.text - hex_pool.used;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(at, room, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < room);
    hex_pool.used += (size_t)n + 1;
    return at;
}

static inline const char *hex_varint(uint64_t value) {
    const char *hex = "";
    for (; value >= 0x80; value >>= 7)
        hex = hex_printf("%s%02x", hex, (unsigned)(value & 0x7f) | 0x80);
    return hex_printf("%s%02x", hex, (unsigned)value);
}

/* Return a field with bytes, with a text, or with a number. */
static inline const char *hex_field(unsigned number, const char *inner) {
    return hex_printf("%s%s%s", hex_varint(number << 3 | 2), hex_varint(strlen(inner) / 2), inner);
}

static inline const char *hex_text(unsigned number, const char *text) {
    const char *inner = "";
    for (; *text != '\0'; text++)
        inner = hex_printf("%s%02x", inner, (unsigned char)*text);
    return hex_field(number, inner);
}

static inline const char *hex_number(unsigned number, int64_t value) {
    return hex_printf("%s%s", hex_varint(number << 3), hex_varint((uint64_t)value));
}

/* Return an entry of a map from text to text, or from text to Quantity. */
static inline const char *hex_entry(unsigned number, const char *key, const char *value) {
    return hex_field(number, hex_printf("%s%s", hex_text(1, key), hex_text(2, value)));
}

static inline const char *hex_request(unsigned number, const char *name, const char *amount) {
    return hex_field(number,
                     hex_printf("%s%s", hex_text(1, name), hex_field(2, hex_text(1, amount))));
}

#define assert_hex(got, want) unit_assert_hex((got), (want), __FILE__, __LINE__)
static inline void unit_assert_hex(struct str got, const char *want, const char *file, int line) {
    CLEANUP(strbuf_done) struct strbuf hex = {0};
    for (size_t i = 0; i < got.n; i++)
        strbuf_appendf(&hex, "%02x", (unsigned char)got.p[i]);
    unit_assert_str(strbuf_str(&hex), want, file, line);
}
