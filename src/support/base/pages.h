/*
 * Arrays that are large and do not stay: in pages of their own, which the kernel has back as soon
 * as they are freed. malloc() keeps what was freed for the next to ask, and a hole between blocks
 * that are in use for good.
 *
 * Small ones come from malloc(). An array's owner says how many bytes it has each time. It is freed
 * by pages_free() only.
 */
#pragma once

#include <stddef.h>

/* An array of `bytes` > 0 with what was in the `old` bytes at p, as far as there is room; p is NULL
 * and old 0 for a new one. What is new has any content. NULL without memory: p is as it was. */
void *pages_resize(void *p, size_t old, size_t bytes);
void pages_free(void *p, size_t bytes); /* NULL is fine */
