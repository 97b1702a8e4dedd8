/* Reads numbers in options of the benchmarks. */
#pragma once

#include "base/str.h"

/* Returns false if the text is not a whole number from min to max. */
static inline bool number_in(const char *text, int64_t min, int64_t max, int64_t *ret) {
    return str_to_i64(str_of(text), ret) && *ret >= min && *ret <= max;
}

/* The same as number_in() from 1 to max. */
static inline bool number_u32(const char *text, uint32_t max, uint32_t *ret) {
    int64_t value;
    bool good = number_in(text, 1, max, &value);
    if (good)
        *ret = (uint32_t)value;
    return good;
}
