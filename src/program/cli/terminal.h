/*
 * The terminal behind standard output, if any. Before terminal_use() lines have no limit.
 */
#pragma once

#include "base/table.h"

/* Keeps tables within the terminal's width from now on, if there is a terminal. Call once, at the
 * start of the program. */
void terminal_use(void);
/* Returns the terminal's columns; 0: lines have no limit. */
uint32_t terminal_width(void);
/* Calls table_init(), and limits the table to the terminal's width. */
void terminal_table_init(struct table *t, const char *const *headings, uint32_t columns,
                         struct arena *arena);
