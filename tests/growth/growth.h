/* What the files of this test share. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct list {
    const char *name;
    const char *before, *after; /* around the items of a pod */
    const char *item; /* its %u is the number of the item, twice at most; %X counts down instead */
    const char *between;
};

enum { FIRST = 128 }; /* items, of a list whose items are many */

void append_items(struct strbuf *out, const struct list *list, uint32_t n);
/* Whether a doubling from this to that is too much; it is printed, and with GROWTH_SHOW all are. */
bool grows(const char *list, const char *verb, int setting, uint32_t n, uint64_t before,
           uint64_t now);

/* Is the next list in the part that is asked for? $PART is "3/10": every tenth, from the fourth on;
 * without it all are. */
bool growth_in_part(void);

/* Tests in files of their own. */
void lines_of_fleets(void **state);
