/*
 * Strings are a pointer and a length (struct str); NUL terminators exist only at libc's edge. A
 * struct str never owns: the comment in its header or at its field names the owner. struct strbuf
 * is the only growable buffer; it has a maximum and refuses to grow beyond it (the writer checks
 * once, at the end, with strbuf_failed()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p; /* may be NULL when n is 0 */
    size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
/* For printf("%.*s", STR_ARG(s)): the precision is at most 256, so that no log line or error
 * becomes too long. */
#define STR_ARG(s) (int)((s).n > 256 ? 256 : (s).n), ((s).n > 0 ? (s).p : "")

static inline struct str str_of(const char *cstr) {
    return (struct str){cstr, cstr != NULL ? strlen(cstr) : 0};
}

static inline bool str_eq(struct str a, struct str b) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): where there are bytes, p is set */
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_empty(struct str s) {
    return s.n == 0;
}

/* Compares bytes, and returns <0, 0 or >0; a prefix of a string comes before the string. This is
 * the order of sorted strings in Go and Kubernetes. */
int str_cmp(struct str a, struct str b);

/* ASCII case-insensitive equality, as for the wrapper keys of the extender protocol. */
bool str_eq_nocase(struct str a, struct str b);

bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);

/* Returns the index of the first `c`, or SIZE_MAX. */
size_t str_find(struct str s, char c);

/* Returns s without leading and trailing blanks (space, tab, CR, LF). */
struct str str_trim(struct str s);

/* Returns the length in bytes, 2 to 4, of the well-formed UTF-8 sequence at the start of s: no
 * overlong form, no surrogate, at most U+10FFFF. Returns 0 if s does not start with such a
 * sequence. */
size_t str_utf8_length(struct str s);

/* Returns the first bytes of s, at most `max`; does not cut a UTF-8 character in two. */
struct str str_cut(struct str s, size_t max);
/* Returns a NUL-terminated copy, which the caller frees with free(); NULL if there is no memory. */
char *str_dup(struct str s);

/* Reads a base-10 int64: optional sign, digits, nothing else (Go's strconv.ParseInt). Returns false
 * on overflow or other bytes. */
bool str_to_i64(struct str s, int64_t *ret_value);

/* A growable byte buffer. Zero-initialised with .max set is a valid empty buffer. One owner;
 * strbuf_done() frees. */
struct strbuf {
    char *p; /* owned */
    size_t n, cap;
    size_t max;     /* most bytes that it may hold; 0 means SIZE_MAX / 2 */
    bool failed;    /* an append did not fit or memory ran out; later appends do nothing */
    bool no_memory; /* failed because memory ran out */
};

void strbuf_appendf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for n more bytes and returns their place (NULL on failure); the caller then adds the
 * number of bytes written to b->n. The usual case, enough room, is inline. */
char *strbuf_grow(struct strbuf *b, size_t n);
static inline char *strbuf_reserve(struct strbuf *b, size_t n) {
    return !b->failed && b->p != NULL && b->cap - b->n >= n ? b->p + b->n : strbuf_grow(b, n);
}
static inline void strbuf_append(struct strbuf *b, const void *bytes, size_t n) {
    char *to = n == 0 ? NULL : strbuf_reserve(b, n);
    if (to == NULL)
        return;
    memcpy(to, bytes, n);
    b->n += n;
}
static inline void strbuf_append_str(struct strbuf *b, struct str s) {
    strbuf_append(b, s.p, s.n);
}
static inline void strbuf_append_char(struct strbuf *b, char c) {
    strbuf_append(b, &c, 1);
}
static inline bool strbuf_failed(const struct strbuf *b) {
    return b->failed;
}
static inline struct str strbuf_str(const struct strbuf *b) {
    return (struct str){b->p, b->n};
}
static inline void strbuf_clear(struct strbuf *b) {
    b->n = 0;
    b->failed = b->no_memory = false;
}
/* Frees the bytes; the buffer is empty and usable again, with the same max. */
void strbuf_done(struct strbuf *b);
