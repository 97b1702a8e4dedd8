/*
 * Tables for people: aligned columns, the last one wrapped. Each byte counts as one column of the
 * terminal, so text beyond ASCII may be a little off.
 *
 *     NODE    ZONE  SCORE
 *     node-1  a        10
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { TABLE_COLUMNS = 16 };

struct table {
    struct arena *arena;         /* borrowed */
    const char *const *headings; /* borrowed */
    uint32_t columns;            /* at most TABLE_COLUMNS */
    uint32_t right_aligned;      /* bit i: column i holds numbers */
    uint32_t width;              /* the last column is wrapped at this width; 0: never ... */
    uint32_t narrowest;          /* ... but never made narrower than this */
    bool fits; /* no line is wider than `width`: all columns are wrapped, and words that are too
                  long are broken */
    uint32_t widest;   /* longer cells in all columns but the last are cut, with "..."; 0: never */
    struct str *cells; /* row by row; arena */
    uint32_t cell_count, cell_cap;
};

void table_init(struct table *t, const char *const *headings, uint32_t columns,
                struct arena *arena);
/* Adds the next cell, left to right and row by row. The text is borrowed until the table is
 * rendered; a '\n' starts a new line in the same column, other control characters become '?'. */
void table_cell(struct table *t, struct str text);
/* The same as table_cell() for a number. */
void table_number(struct table *t, int64_t number);
/* Appends text for a terminal. Control characters, U+0080 to U+009F among them, become '?', as in a
 * cell. */
void table_text(struct str text, struct strbuf *out);
/* Appends headings and rows. The last row must be complete. Returns false if memory ran out. */
bool table_render(const struct table *t, struct strbuf *out);
