/*
 * Writes JSON into a strbuf. The writer adds commas, quotes and escapes; the caller is responsible
 * for order and completeness. Strings must be valid UTF-8 (the reader accepts nothing else);
 * control characters, quotes and backslashes are escaped. Not thread-safe. Check once, with
 * strbuf_failed(), whether the buffer reached its maximum or memory ran out.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct json_writer {
    struct strbuf *out; /* borrowed */
    bool comma;         /* a comma must come before the next item */
};

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, struct str key);
void json_put_string(struct json_writer *w, struct str s);
/* The same as json_put_string() for text that may end in the middle of a character: malformed bytes
 * become U+FFFD. */
void json_put_text(struct json_writer *w, struct str s);
void json_put_integer(struct json_writer *w, int64_t value);
/* Writes a finite number with the fewest digits that read back as the same double. */
void json_put_number(struct json_writer *w, double value);
void json_put_bool(struct json_writer *w, bool value);
void json_put_null(struct json_writer *w);
/* Appends bytes that are already JSON: a value, or elements with commas between them. */
void json_put_raw(struct json_writer *w, struct str json);

/* Writes "key": "value", the most common pair. */
static inline void json_put_member(struct json_writer *w, struct str key, struct str value) {
    json_key(w, key);
    json_put_string(w, value);
}
