#include "base/json_writer.h"

/* Room for n more bytes. That they are there already is the usual case, and decided here. */
static inline char *room(struct strbuf *b, size_t n) {
    return !b->failed && b->cap - b->n >= n ? b->p + b->n : strbuf_reserve(b, n);
}

/* A bracket and, in front of it, the comma that separates it from what stands before. */
static void open(struct json_writer *w, char bracket) {
    char *to = room(w->out, 1 + (size_t)w->comma);
    if (to != NULL) {
        *to = ',';
        to[w->comma] = bracket;
        w->out->n += 1 + (size_t)w->comma;
    }
    w->comma = false;
}

static void close_with(struct json_writer *w, char bracket) {
    char *to = room(w->out, 1);
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

/* Is a quote, a backslash or a control character among these eight bytes? */
static bool any_special(uint64_t w) {
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t quote = w ^ (ones * '"'), backslash = w ^ (ones * '\\');
    return ((((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) |
             ((backslash - ones) & ~backslash)) &
            high) != 0;
}

static uint64_t load8(const char *p) {
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* 4 to 7 bytes, some of them twice. */
static uint64_t load_short(struct str s) {
    uint32_t first, last;
    memcpy(&first, s.p, sizeof first);
    memcpy(&last, s.p + s.n - 4, sizeof last);
    return (uint64_t)first << 32 | last;
}

static bool any_escape(struct str s) {
    bool found = false;
    if (s.n < 4) {
        for (size_t i = 0; i < s.n; i++)
            found |= (unsigned char)s.p[i] < 0x20 || s.p[i] == '"' || s.p[i] == '\\';
        return found;
    }
    if (s.n < 8)
        return any_special(load_short(s));
    for (size_t i = 0; i + 8 < s.n; i += 8)
        found |= any_special(load8(s.p + i)); /* no early exit: hardly ever is there one */
    return found || any_special(load8(s.p + s.n - 8));
}

static void append_with_escapes(struct strbuf *out, struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            strbuf_appendf(out, "\\%c", c);
        else if (c < 0x20)
            strbuf_appendf(out, "\\u%04x", c);
        else
            strbuf_append_char(out, (char)c);
    }
}

/* [,]"s"[:] */
static void quoted(struct json_writer *w, struct str s, bool is_key) {
    if (any_escape(s)) {
        separate(w);
        strbuf_append_char(w->out, '"');
        append_with_escapes(w->out, s);
        strbuf_append(w->out, "\":", 1 + (size_t)is_key);
        return;
    }
    size_t n = s.n + 2 + (size_t)w->comma + (size_t)is_key;
    char *to = room(w->out, n);
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
