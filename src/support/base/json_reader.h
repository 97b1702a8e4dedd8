/*
 * A strict pull reader for JSON (RFC 8259); the whole text is in memory. It allocates only strings
 * that contain escapes (in the caller's arena), so a request of 50 MB is read in one pass and
 * without the heap.
 *
 *     if (json_object(r))
 *         while (json_member(r, &key))
 *             if (str_eq(key, STR("name")))
 *                 pod->name = json_string(r);
 *
 * After json_member() or json_element() returned true, the caller may read one value; the next call
 * skips a value that was not read. Like Go's decoder, every typed read treats `null` as an absent
 * value: it returns an empty string, zero or false, or does not enter the container.
 *
 * Errors are sticky: after the first error, every call returns at once with an empty answer, so
 * loops end by themselves, and the decoder calls json_finish() or json_check() once, at its end.
 * The error's sentence names the path and the byte: "Pod.spec.nodeName: expected a string, found a
 * number, at byte 412".
 *
 * Refused: invalid UTF-8, raw control characters, numbers such as `012` or `1.`, lone surrogates,
 * NUL in member names, a byte order mark, text after the value, more than LIMIT_JSON_DEPTH levels.
 * Complexity: linear; no recursion on input depth. Not thread-safe; text and arena are borrowed
 * until the last string handed out is no longer used.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"

enum json_kind {
    JSON_NOTHING, /* end of text, or not the start of a value */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

enum { JSON_PATH_LEVELS = 24 }; /* levels of the path that an error can name */

struct json_reader {
    const char *begin, *p, *end;
    const char *value; /* where the last member's or element's value begins */
    struct arena *arena;
    const char *root; /* how an error names the document, e.g. "Pod" */
    uint32_t depth;
    bool first; /* nothing read yet in the innermost container */
    uint64_t object_bits[(LIMIT_JSON_DEPTH + 64) / 64]; /* per level: is it an object? */
    struct str keys[JSON_PATH_LEVELS];                  /* path: member names ... */
    uint32_t indexes[JSON_PATH_LEVELS];                 /* ... and element numbers, from 1 */
    struct err error;
};

/* `root` is a literal that names the document in errors. */
void json_reader_init(struct json_reader *r, struct str text, struct arena *arena,
                      const char *root);

/* Returns the kind of the next value; consumes only blanks. */
enum json_kind json_peek(struct json_reader *r);

/* Enters the next object or array. Returns false after null (consumed) or an error. */
bool json_object(struct json_reader *r);
bool json_array(struct json_reader *r);
/* Steps to the next member or element of the innermost container, or leaves it and returns
 * false. */
bool json_member(struct json_reader *r, struct str *ret_key);
bool json_element(struct json_reader *r);

struct str json_string(struct json_reader *r); /* in the text or the arena; valid as long as the
                                                  text and the arena are */
bool json_bool(struct json_reader *r);
/* Reads a whole number within [min, max], written without fraction or exponent. */
int64_t json_integer(struct json_reader *r, int64_t min, int64_t max);
/* Reads any number, as the nearest double; a number too large for a finite double is an error. */
double json_number(struct json_reader *r);
/* Returns the bytes of a number as written. */
struct str json_number_text(struct json_reader *r);
/* Checks the next value and returns its bytes as they stand in the text. */
struct str json_skip(struct json_reader *r);
/* Consumes a null if there is one. */
bool json_null(struct json_reader *r);

/* Refuses the next object because its kind is `kind`. If the object is malformed, the error reports
 * the malformed part instead, because the kind is not certain. */
void json_fail_kind(struct json_reader *r, struct str kind, struct str expected);

/* Refuses the next object if its kind or its apiVersion differs from the given one. */
void json_check_type(struct json_reader *r, struct str api_version, struct str kind);

/* Returns the string in member `name` of the next object, "" if it has no such string; the reader
 * does not move. Skips the members before it, so it costs their length. */
struct str json_peek_member(const struct json_reader *r, struct str name);

/* Reads an array (or null) of at most `limit` strings into the arena; returns NULL if there are no
 * strings. The first size of the array is guessed from the text. */
struct str *json_string_array(struct json_reader *r, uint32_t limit, uint32_t *ret_count);

/* Returns the offset of the reader in the text, in bytes. */
static inline size_t json_offset(const struct json_reader *r) {
    return (size_t)(r->p - r->begin);
}

/* Records the decoder's own error about the last value. The sentence gets the path in front and the
 * byte offset at the end. */
void json_fail(struct json_reader *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline bool json_failed(const struct json_reader *r) {
    return r->error.code != 0;
}
/* Returns 0 or the first error, copied to err. Also reports a failed arena. */
int json_check(const struct json_reader *r, struct err *err) MUST_CHECK;
/* The same as json_check(), and it is an error if more text follows. */
int json_finish(struct json_reader *r, struct err *err) MUST_CHECK;
