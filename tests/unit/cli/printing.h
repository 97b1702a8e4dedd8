/* The arguments of functions that print JSON: memory, a text, and an error. */
#pragma once

#include "unit/unit.h"

#include "base/arena.h"
#include "base/err.h"

struct printing {
    struct arena arena;
    struct strbuf out;
    struct err err;
};

/* Functions for cmocka; *state becomes a struct printing. A test has one at a time. */
int printing_setup(void **state);
int printing_teardown(void **state);
