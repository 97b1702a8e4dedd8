/*
 * Typed tables: what a YAML document may say, as data. One row per key says which member of a C
 * struct it fills, in which type and range, what it is by default and what it is for. From the rows
 * come the strict decoder, the flags, the help text and the documentation, so none of them can know
 * a key that the others do not.
 *
 *     static const struct field fields[] = {
 *         {.path = "log.level", .type = FIELD_CHOICE, FIELD_MEMBER(struct configuration,
 * log.level), .choices = levels, .initial = LOG_INFO, .help = "..."},
 *     };
 *
 * A path with dots stands for nested objects. Decoding goes on after a problem: all of a document's
 * problems are reported, each with its line. Memory comes from the caller's arena; not thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "yaml/yaml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIELD_TABLE_MAX = 128, FIELD_LIST_MAX = 1024 };

typedef unsigned __int128 field_set; /* a bit per row of a table */

enum field_type {
    FIELD_CSTR,     /* const char *; "" is NULL where the default is NULL */
    FIELD_STR,      /* struct str */
    FIELD_BOOL,     /* bool */
    FIELD_NUMBER,   /* any integer type of 4 or 8 bytes */
    FIELD_DURATION, /* the same, in milliseconds; written as "1.5s" */
    FIELD_CHOICE,   /* bool, enum or integer: the value of one of `choices` */
    FIELD_LABELS,   /* struct labels */
    FIELD_CSTRS,    /* list: const char *const *, and how many */
    FIELD_STRS,     /* list: const struct str *, and how many */
    FIELD_OBJECT,   /* a struct that `table` describes */
    FIELD_OBJECTS,  /* list of them: a pointer to the first, and how many */
    FIELD_CUSTOM,   /* whatever `read` makes of a value that is not null */
    FIELD_ANY,      /* a key we know but have no use for: any value */
    FIELD_REFUSED,  /* a key that belongs elsewhere; `help` says why it is not for here */
};

struct field_choice {
    const char *word; /* NULL ends the list */
    int64_t value;
};

struct field_source;
struct field_table;

struct field {
    const char *path; /* from the object that the table describes */
    enum field_type type;
    size_t offset, size;             /* of the member */
    size_t count_offset, count_size; /* lists: of the member that says how many */
    bool required;
    int64_t min, max;         /* numbers and durations; how many items of a list, at most */
    int64_t initial;          /* default of numbers, durations, booleans and choices */
    const char *initial_text; /* default of a FIELD_CSTR; NULL: none */
    const struct field_choice *choices;
    const struct field_table *table;
    void (*read)(struct field_source *s, const char *path, struct str json, void *object);
    bool (*valid)(struct str); /* of texts and list items; NULL: any text */
    const char *noun;          /* what such a text is: "address", "label key" */
    const char *flag, *help;
};

#define FIELD_MEMBER(type, member)                                                                 \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define FIELD_COUNT(type, member)                                                                  \
    .count_offset = offsetof(type, member), .count_size = sizeof(((type *)0)->member)

struct field_table {
    const struct field *fields;
    size_t count; /* at most FIELD_TABLE_MAX */
    size_t size;  /* of the struct */
    /* What one row cannot say: called for each object whose rows are all right. May be NULL. */
    void (*finish)(struct field_source *s, const char *path, struct str json, void *object);
};

#define FIELD_TABLE(rows, type, finish_)                                                           \
    {                                                                                              \
        .fields = (rows), .count = sizeof(rows) / sizeof(rows)[0], .size = sizeof(type),           \
        .finish = (finish_)                                                                        \
    }

enum field_problem_kind { FIELD_UNKNOWN_KEY, FIELD_REPEATED_KEY, FIELD_BAD_VALUE };

struct field_problem {
    enum field_problem_kind kind;
    uint32_t line;          /* 0: of no line in particular */
    const char *path;       /* "orderedSpread.rules[0].terms", "" for the document */
    const char *text;       /* of a bad value: what is wrong */
    const char *suggestion; /* of an unknown key: the one that may be meant, or NULL */
};

/* The document that is decoded, and who wants to hear of its problems. The problem's texts are
 * valid during the call only. */
struct field_source {
    struct arena *arena;         /* for what is decoded; borrowed, and must outlive it */
    const struct yaml_json *doc; /* borrowed likewise: strings may point into it */
    void (*problem)(void *ctx, const struct field_problem *problem);
    void *ctx;
    uint32_t problem_count;
};

/* Puts every row's default in its member. Objects in lists get theirs when they are decoded. */
void fields_set_defaults(const struct field_table *t, struct arena *arena, void *object);
/* Decodes one JSON object, a part of s->doc, over what is there. `path` is how problems call it. */
void fields_read(struct field_source *s, const struct field_table *t, const char *path,
                 struct str json, void *object);

/* Reports a problem with the value at `json`. */
void field_bad_value(struct field_source *s, const char *path, struct str json, const char *fmt,
                     ...) PRINTF_LIKE(4, 5);
/* "a.b", or "b" when a is empty; and "a[2]". Arena; "" when it failed. */
const char *field_path(struct field_source *s, const char *a, const char *b);
const char *field_path_at(struct field_source *s, const char *a, uint32_t index);

/*
 * Sets a member from text, as flags do: numbers, booleans, durations, choices and texts. A list
 * gets one item more, unless `clear_list`. 0, -EINVAL with the reason alone, or -ENOMEM.
 */
int field_set_text(const struct field *f, struct str text, bool clear_list, struct arena *arena,
                   void *object, struct err *err) MUST_CHECK;

/* Appends, for people: the type ("integer", "one of debug, info", "list of files"), the range ("1
 * to 512", or nothing) and the default ("10s", or nothing). */
void field_describe_type(const struct field *f, struct strbuf *out);
void field_describe_range(const struct field *f, struct strbuf *out);
void field_describe_default(const struct field *f, struct strbuf *out);
