/*
 * Tables of a command's answer: what the columns are called, which member of an item stands in
 * each, and what stands there for an item that does not have it. A row comes from an item of a JSON
 * array, or cell by cell from the program, and looks the same.
 *
 *     static const struct column columns[] = {
 *         COLUMN("NODE", "node", cell_text, ""),
 *         NUMBER("TOTAL", "total", cell_number, "-")};
 */
#pragma once

#include "base/json_reader.h"
#include "base/table.h"

/* The value that comes next as the text of a cell; in the arena, or where the JSON is. Errors stay
 * in the reader. */
typedef struct str cell_fn(struct json_reader *r, struct arena *arena);

cell_fn cell_text, cell_number, cell_mebibytes, cell_percent;
cell_fn cell_yes_no; /* of a bool */
cell_fn cell_names;  /* "a, b" of an array of strings */

/* What becomes of a member that has no column of its own: its text joins the column before it. */
enum column_join {
    COLUMN_OWN,
    COLUMN_AFTER,  /* behind the other text, after a blank */
    COLUMN_INSTEAD /* in place of the other text */
};

struct column {
    const char *heading; /* NULL: it joins the column before it */
    const char *member;  /* NULL: the item itself is the value, or it is the one for `others` */
    cell_fn *cell;       /* NULL: rows come from the program only, or from `others` */
    const char *absent;
    bool is_number; /* aligned on the right */
    enum column_join join;
};

#define COLUMN(heading_, member_, cell_, absent_)                                                  \
    { .heading = (heading_), .member = (member_), .cell = (cell_), .absent = (absent_) }
#define NUMBER(heading_, member_, cell_, absent_)                                                  \
    {                                                                                              \
        .heading = (heading_), .member = (member_), .cell = (cell_), .absent = (absent_),          \
        .is_number = true                                                                          \
    }
#define JOINING(member_, cell_, join_)                                                             \
    { .member = (member_), .cell = (cell_), .absent = "", .join = (join_) }

struct listing {
    const struct column *columns;
    uint32_t count; /* at most TABLE_COLUMNS, with those that join */
    /* Appends what a member without a column says to the last column. NULL: it is skipped. */
    void (*others)(struct str member, struct json_reader *r, struct strbuf *out);
    const char *title; /* the first heading, instead of the column's own; NULL: that one */
};

/* ---- row by row ---- */

struct listing_rows {
    const struct listing *how; /* borrowed */
    struct table table;
    const char *headings[TABLE_COLUMNS];
    struct str cells[TABLE_COLUMNS]; /* of this row; .p is NULL where there is none yet */
};

/* `rows` must not move until it is rendered. */
void listing_begin(struct listing_rows *rows, const struct listing *how, struct arena *arena);
/* A cell of this row, by its member. The text is borrowed until the table is rendered. */
void listing_put(struct listing_rows *rows, const char *member, struct str text);
void listing_put_number(struct listing_rows *rows, const char *member, int64_t number);
void listing_end_row(struct listing_rows *rows);
/* Appends the table. Returns false if there was no memory for it. */
bool listing_render(const struct listing_rows *rows, struct strbuf *out);

/* ---- all at once ---- */

/* Appends an empty line and the table of a JSON array; nothing if it is empty or "". 0, -EINVAL if
 * it is no such array, or -ENOMEM. */
int listing_print(struct str array, const struct listing *how, struct arena *arena,
                  struct strbuf *out, struct err *err) MUST_CHECK;
