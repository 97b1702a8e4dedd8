/* Arrays that are kept in the order of the names of their items. */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* The name of items[i]; whatever the array is. */
typedef struct str sorted_name_fn(const void *items, size_t i);

/* Where `name` is among `count` items, or, if it is not (*ret_found), where it belongs. O(log
 * count). */
size_t sorted_place(const void *items, size_t count, sorted_name_fn *name_of, struct str name,
                    bool *ret_found);

/* Puts a copy of the `size` bytes of an item at a place of the array that `items` points to, which
 * has room for *cap of them and grows by realloc(3): items, count and cap are the owner's, who
 * frees it. False: there is no memory, and nothing has changed. */
bool sorted_insert(void *items, uint32_t *count, uint32_t *cap, size_t size, size_t at,
                   const void *item) MUST_CHECK;
/* Takes the one at a place out of the array itself. */
void sorted_remove(void *array, uint32_t *count, size_t size, size_t at);
