/*
 * For tests of decoders: one arena that setup and teardown own, and readers on literal texts.
 */
#pragma once

#include "base/json_reader.h"
#include "unit/unit.h"

extern struct arena decoding_arena;
int decoding_setup(void **state);
int decoding_teardown(void **state);

/* A reader at the start of the text, which must outlive what is decoded. */
struct json_reader decoding_reader(const char *json);
/* The text must have been read well and to its end. */
void decoding_good(const struct json_reader *r);
/* It must have been refused, in a sentence that contains these words. */
void decoding_refused(const struct json_reader *r, const char *words);

#define DECODING_TEST(name) cmocka_unit_test_setup_teardown(name, decoding_setup, decoding_teardown)
