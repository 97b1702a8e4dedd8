/* Arrays that are kept in the order of the names of their items. */
#pragma once

#include "base/str.h"

/* The name of items[i]; whatever the array is. */
typedef struct str sorted_name_fn(const void *items, size_t i);

/* Where `name` is among `count` items, or, if it is not (*ret_found), where it belongs. O(log
 * count). */
size_t sorted_place(const void *items, size_t count, sorted_name_fn *name_of, struct str name,
                    bool *ret_found);
