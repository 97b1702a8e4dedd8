/* Reads and writes bytes as hex digits, as in questions and answers. */
#pragma once

#include "base/json_reader.h"
#include "base/str.h"

/* Reads a string of pairs of hex digits of either case, into the arena. "" gives no bytes, with .p
 * not NULL; null gives .p NULL. Errors stay in r. */
struct str hex_decode(struct json_reader *r);
/* Appends the bytes as lower-case digits. */
void hex_append(struct str bytes, struct strbuf *out);
