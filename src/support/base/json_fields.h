/*
 * Reads JSON objects by rows. A row has a member's name, its kind of value and its place in a
 * struct; members without a row are skipped, or refused by a last row JSON_NO_OTHERS. The reader's
 * rules hold: errors stay in the reader, null counts as absent, texts are in the document or in the
 * reader's arena.
 *
 *     static const struct json_field term_fields[] = {
 *         JSON_TEXT("key", struct term, key),
 *         JSON_INTEGER("maxSkew", struct term, max_skew, 1, INT32_MAX, .absent = 1),
 *         JSON_CALL("selector", struct term, selector, selector_decode),
 *     };
 *     json_fields(r, &JSON_ROWS(term_fields), term);
 *
 * If a member occurs twice, the last one counts. Rows are searched in their order, so put frequent
 * members first; an object costs members times rows comparisons.
 */
#pragma once

#include "base/json_reader.h"

#include <stddef.h>

/* Reads one value into the struct's member. */
typedef void json_read_fn(struct json_reader *r, void *into);

enum json_field_kind {
    JSON_KIND_TEXT,    /* struct str */
    JSON_KIND_FLAG,    /* bool */
    JSON_KIND_INTEGER, /* an integer of 4 or 8 bytes */
    JSON_KIND_WORD, /* the index of a word in a list; the member is a bool, or an integer or enum of
                       4 bytes */
    JSON_KIND_TIME, /* int64_t: a date-time, in milliseconds since 1970; null changes nothing */
    JSON_KIND_TEXTS,   /* struct str *: an array of strings; and their count */
    JSON_KIND_OBJECT,  /* an object with its own rows */
    JSON_KIND_LIST,    /* an array of structs with their own rows, or a function; their count */
    JSON_KIND_RAW,     /* struct str: the bytes of the value as in the text, also if it is null */
    JSON_KIND_CALL,    /* any value, read by a function */
    JSON_KIND_REFUSED, /* any value, also null, is an error */
};

struct json_field;
struct json_rows {
    const struct json_field *fields;
    size_t count;
};

struct json_field {
    struct str name; /* p NULL: the row applies to each member that no row before it names */
    enum json_field_kind kind;
    size_t at, size; /* offset and size of the struct's member, in bytes */
    size_t count_at; /* TEXTS, LIST: place of the uint32_t count */
    int64_t min, max;
    size_t given; /* 1 + offset of a bool that becomes true if the value is not null; 0: there is no
                     bool */
    int64_t absent; /* INTEGER, WORD: the value for null. INTEGER, WORD, TIME: also the value in a
                       list item without the member */
    const char *const *words; /* see json_word() */
    uint32_t word_count;
    uint32_t most;         /* TEXTS, LIST: the greatest number of items; more are an error */
    size_t item_size;      /* LIST */
    struct json_rows rows; /* OBJECT, LIST */
    json_read_fn *read;    /* CALL: reads the value. LIST: reads an item, if there are no rows */
    const char *refusal;   /* REFUSED: the text of the error */
};

#define JSON_ROWS(fields) ((const struct json_rows){fields, sizeof(fields) / sizeof(fields)[0]})
/* For rows within static rows. */
#define JSON_SUB_ROWS(fields)                                                                      \
    { fields, sizeof(fields) / sizeof(fields)[0] }

/* Names the struct's member. A row does not compile if its kind does not fit the type of the
 * member. */
#define JSON_MEMBER(type, member) (((type *)NULL)->member)
#define JSON_HOLDS(type, member, other)                                                            \
    __builtin_types_compatible_p(__typeof__(JSON_MEMBER(type, member)), other)
#define JSON_HAS_BYTES(type, member, bytes) (sizeof JSON_MEMBER(type, member) == (bytes))
#define JSON_FIELD_AT(text, type, member) JSON_FIELD_IF(true, text, type, member)
#define JSON_FIELD_IF(fits, text, type, member)                                                    \
    .name = {text, sizeof(text) - 1}, .at = offsetof(type, member),                                \
    .size = sizeof JSON_MEMBER(type, member) + 0 * sizeof(char[(fits) ? 1 : -1])
#define JSON_TEXT(text, type, member)                                                              \
    {                                                                                              \
        JSON_FIELD_IF(JSON_HOLDS(type, member, struct str), text, type, member),                   \
            .kind = JSON_KIND_TEXT                                                                 \
    }
#define JSON_TEXT_GIVEN(text, type, member, flag)                                                  \
    {                                                                                              \
        JSON_FIELD_IF(JSON_HOLDS(type, member, struct str), text, type, member),                   \
            .kind = JSON_KIND_TEXT, JSON_GIVEN(type, flag)                                         \
    }
/* Reads into a single struct str, to which `into` points. */
#define JSON_TEXT_ALONE(text)                                                                      \
    { .name = {text, sizeof(text) - 1}, .kind = JSON_KIND_TEXT }
#define JSON_FLAG(text, type, member)                                                              \
    { JSON_FIELD_IF(JSON_HOLDS(type, member, bool), text, type, member), .kind = JSON_KIND_FLAG }
#define JSON_RAW(text, type, member)                                                               \
    {                                                                                              \
        JSON_FIELD_IF(JSON_HOLDS(type, member, struct str), text, type, member),                   \
            .kind = JSON_KIND_RAW                                                                  \
    }
#define JSON_INTEGER(text, type, member, least, greatest, ...)                                     \
    {                                                                                              \
        JSON_FIELD_IF(JSON_HAS_BYTES(type, member, 4) || JSON_HAS_BYTES(type, member, 8), text,    \
                      type, member),                                                               \
            .kind = JSON_KIND_INTEGER, .min = (least), .max = (greatest), __VA_ARGS__              \
    }
#define JSON_WORD(text, type, member, list, ...)                                                   \
    {                                                                                              \
        JSON_FIELD_IF(JSON_HOLDS(type, member, bool) || JSON_HAS_BYTES(type, member, 4), text,     \
                      type, member),                                                               \
            .kind = JSON_KIND_WORD, .words = (list), .word_count = sizeof(list) / sizeof(list)[0], \
            __VA_ARGS__                                                                            \
    }
#define JSON_TEXTS(text, type, member, count, limit)                                               \
    {                                                                                              \
        JSON_FIELD_AT(text, type, member), .kind = JSON_KIND_TEXTS, .most = (limit),               \
                                           .count_at = offsetof(type, count)                       \
    }
#define JSON_TIME(text, type, member, ...)                                                         \
    {                                                                                              \
        JSON_FIELD_IF(JSON_HOLDS(type, member, int64_t), text, type, member),                      \
            .kind = JSON_KIND_TIME, __VA_ARGS__                                                    \
    }
#define JSON_GIVEN(type, member) .given = 1 + offsetof(type, member)
/* Rows of an inner object, which set members of the same struct ... */
#define JSON_WITHIN(text, fields)                                                                  \
    { .name = {text, sizeof(text) - 1}, .kind = JSON_KIND_OBJECT, .rows = JSON_SUB_ROWS(fields) }
#define JSON_WITHIN_GIVEN(text, fields, type, flag)                                                \
    {                                                                                              \
        .name = {text, sizeof(text) - 1}, .kind = JSON_KIND_OBJECT, .rows = JSON_SUB_ROWS(fields), \
        JSON_GIVEN(type, flag)                                                                     \
    }
/* ... or of an inner struct. */
#define JSON_OBJECT_AT(text, type, member, fields)                                                 \
    { JSON_FIELD_AT(text, type, member), .kind = JSON_KIND_OBJECT, .rows = JSON_SUB_ROWS(fields) }
#define JSON_LIST_PARTS(text, type, member, count, limit, fields)                                  \
    JSON_FIELD_AT(text, type, member),                                                             \
        .kind = JSON_KIND_LIST, .most = (limit), .count_at = offsetof(type, count),                \
        .item_size = sizeof(*((type *)NULL)->member), .rows = JSON_SUB_ROWS(fields)
#define JSON_LIST(text, type, member, count, limit, fields)                                        \
    { JSON_LIST_PARTS(text, type, member, count, limit, fields) }
#define JSON_LIST_GIVEN(text, type, member, count, limit, fields, flag)                            \
    { JSON_LIST_PARTS(text, type, member, count, limit, fields), JSON_GIVEN(type, flag) }
#define JSON_LIST_BY(text, type, member, count, limit, function)                                   \
    {                                                                                              \
        JSON_FIELD_AT(text, type, member),                                                         \
            .kind = JSON_KIND_LIST, .most = (limit), .count_at = offsetof(type, count),            \
            .item_size = sizeof(*((type *)NULL)->member), .read = (function)                       \
    }
#define JSON_CALL(text, type, member, function)                                                    \
    { JSON_FIELD_AT(text, type, member), .kind = JSON_KIND_CALL, .read = (function) }
#define JSON_CALL_GIVEN(text, type, member, function, flag)                                        \
    {                                                                                              \
        JSON_FIELD_AT(text, type, member), .kind = JSON_KIND_CALL, .read = (function),             \
                                           JSON_GIVEN(type, flag)                                  \
    }
/* The function gets a pointer to the whole struct, not to a member. */
#define JSON_CALL_WHOLE(text, function)                                                            \
    { .name = {text, sizeof(text) - 1}, .kind = JSON_KIND_CALL, .read = (function) }
/* The member is an error with this text, such as "moved to spec.pods". */
#define JSON_REFUSED(text, error)                                                                  \
    { .name = {text, sizeof(text) - 1}, .kind = JSON_KIND_REFUSED, .refusal = (error) }
/* Each member that no row names is an error. Always the last row. */
#define JSON_NO_OTHERS                                                                             \
    { .kind = JSON_KIND_REFUSED, .refusal = "unknown field" }

/* Reads an object (or null) into the struct at `into`; what the object does not name stays
 * unchanged. */
void json_fields(struct json_reader *r, const struct json_rows *rows, void *into);

/*
 * Reads an array (or null) of at most `limit` items: the function `item` reads each item into
 * zeroed memory. The items are in the arena; returns NULL if there are no items.
 */
void *json_array_of(struct json_reader *r, size_t item_size, uint32_t limit, json_read_fn *item,
                    uint32_t *ret_count);

/*
 * Reads a string that must be equal to one of `words`, and returns the index of that word; for null
 * it returns `absent`. Any other string is an error of the reader: the sentence has the nearest
 * word, if a word is near ("'BuildIn': did you mean 'BuiltIn'?"), else the whole list. If the empty
 * word is allowed, it must be the last word.
 */
uint32_t json_word(struct json_reader *r, const char *const *words, uint32_t count,
                   uint32_t absent);

/* Reads a date-time as milliseconds since 1970. Returns false after null or an error. */
bool json_time(struct json_reader *r, int64_t *ret_ms);
