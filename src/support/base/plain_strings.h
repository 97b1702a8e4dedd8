/*
 * Reads a long JSON array of short strings, such as NodeNames, fast: 64 bytes at a time, without a
 * branch per byte or per string. It reads the form that programs write, `"a","b","c"` in printable
 * ASCII without blanks and escapes, and stops before anything else: json_reader.c continues there.
 * Without SSE2 it reads nothing, and json_reader.c reads all strings.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/*
 * Reads strings from `p`, which points to the first string's quote, into ret[0..room). Returns
 * their number, and sets *ret_after to the byte behind the last string's closing quote (`p` if no
 * string was read). The strings are slices of the text. It may stop early at any string, and always
 * stops in the last 66 bytes before `end`.
 */
uint32_t plain_strings(const char *p, const char *end, struct str *ret, uint32_t room,
                       const char **ret_after);
