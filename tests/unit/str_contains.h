/* Looks for a text in a struct str, which has no terminating NUL. */
#pragma once

#include "unit/unit.h"

#include <string.h>

#define assert_str_contains(got, part) unit_assert_str_contains((got), (part), __FILE__, __LINE__)

static inline void unit_assert_str_contains(struct str got, const char *part, const char *file,
                                            int line) {
    if (got.n > 0 && memmem(got.p, got.n, part, strlen(part)) != NULL)
        return;
    print_error("'%.*s' does not contain '%s'\n", (int)got.n, got.n > 0 ? got.p : "", part);
    _fail(file, line);
}
