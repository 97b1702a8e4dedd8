/*
 * The answer of a command as `-o json` prints it, as a tree: what the other form, the one for
 * people, is made of. The JSON is read once; then every line and every cell of a table (see
 * cli/answer_table.h) is a form that names members of the answer:
 *
 *     value_say(a.root, "{binding}: {+selected} selected[; term {affinity}]\n", &out);
 *
 * {path} is the text of a member. A path is names with '.' between; it begins at the value that
 * the form is filled for, or with '^' at the root, or with '<' at the value around it. A name finds
 * a member of an object, or an item of an array by its label; '@' in the place of a name is the
 * value's own label, and alone it is the label's text.
 *     {#path}  a number             {?path}      nothing, if it is true, not 0, and not empty
 *     {0path}  a number or 0        {!path}      nothing, if it is not
 *     {~path}  a text or nothing    {path=word}  nothing, if it is written like this
 *     {+path}  the number of items
 *     {,path}  texts of a list, the first ten and how many more; {;path} all
 * A value that is missing, null or "" is absent, and so is {?}, {!} or {=} that does not hold; but
 * {0}, {~}, {+} and the texts of an empty list never are. [a|b|c] is the first of its parts in
 * which nothing is absent, or nothing.
 *
 * A value that is not of the kind that a form expects is an error of the answer, which stays: ask
 * answer_check() when all is written. Forms are the program's own, so a wrong one is its mistake.
 */
#pragma once

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct value {
    struct answer *of;
    struct value *up;      /* NULL: it is the root */
    enum json_kind kind;   /* JSON_NULL: it may be missing, too */
    uint32_t at;           /* its place among those of the value around it, from 0 */
    uint32_t count;        /* of members or items ... */
    struct value *first;   /* ... in the order of the text ... */
    struct value *last;    /* ... to this one */
    struct value *next;    /* the member or item behind this one */
    struct value **labels; /* the members or items by label; NULL: they are few */
    struct str label;      /* a member's name; an item's text, or its member "name" */
    struct str text;       /* of a text; a number or a bool as it is written */
};

struct answer {
    struct arena *arena; /* borrowed, as the JSON is */
    struct value *root;
    struct value missing;
    const void *ctx;  /* of a printer */
    struct err error; /* the first */
};

/* Reads an answer, which must be an object. 0, -EINVAL or -ENOMEM. */
int answer_read(struct answer *ret, struct str json, struct arena *arena,
                struct err *err) MUST_CHECK;
/* 0, or the first error of a value that was asked for. Also -ENOMEM if memory ran out, in the
 * arena or in `out`. */
int answer_check(const struct answer *a, const struct strbuf *out, struct err *err) MUST_CHECK;

/* The value at a path, as forms have them; one of kind JSON_NULL if it is missing. */
const struct value *value_at(const struct value *v, const char *path);
/* The same of one name, in which '.' means nothing. */
const struct value *value_member(const struct value *v, struct str name);
/* The same at a path, and anything but this kind or null is an error, and counts as missing. */
const struct value *value_list(const struct value *v, const char *path, enum json_kind kind);

/* A text, "" if it is missing; a number, 0 if it is missing. */
struct str value_text(const struct value *v);
int64_t value_number(const struct value *v);
/* True, or a number other than 0, a text that is not empty, a list that has items. */
bool value_is(const struct value *v);

/* Appends the form. In texts of the answer control characters become '?'. */
void value_say(const struct value *v, const char *form, struct strbuf *out);
/* The form as a cell of a table, which has control characters of its own; "" if a part outside of
 * brackets is absent. In the arena. */
struct str value_cell(const struct value *v, const char *form);
/* The form for every item, with `between` them, as a cell. */
struct str value_join(const struct value *list, const char *form, const char *between);

/* value_say() of each of the first `most` items. */
void value_say_each(const struct value *list, const char *form, uint32_t most, struct strbuf *out);

/* Appends the answer for people; root->of->ctx is what the caller gave. Has no errors of its own:
 * the answer has them. */
typedef void answer_print_fn(const struct value *root, struct strbuf *out);
/* answer_read(), `print` and answer_check(). */
int answer_print(struct str json, answer_print_fn *print, const void *ctx, struct strbuf *out,
                 struct err *err) MUST_CHECK;

/* Writes a text to standard output. Returns the exit status: 1 if it failed, which has been
 * reported as the command's. */
int answer_put_out(const char *command, const struct strbuf *out);
/* Writes an answer there, with `note` behind it; `print` NULL: the JSON, to which a line break is
 * added. Returns as above. */
int answer_write(const char *command, struct strbuf *json, answer_print_fn *print, const void *ctx,
                 const char *note);
