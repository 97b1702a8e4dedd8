/* Arrays that are sorted by the names of their items. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/* Returns the name of items[i] of any array. */
typedef struct str sorted_name_fn(const void *items, size_t i);

/* Returns the place of `name` among `count` items, or where it belongs if it is not there
 * (*ret_found). O(log count). */
size_t sorted_place(const void *items, size_t count, sorted_name_fn *name_of, struct str name,
                    bool *ret_found);

/* Returns a place of `text` in a sorted array of strings; UINT32_MAX: it is not there. O(log
 * count).
 */
uint32_t sorted_texts_find(const struct str *texts, uint32_t count, struct str text);

/* Copies an item of `size` bytes to a place in the array that `items` points to, which has room for
 * *cap items and grows by realloc(3): the owner owns items, count and cap, and frees them. Returns
 * false without memory, and changes nothing. */
bool sorted_insert(void *items, uint32_t *count, uint32_t *cap, size_t size, size_t at,
                   const void *item) MUST_CHECK;
/* Removes the item at a place from the array itself. */
void sorted_remove(void *array, uint32_t *count, size_t size, size_t at);
