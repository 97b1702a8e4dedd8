#include "base/sorted.h"

size_t sorted_place(const void *items, size_t count, sorted_name_fn *name_of, struct str name,
                    bool *ret_found) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (str_cmp(name_of(items, middle), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = low < count && str_eq(name_of(items, low), name);
    return low;
}
