/*
 * Reading whole documents with the JSON reader, for its tests: by skipping, by walking every value
 * with the typed calls, and by a validator written independently of it, straight from RFC 8259.
 */
#pragma once

#include "base/json_reader.h"

/* Each returns 0 when the reader accepts `text` as one document, or the error's code. */
int json_walk_skip(struct str text, struct err *err);
int json_walk_typed(struct str text, struct err *err);

/* Reads one value, whatever it is, with the typed calls. */
void json_walk_value(struct json_reader *r);

/* Does the reference accept it? Recursive: for small documents. */
bool json_walk_reference(struct str text);
