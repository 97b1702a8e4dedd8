/* JSON of many items, for the test of growth. */
#pragma once

#include "base/str.h"

/* A text with " for ', the number i of n for %u, and what is left to n for %X. */
void append_numbered(struct strbuf *out, const char *text, uint32_t i, uint32_t n);
