/*
 * Tables of an answer: what the columns are called, and the form (cli/answer.h) that fills their
 * cells from the row's value.
 *
 *     static const struct answer_column columns[] = {{"NODE", "{node}"}, {"TOTAL", "{#total}",
 * "-"}}; static const struct answer_table table = {ANSWER_COLUMNS(columns)};
 */
#pragma once

#include "cli/answer.h"

/* What a form cannot say: the cell of an item, in its arena or constant. */
typedef struct str answer_cell_fn(const struct value *item, const void *ctx);

struct answer_column {
    const char *heading, *form;
    const char *absent;   /* in the place of an empty cell */
    answer_cell_fn *cell; /* in the place of the form */
    const void *ctx;
    bool is_number; /* aligned on the right */
};

/* What stands in the place of an empty cell may come last. */
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
    bool is_first;     /* no empty line comes before it, and headings stand without rows, too */
    uint32_t most;     /* rows; 0: any number ... */
    const char *more;  /* ... " nodes" of "and 3 more nodes; -o json has all" */
    uint32_t width, narrowest, widest; /* as struct table has them; 0: as usual */
};
#define COLUMNS(rows) .columns = (rows), .count = sizeof(rows) / sizeof(rows)[0]

/* Appends the table of a list's items, or of an object's members; nothing if there are none. */
void answer_table_put(const struct answer_table *how, const struct value *list, struct strbuf *out);
/* The same of `count` values, in the order of `items`; `a` is the answer that has them. */
void answer_table_put_items(const struct answer_table *how, const struct answer *a,
                            const struct value *const *items, uint32_t count, struct strbuf *out);
/* The items of a list in the order of `compare`, as of qsort(3), for the above; with room for
 * `more` at the end. NULL: the arena has failed. */
const struct value **answer_items(const struct value *list, uint32_t more,
                                  int (*compare)(const void *, const void *));
