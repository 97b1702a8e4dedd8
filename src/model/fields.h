/*
 * Fields as CRDs define them: words of an enum, points in time, amounts. Errors stay in the reader.
 */
#pragma once

#include "base/json_reader.h"
#include "model/quantity.h"

/*
 * Reads a string that must be one of `words`, letter by letter, and returns its number; null counts
 * as `absent`. Any other word is an error of the reader, with the nearest of the list if one is
 * near ("'BuildIn': did you mean 'BuiltIn'?"), and with the whole list otherwise. Where the empty
 * word counts, too, it is the last.
 */
uint32_t word_decode(struct json_reader *r, const char *const *words, uint32_t count,
                     uint32_t absent);

/* Reads a date-time, as milliseconds since 1970. False: it was null, or an error. */
bool time_decode(struct json_reader *r, int64_t *ret_ms);

/*
 * Reads a quantity as quantity_decode() does. One that cannot be read leaves an error whose code is
 * -EDOM, so that a question can be answered "this cannot be read" while one that is no question at
 * all (another type, no JSON) is refused with -EINVAL.
 */
struct quantity amount_decode(struct json_reader *r, struct str *ret_text);
