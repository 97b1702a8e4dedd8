#include "base/json_writer.h"

#include "base/plain_run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes a bracket, after a comma if an item comes before it. */
static void open(struct json_writer *w, char bracket) {
    char *to = strbuf_reserve(w->out, 1 + (size_t)w->comma);
    if (to != NULL) {
        *to = ',';
        to[w->comma] = bracket;
        w->out->n += 1 + (size_t)w->comma;
    }
    w->comma = false;
}

static void close_with(struct json_writer *w, char bracket) {
    char *to = strbuf_reserve(w->out, 1);
    if (to != NULL) {
        *to = bracket;
        w->out->n++;
    }
    w->comma = true;
}

static void separate(struct json_writer *w) {
    if (w->comma)
        strbuf_append_char(w->out, ',');
    w->comma = true;
}

void json_begin_object(struct json_writer *w) {
    open(w, '{');
}

void json_end_object(struct json_writer *w) {
    close_with(w, '}');
}

void json_begin_array(struct json_writer *w) {
    open(w, '[');
}

void json_end_array(struct json_writer *w) {
    close_with(w, ']');
}

static bool is_special(unsigned char c) {
    return c < 0x20 || c == '"' || c == '\\';
}

/* Strings are checked 16 bytes at a time. The last step overlaps the one before: reading some bytes
 * again costs less than an extra loop for the last bytes of every string. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

static bytes16 special_of(const char *p) {
    bytes16 v;
    memcpy(&v, p, sizeof v);
    return (bytes16)((v < 0x20) | (v == '"') | (v == '\\'));
}

static bool any_escape(struct str s) {
    bool found = false;
    if (s.n < sizeof(bytes16)) {
        for (size_t i = 0; i < s.n; i++)
            found |= is_special((unsigned char)s.p[i]);
        return found;
    }
    bytes16 special = special_of(s.p + s.n - sizeof special);
    for (size_t i = 0; i + sizeof special < s.n; i += sizeof special)
        special |= special_of(s.p + i);
    uint64_t halves[2];
    memcpy(halves, &special, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

static void append_escape(struct strbuf *out, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    if (c < 0x20)
        strbuf_append(out, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    else
        strbuf_append(out, (char[]){'\\', (char)c}, 2);
}

static void append_with_escapes(struct strbuf *out, struct str s) {
    const char *end = s.p + s.n;
    for (const char *p = s.p; p < end;) {
        const char *plain = plain_run(p, end);
        strbuf_append(out, p, (size_t)(plain - p));
        for (p = plain; p < end && !plain_byte(*p); p++)
            if (is_special((unsigned char)*p))
                append_escape(out, (unsigned char)*p);
            else
                strbuf_append_char(out, *p);
    }
}

/* Writes [,]"s"[:]. */
static void quoted(struct json_writer *w, struct str s, bool is_key) {
    if (any_escape(s)) {
        separate(w);
        strbuf_append_char(w->out, '"');
        append_with_escapes(w->out, s);
        strbuf_append(w->out, "\":", 1 + (size_t)is_key);
        return;
    }
    size_t n = s.n + 2 + (size_t)w->comma + (size_t)is_key;
    char *to = strbuf_reserve(w->out, n);
    if (to == NULL)
        return;
    if (w->comma)
        *to++ = ',';
    *to++ = '"';
    if (s.n > 0)
        memcpy(to, s.p, s.n);
    to[s.n] = '"';
    if (is_key)
        to[s.n + 1] = ':';
    w->out->n += n;
}

void json_key(struct json_writer *w, struct str key) {
    quoted(w, key, true);
    w->comma = false;
}

void json_put_string(struct json_writer *w, struct str s) {
    quoted(w, s, false);
    w->comma = true;
}

/* Returns the number of bytes at the beginning that are well-formed UTF-8. */
static size_t well_formed(struct str s) {
    size_t n = 0;
    while (n < s.n) {
        n = (size_t)(plain_run(s.p + n, s.p + s.n) - s.p);
        if (n == s.n)
            break;
        size_t length =
            (unsigned char)s.p[n] < 0x80 ? 1 : str_utf8_length((struct str){s.p + n, s.n - n});
        if (length == 0)
            break;
        n += length;
    }
    return n;
}

void json_put_text(struct json_writer *w, struct str s) {
    struct strbuf whole = {0};
    size_t n = well_formed(s);
    if (n == s.n) {
        json_put_string(w, s);
        return;
    }
    for (; n < s.n; n = well_formed(s)) {
        strbuf_append(&whole, s.p, n);
        strbuf_append_str(&whole, STR("\xef\xbf\xbd"));
        s = (struct str){s.p + n + 1, s.n - n - 1};
    }
    strbuf_append_str(&whole, s);
    json_put_string(w, strbuf_str(&whole));
    w->out->failed |= strbuf_failed(&whole);
    w->out->no_memory |= whole.no_memory;
    strbuf_done(&whole);
}

void json_put_integer(struct json_writer *w, int64_t value) {
    char digits[24], *first = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *--first = '-';
    if (w->comma)
        *--first = ',';
    strbuf_append(w->out, first, (size_t)(digits + sizeof digits - first));
    w->comma = true;
}

void json_put_number(struct json_writer *w, double value) {
    enum { EXACT = 17 }; /* significant digits that name any double */
    char text[40];
    int digits = 15;
    assert(isfinite(value));
    do
        (void)snprintf(text, sizeof text, "%.*g", digits, value); /* fits */
    while (digits++ < EXACT && strtod(text, NULL) != value);
    json_put_raw(w, str_of(text));
}

void json_put_bool(struct json_writer *w, bool value) {
    json_put_raw(w, value ? STR("true") : STR("false"));
}

void json_put_null(struct json_writer *w) {
    json_put_raw(w, STR("null"));
}

void json_put_raw(struct json_writer *w, struct str json) {
    separate(w);
    strbuf_append_str(w->out, json);
}
