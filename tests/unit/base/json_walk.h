/*
 * Reads whole documents in three ways, for tests of the JSON reader: skips them, walks every value
 * with the typed calls, and validates them with independent code, written from RFC 8259.
 */
#pragma once

#include "base/json_reader.h"

/* Each function returns 0 if the reader accepts `text` as one document, otherwise the error's code.
 */
int json_walk_skip(struct str text, struct err *err);
int json_walk_typed(struct str text, struct err *err);

/* Reads one value of any kind with the typed calls. */
void json_walk_value(struct json_reader *r);

/* Does the independent validator accept the text? Recursive: only for small documents. */
bool json_walk_reference(struct str text);
