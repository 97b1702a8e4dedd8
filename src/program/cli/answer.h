/*
 * The answer of a command as a tree, read from the JSON that `-o json` prints. The text for people
 * is made from this tree: every line and every cell of a table (see cli/answer_table.h) is a form
 * that names members of the answer:
 *
 *     value_say(a.root, "{binding}: {+selected} selected[; term {affinity}]\n", &out);
 *
 * {path} is the text of a member. A path is a list of names with '.' between them. It begins at the
 * value that fills the form; with '^' at the root, and with '<' at the value around. A name finds
 * a member of an object, or an item of an array by its label. '@' instead of a name is the label
 * of the value itself; alone it is the label's text.
 *     {#path}  a number             {?path}      prints nothing; is true, not 0 and not empty
 *     {0path}  a number or 0        {!path}      prints nothing; is false, 0, empty or missing
 *     {~path}  a text or nothing    {path=word}  prints nothing; the text is this word
 *     {+path}  the number of items
 *     {,path}  texts of a list, the first ten and how many more; {;path} all
 * A value that is missing, null or "" is absent, and so is a {?}, {!} or {=} that does not hold.
 * {0}, {~}, {+} and the texts of an empty list are never absent. [a|b|c] prints its first part
 * without absent values, or nothing.
 *
 * If a value is not of the kind that the form expects, the answer keeps the first such error: call
 * answer_check() after all printing. {?}, {!}, {=} and {+} take a value of any kind: printers check
 * these with value_expect(). A number is whole. If two members have one name, the last counts.
 * Forms are constants of the program, not input.
 */
#pragma once

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct value {
    struct answer *of;
    struct value *up;      /* the value around it; NULL: it is the root */
    enum json_kind kind;   /* JSON_NULL: null, or the value is missing */
    uint32_t at;           /* its index in the value around it */
    uint32_t count;        /* number of members or items */
    struct value *first;   /* the first member or item, in the order of the text */
    struct value *last;    /* the last member or item */
    struct value *next;    /* the member or item after this one */
    struct value **labels; /* the members or items, sorted by label; NULL: searched one by one */
    struct str label;      /* a member's name; an item's text, or its member "name" */
    struct str text;       /* the text; a number or a bool as it is written */
};

struct answer {
    struct arena *arena; /* borrowed, like the JSON */
    struct value *root;
    struct value missing;
    const void *ctx;  /* for the print function */
    struct err error; /* the first error */
};

/* Reads an answer, which must be an object. Returns 0, -EINVAL or -ENOMEM. */
int answer_read(struct answer *ret, struct str json, struct arena *arena,
                struct err *err) MUST_CHECK;
/* Returns 0, or the error of the first value that had a wrong kind; -ENOMEM if memory ran out in
 * the arena or in `out`. */
int answer_check(const struct answer *a, const struct strbuf *out, struct err *err) MUST_CHECK;

/* Returns the value at a path, which is written as in forms; a value of kind JSON_NULL if there is
 * no value. */
const struct value *value_at(const struct value *v, const char *path);
/* Returns the member with this name, in which '.' is a plain character; a value of kind JSON_NULL
 * if it is missing. */
const struct value *value_member(const struct value *v, struct str name);
/* Returns the value at a path. A value of another kind than `kind`, except null, is an error and
 * counts as missing. */
const struct value *value_as(const struct value *v, const char *path, enum json_kind kind);

/* Return the value as a text ("" if it is missing), as a whole number (0 if it is missing), and as
 * a count, a whole number of 0 or more. */
struct str value_text(const struct value *v);
int64_t value_number(const struct value *v);
int64_t value_count(const struct value *v);
/* Is the value true, a number other than 0, a text that is not empty, or a list with items? */
bool value_holds(const struct value *v);

/* The expected kind of a member for which forms accept any kind; JSON_NUMBER means a count. */
struct value_kind {
    const char *path;
    enum json_kind kind;
};
/* Makes a member of another kind an error of the answer; a missing member is no error. */
void value_expect(const struct value *v, const struct value_kind *kinds, size_t count);
#define VALUE_EXPECT(v, kinds) value_expect((v), (kinds), sizeof(kinds) / sizeof(kinds)[0])

/* Appends the filled form. Control characters in texts of the answer become '?'. */
void value_say(const struct value *v, const char *form, struct strbuf *out);
/* Returns the filled form as a cell of a table (the table replaces control characters itself); ""
 * if a value outside of brackets is absent. The text is in the arena. */
struct str value_cell(const struct value *v, const char *form);
/* Returns a cell with the filled form of every item, separated by `between`. */
struct str value_join(const struct value *list, const char *form, const char *between);

/* Calls value_say() for each of the first `most` items. */
void value_say_each(const struct value *list, const char *form, uint32_t most, struct strbuf *out);

/* Appends the answer for people; root->of->ctx is the caller's `ctx`. Errors are kept in the
 * answer. */
typedef void answer_print_fn(const struct value *root, struct strbuf *out);
/* Calls answer_read(), `print` and answer_check(). */
int answer_print(struct str json, answer_print_fn *print, const void *ctx, struct strbuf *out,
                 struct err *err) MUST_CHECK;

/* Writes "evenkeel COMMAND: why" to standard error, without control characters. Returns 1. */
int answer_fail(const char *command, const char *why);
/* Writes a text to standard output. Returns the exit status: 1 after a failure, which has been
 * reported with the command's name. */
int answer_put_out(const char *command, const struct strbuf *out);
/* Writes an answer to standard output, followed by `note`; if `print` is NULL, the JSON and a line
 * break. Returns the exit status: 1 after a failure, which has been reported. */
int answer_write(const char *command, struct strbuf *json, answer_print_fn *print, const void *ctx,
                 const char *note);
