/* Arrays that are sorted by the names of their items. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/* Returns the name of items[i] of any array. */
typedef struct str sorted_name_fn(const void *items, size_t i);

/* Returns the index of `name` among `count` items, and sets *ret_found. If the name is not found,
 * returns the index where it belongs. O(log count). */
size_t sorted_place(const void *items, size_t count, sorted_name_fn *name_of, struct str name,
                    bool *ret_found);

/* Returns an index of `text` in a sorted array of strings; UINT32_MAX if it is not found. O(log
 * count). */
uint32_t sorted_texts_find(const struct str *texts, uint32_t count, struct str text);

/* Inserts an item of `size` bytes at index `at`. `items` points to the pointer of the array, which
 * has room for *cap items and grows by realloc(3); the caller owns the array and frees it. Returns
 * false, and changes nothing, if there is no memory. */
bool sorted_insert(void *items, uint32_t *count, uint32_t *cap, size_t size, size_t at,
                   const void *item) MUST_CHECK;
/* Removes the item at index `at`; `array` is the array itself, not a pointer to its pointer. */
void sorted_remove(void *array, uint32_t *count, size_t size, size_t at);
