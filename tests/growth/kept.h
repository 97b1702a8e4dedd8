/*
 * Lists of which something is kept, or shown by an API server without end, for the test of growth.
 */
#pragma once

#include <stdint.h>

enum { KEPT_GROWTH_LISTS = 5 };

const char *kept_growth_verb(uint32_t list);
const char *kept_growth_name(uint32_t list);
/* What it takes to keep, to show or to give up n items of the list. 0: n is as many as nobody has.
 */
uint64_t kept_growth_work(uint32_t list, uint32_t n);
