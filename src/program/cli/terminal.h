/*
 * The terminal that standard output may be. Tests print as into a file, wherever they run.
 */
#pragma once

#include "base/table.h"

/* From now on no line of a table is wider than the terminal, if there is one. Call once, at the
 * start of the program. */
void terminal_use(void);
/* Its columns; 0: lines may be as long as they like. */
uint32_t terminal_width(void);
/* table_init() of a table that keeps to it. */
void terminal_table_init(struct table *t, const char *const *headings, uint32_t columns,
                         struct arena *arena);
