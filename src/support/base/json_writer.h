/*
 * Writes JSON into a strbuf: commas, quotes and escapes are its business, order and completeness
 * the caller's. Strings are taken as valid UTF-8 (the reader let nothing else in); control
 * characters, quotes and backslashes are escaped. Not thread-safe. Failure (the buffer's maximum,
 * memory) is asked once of the buffer: strbuf_failed().
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct json_writer {
    struct strbuf *out; /* borrowed */
    bool comma;         /* something stands before us in this container */
};

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, struct str key);
void json_put_string(struct json_writer *w, struct str s);
/* The same for text that may have been cut inside a character: malformed bytes become U+FFFD. */
void json_put_text(struct json_writer *w, struct str s);
void json_put_integer(struct json_writer *w, int64_t value);
/* A finite number, in the fewest digits that are read back as the same double. */
void json_put_number(struct json_writer *w, double value);
void json_put_bool(struct json_writer *w, bool value);
void json_put_null(struct json_writer *w);
/* Bytes that are JSON already: a value, or a comma-separated run of elements. */
void json_put_raw(struct json_writer *w, struct str json);

/* "key": "value", the commonest pair. */
static inline void json_put_member(struct json_writer *w, struct str key, struct str value) {
    json_key(w, key);
    json_put_string(w, value);
}
