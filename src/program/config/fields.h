/*
 * Typed tables: the keys of a YAML document, as data. A row has a key, the member of a C struct
 * that it fills, its type, range and default, and its help. The strict decoder, the flags, the help
 * text and the documentation are all made from the rows, so they all have the same keys.
 *
 *     static const struct field fields[] = {
 *         {.path = "log.level", .type = FIELD_CHOICE, .choices = levels, .initial = LOG_INFO,
 *          FIELD_MEMBER(struct configuration, log.level), .help = "..."},
 *     };
 *
 * A path with dots stands for nested objects. Decoding goes on after a problem, so that all
 * problems of a document are reported, each with its line. Memory is in the caller's arena; not
 * thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "yaml/yaml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIELD_TABLE_MAX = 256, FIELD_LIST_MAX = 1024 };

/* A set of rows: one bit for each row of a table. */
typedef struct field_set {
    uint64_t words[FIELD_TABLE_MAX / 64];
} field_set;
static inline bool field_set_has(const field_set *set, size_t row) {
    return (set->words[row / 64] >> row % 64 & 1) != 0;
}
static inline void field_set_add(field_set *set, size_t row) {
    set->words[row / 64] |= UINT64_C(1) << row % 64;
}

enum field_type {
    FIELD_CSTR,     /* const char *; "" is NULL where the default is NULL */
    FIELD_STR,      /* struct str */
    FIELD_BOOL,     /* bool */
    FIELD_NUMBER,   /* any integer type of 4 or 8 bytes */
    FIELD_DURATION, /* FIELD_NUMBER in milliseconds; written as "1.5s" */
    FIELD_CHOICE,   /* bool, enum or integer: the value of one of `choices` */
    FIELD_LABELS,   /* struct labels */
    FIELD_CSTRS,    /* list: const char *const *, and their number */
    FIELD_STRS,     /* list: const struct str *, and their number */
    FIELD_OBJECT,   /* a struct that `table` describes */
    FIELD_OBJECTS,  /* list of structs that `table` describes: a pointer to the first, and their
                       number */
    FIELD_CUSTOM,   /* decoded by `read`, unless the value is null */
    FIELD_ANY,      /* a key that is allowed and not used: any value */
    FIELD_REFUSED,  /* a key that must not be here; `help` has the reason */
};

struct field_choice {
    const char *word; /* NULL ends the list */
    int64_t value;
};

struct field_source;
struct field_table;

struct field {
    const char *path; /* names from the table's object to the key */
    enum field_type type;
    size_t offset, size;             /* offset and size of the struct member */
    size_t count_offset, count_size; /* lists: the same for the member with the number of items */
    bool required;
    int64_t min, max;         /* range of numbers and durations; max: number of items of a list */
    int64_t initial;          /* default of numbers, durations, booleans and choices */
    const char *initial_text; /* default of a FIELD_CSTR; NULL: none */
    const struct field_choice *choices;
    const struct field_table *table;
    void (*read)(struct field_source *s, const char *path, struct str json, void *object);
    bool (*valid)(struct str); /* checks a text or a list item; NULL: any text is valid */
    const char *noun;          /* for messages: "address", "label key" */
    const char *form; /* for messages: an example, which follows "is not a valid subject" */
    const char *flag, *help;
};

#define FIELD_MEMBER(type, member)                                                                 \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define FIELD_COUNT(type, member)                                                                  \
    .count_offset = offsetof(type, member), .count_size = sizeof(((type *)0)->member)

struct field_table {
    const struct field *fields;
    size_t count; /* at most FIELD_TABLE_MAX */
    size_t size;  /* size of the struct */
    /* Checks rules between rows, for each object in which all rows are valid. May be NULL. */
    void (*finish)(struct field_source *s, const char *path, struct str json, void *object);
};

#define FIELD_TABLE(rows, type, finish_)                                                           \
    {                                                                                              \
        .fields = (rows), .count = sizeof(rows) / sizeof(rows)[0], .size = sizeof(type),           \
        .finish = (finish_)                                                                        \
    }

enum field_problem_kind {
    FIELD_UNKNOWN_KEY,
    FIELD_REPEATED_KEY,
    FIELD_BAD_VALUE,
    FIELD_REMOVED_KEY, /* the key has no effect any more; the document is still valid */
};

struct field_problem {
    enum field_problem_kind kind;
    uint32_t line;          /* 0: the problem belongs to no line */
    const char *path;       /* "orderedSpread.rules[0].terms", "" for the document */
    const char *text;       /* the mistake in a bad value */
    const char *suggestion; /* for an unknown key: the nearest key, or NULL */
};

/* The document to decode, and the function that gets its problems. Their texts are only valid
 * during the call. */
struct field_source {
    struct arena *arena;         /* for decoded values; borrowed, must outlive them */
    const struct yaml_json *doc; /* borrowed, too: strings may point into it */
    void (*problem)(void *ctx, const struct field_problem *problem);
    void *ctx;
    bool (*is_removed)(const char *path); /* is this a key of an old version? NULL: none is */
    uint32_t problem_count;               /* number of problems; removed keys do not count */
};

/* Sets the member of every row to its default. Objects in lists get defaults when they are decoded.
 */
void fields_set_defaults(const struct field_table *t, struct arena *arena, void *object);
/* Decodes a JSON object, which is a part of s->doc, over the present members. `path` is its path in
 * problems. */
void fields_read(struct field_source *s, const struct field_table *t, const char *path,
                 struct str json, void *object);

/* Reports a problem with the value at `json`. */
void field_bad_value(struct field_source *s, const char *path, struct str json, const char *fmt,
                     ...) PRINTF_LIKE(4, 5);
/* Return "a.b", or "b" if a is empty; and "a[2]". Texts are in the arena; "" if memory runs out. */
const char *field_path(struct field_source *s, const char *a, const char *b);
const char *field_path_at(struct field_source *s, const char *a, uint32_t index);

/*
 * Sets a member from text, as for a flag: numbers, booleans, durations, choices and texts. Appends
 * an item to a list; `clear_list` empties the list before. Returns 0, -EINVAL with an error that
 * does not name the key, or -ENOMEM.
 */
int field_set_text(const struct field *f, struct str text, bool clear_list, struct arena *arena,
                   void *object, struct err *err) MUST_CHECK;

/* Appends, for people: the type ("integer", "one of debug, info", "list of files"), the range ("1
 * to 512", or nothing) and the default ("10s", or nothing). */
void field_describe_type(const struct field *f, struct strbuf *out);
void field_describe_range(const struct field *f, struct strbuf *out);
void field_describe_default(const struct field *f, struct strbuf *out);
