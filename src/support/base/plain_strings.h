/*
 * The fast part of reading a long JSON array of short strings, as NodeNames is: 64 bytes at a time,
 * without a decision per byte or per string. It reads what programs write, `"a","b","c"` in
 * printable ASCII without blanks and escapes, and stops before anything else: json_reader.c, which
 * knows all of JSON, goes on from there. Where the processor has no SSE2 it reads nothing, and
 * json_reader.c does it all.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/*
 * Reads strings from `p`, which stands on the quote of the first, into ret[0..room). Returns how
 * many, and where the last one ends: behind its quote (`p` if it has read none). The strings are
 * slices of the text. It may stop early at any string, and does so within 66 bytes of `end`.
 */
uint32_t plain_strings(const char *p, const char *end, struct str *ret, uint32_t room,
                       const char **ret_after);
