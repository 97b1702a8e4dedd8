/*
 * Tables of an answer. A column has a heading, and a form (cli/answer.h) that makes its cells.
 *
 *     static const struct answer_column columns[] = {COLUMN("NODE", "{node}"),
 *                                                    NUMBER("TOTAL", "{#total}", "-")};
 *     static const struct answer_table table = {COLUMNS(columns)};
 */
#pragma once

#include "cli/answer.h"

/* Returns an item's cell, for a column that no form can express. The text is constant or in the
 * arena. */
typedef struct str answer_cell_fn(const struct value *item, const void *ctx);

struct answer_column {
    const char *heading, *form;
    const char *absent;   /* the text for an empty cell */
    answer_cell_fn *cell; /* used instead of the form; NULL: the form is used */
    const void *ctx;
    bool is_number; /* aligned on the right */
};

/* The last argument may be the text of an empty cell. */
#define COLUMN(heading_, form_, ...)                                                               \
    { .heading = (heading_), .form = (form_), .absent = "" __VA_ARGS__ }
#define NUMBER(heading_, form_, ...)                                                               \
    { .heading = (heading_), .form = (form_), .absent = "" __VA_ARGS__, .is_number = true }
#define CELL(heading_, cell_, ctx_, ...)                                                           \
    { .heading = (heading_), .cell = (cell_), .ctx = (ctx_), .absent = "" __VA_ARGS__ }
#define NUMBER_CELL(heading_, cell_, ctx_, ...)                                                    \
    {                                                                                              \
        .heading = (heading_), .cell = (cell_), .ctx = (ctx_), .absent = "" __VA_ARGS__,           \
        .is_number = true                                                                          \
    }

struct answer_table {
    const struct answer_column *columns;
    uint32_t count;    /* at most TABLE_COLUMNS */
    const char *title; /* the first heading, instead of the column's own; or NULL */
    bool is_first;     /* no empty line before the table; headings are printed even without rows */
    uint32_t most;     /* maximal number of shown rows; 0: all */
    const char *more;  /* " nodes" in "and 3 more nodes; -o json has all" */
    uint32_t width, narrowest, widest; /* as in struct table; 0: the default */
};
#define COLUMNS(rows) .columns = (rows), .count = sizeof(rows) / sizeof(rows)[0]

/* Appends a row for each item or member. Without items it appends nothing, or only the headings if
 * `is_first`. */
void answer_table_put(const struct answer_table *how, const struct value *list, struct strbuf *out);
/* Appends a row for each of `count` values, in the order of `items`; `a` is the answer that has
 * them. */
void answer_table_put_items(const struct answer_table *how, const struct answer *a,
                            const struct value *const *items, uint32_t count, struct strbuf *out);
/* Returns the items of a list for answer_table_put_items(), sorted by `compare` as in qsort(3),
 * with room for `more` items at the end. Returns NULL if memory runs out. */
const struct value **answer_items(const struct value *list, uint32_t more,
                                  int (*compare)(const void *, const void *));
