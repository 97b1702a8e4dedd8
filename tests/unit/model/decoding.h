/*
 * For tests of decoders: an arena that setup and teardown own, and readers of literal texts.
 */
#pragma once

#include "base/json_reader.h"
#include "unit/unit.h"

extern struct arena decoding_arena;
int decoding_setup(void **state);
int decoding_teardown(void **state);

/* Returns a reader at the start of the text; the text must outlive the decoded values. */
struct json_reader decoding_reader(const char *json);
/* The reader must have read the whole text without an error. */
void decoding_good(const struct json_reader *r);
/* The reader must have refused the text, with a sentence that contains these words. */
void decoding_refused(const struct json_reader *r, const char *words);

#define DECODING_TEST(name) cmocka_unit_test_setup_teardown(name, decoding_setup, decoding_teardown)
