/*
 * Large arrays that do not live long. They have their own pages, which go back to the kernel as
 * soon as an array is freed. malloc() would keep freed memory for later calls, and would keep
 * unused holes between used blocks for ever.
 *
 * Small arrays come from malloc(). The owner passes an array's size in each call. Only pages_free()
 * frees it.
 */
#pragma once

#include <stddef.h>

/* Returns an array of `bytes` > 0 bytes that begins with a copy of the `old` bytes at p, as far as
 * they fit; for a new array, pass NULL and 0. New bytes are not set. Returns NULL without memory;
 * then p is unchanged. */
void *pages_resize(void *p, size_t old, size_t bytes);
void pages_free(void *p, size_t bytes); /* NULL is fine */
