/* What functions need that print JSON: memory, a text, and a place for an error. */
#pragma once

#include "unit/unit.h"

#include "base/arena.h"
#include "base/err.h"

struct printing {
    struct arena arena;
    struct strbuf out;
    struct err err;
};

/* cmocka's, whose state becomes a struct printing; a test has one at a time. */
int printing_setup(void **state);
int printing_teardown(void **state);
