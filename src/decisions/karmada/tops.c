#include "karmada/tops.h"

#include <errno.h>
#include <stdlib.h>

/* If more cells than this are needed, all places share one row, which needs a sort only. */
enum { MOST_CELLS = 1 << 20 };

int tops_init(struct tops *t, uint32_t count, uint32_t depth, size_t cells, struct arena *arena) {
    const size_t width = (size_t)depth + 1, all = ((size_t)count + 1) * width;
    *t = (struct tops){.cells = all < cells ? all : cells > width ? cells : width};
    t->rows = arena_array_unset(arena, t->cells, sizeof *t->rows);
    t->largest = arena_array_unset(arena, count, sizeof *t->largest);
    return arena_failed(arena) ? -ENOMEM : 0;
}

static int compare_descending(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

static void write_row(const struct tops *t, int64_t *row, uint32_t known) {
    row[0] = 0;
    for (uint32_t k = 1; k < t->width; k++)
        if (k > known)
            row[k] = row[k - 1];
        else if (__builtin_add_overflow(row[k - 1], t->largest[k - 1], &row[k]))
            row[k] = INT64_MAX;
}

/* Inserts a value into the sorted list of the `depth` largest values. Returns the new length of the
 * list. */
static uint32_t keep_largest(int64_t *largest, uint32_t known, uint32_t depth, int64_t value) {
    uint32_t at = known;
    if (known == depth) {
        if (depth == 0 || largest[depth - 1] >= value)
            return known;
        at--;
    }
    for (; at > 0 && largest[at - 1] < value; at--)
        largest[at] = largest[at - 1];
    largest[at] = value;
    return known < depth ? known + 1 : known;
}

uint64_t tops_build(struct tops *t, const int64_t *values, uint32_t count, uint32_t depth) {
    const uint64_t cells = ((uint64_t)count + 1) * ((uint64_t)depth + 1);
    uint32_t known = 0;
    t->width = depth + 1;
    if (cells > MOST_CELLS || t->cells < 2 * (size_t)t->width) {
        t->stride = count + 1;
        memcpy(t->largest, values, count * sizeof *values);
        qsort(t->largest, count, sizeof *values, compare_descending);
        write_row(t, t->rows, count);
        return (uint64_t)count / 8 + 1;
    }
    t->stride = (uint32_t)(cells / t->cells) + 1;
    while ((count / t->stride + 1) * (size_t)t->width > t->cells)
        t->stride++;
    for (uint32_t i = count + 1; i-- > 0;) {
        if (i < count)
            known = keep_largest(t->largest, known, depth, values[i]);
        if (i % t->stride == 0)
            write_row(t, t->rows + (size_t)(i / t->stride) * t->width, known);
    }
    return cells / 512 + 1;
}
