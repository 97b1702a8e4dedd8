#include "base/sorted.h"

#include <stdlib.h>
#include <string.h>

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

uint32_t sorted_texts_find(const struct str *texts, uint32_t count, struct str text) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = str_cmp(texts[middle], text);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT32_MAX;
}

bool sorted_insert(void *items, uint32_t *count, uint32_t *cap, size_t size, size_t at,
                   const void *item) {
    enum { FIRST = 16 };
    char *array; /* pointers to all types have the same representation */
    memcpy(&array, items, sizeof array);
    if (*count == *cap) {
        const uint32_t more = *cap > 0 ? 2 * *cap : FIRST;
        char *grown = reallocarray(array, more, size);
        if (grown == NULL)
            return false;
        memcpy(items, &grown, sizeof grown);
        array = grown;
        *cap = more;
    }
    memmove(array + (at + 1) * size, array + at * size, (*count - at) * size);
    memcpy(array + at * size, item, size);
    ++*count;
    return true;
}

void sorted_remove(void *array, uint32_t *count, size_t size, size_t at) {
    char *place = (char *)array + at * size;
    --*count;
    memmove(place, place + size, (*count - at) * size);
}
