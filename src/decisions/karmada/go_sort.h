/*
 * The order in which Go's sort.Sort() leaves equal items. Karmada sorts clusters by their replicas
 * with it, and takes the first that suffice, so which of the equal ones are taken follows from how
 * Go sorts: by insertion up to 12 items, which keeps equal ones in order, and beyond by a
 * pattern-defeating quicksort, which does not. It is the same for the same input, though.
 * Facts: Go 1.19 and later, package sort; Orson Peters, "Pattern-defeating Quicksort", 2021.
 */
#pragma once

#include <stdint.h>

struct go_sorted {
    int64_t key;
    uint32_t id; /* the caller's; it is not compared */
};

/* Sorts by key, the largest first. O(count x log(count)) for any input; no memory, no recursion. */
void go_sort_descending(struct go_sorted *items, uint32_t count);
