#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int str_cmp(struct str a, struct str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.p, b.p, n);
    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_eq_nocase(struct str a, struct str b) {
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

bool str_has_prefix(struct str s, struct str prefix) {
    return s.n >= prefix.n && str_eq((struct str){s.p, prefix.n}, prefix);
}

bool str_has_suffix(struct str s, struct str suffix) {
    return suffix.n == 0 ||
           (s.n >= suffix.n && memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

size_t str_find(struct str s, char c) {
    const char *at = s.n == 0 ? NULL : memchr(s.p, c, s.n);
    return at == NULL ? SIZE_MAX : (size_t)(at - s.p);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str s) {
    while (s.n > 0 && is_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

size_t str_utf8_length(struct str s) {
    const unsigned char *p = (const unsigned char *)s.p;
    unsigned char lead = s.n > 0 ? p[0] : 0;
    size_t n = lead >= 0xc2 && lead <= 0xdf   ? 2
               : (lead & 0xf0) == 0xe0        ? 3
               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                              : 0;
    if (n == 0 || n > s.n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] > 0x9f) ||
        (lead == 0xf0 && p[1] < 0x90) || (lead == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

struct str str_cut(struct str s, size_t max) {
    enum { LONGEST = 4 };
    if (s.n <= max)
        return s;
    size_t end = max;
    while (end > 0 && max - end < LONGEST - 1 && ((unsigned char)s.p[end] & 0xc0) == 0x80)
        end--;
    struct str left = {s.p + end, s.n - end};
    return (struct str){s.p, end + str_utf8_length(left) > max ? end : max};
}

char *str_dup(struct str s) {
    char *copy = malloc(s.n + 1);
    if (copy == NULL)
        return NULL;
    if (s.n > 0)
        memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    return copy;
}

bool str_to_i64(struct str s, int64_t *ret_value) {
    bool negative = s.n > 0 && s.p[0] == '-';
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    if (i == s.n)
        return false;
    int64_t value = 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        int digit = s.p[i] - '0';
        /* accumulate towards the sign, so that INT64_MIN parses */
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *ret_value = value;
    return true;
}

char *strbuf_grow(struct strbuf *b, size_t n) {
    size_t max = b->max != 0 ? b->max : SIZE_MAX / 2;
    if (b->failed || n > max || b->n > max - n) {
        b->failed = true;
        return NULL;
    }
    size_t need = b->n + n;
    if (need > b->cap) {
        size_t cap = b->cap < 64 ? 64 : b->cap;
        while (cap < need)
            cap *= 2;
        if (cap > max)
            cap = max;
        char *p = realloc(b->p, cap);
        if (p == NULL) {
            b->failed = b->no_memory = true;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void strbuf_appendf(struct strbuf *b, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *to = n < 0 ? NULL : strbuf_reserve(b, (size_t)n + 1);
    if (to != NULL) {
        (void)vsnprintf(to, (size_t)n + 1, fmt, again); /* sized above */
        b->n += (size_t)n;
    }
    va_end(again);
}

void strbuf_done(struct strbuf *b) {
    free(b->p);
    *b = (struct strbuf){.max = b->max};
}
