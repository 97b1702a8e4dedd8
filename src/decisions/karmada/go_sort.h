/*
 * Sorts like Go's sort.Sort(), with equal items in the same order. Karmada sorts clusters by their
 * replicas with it, and takes the first that suffice, so its choice among equal ones follows from
 * Go's algorithm: insertion up to 12 items, which keeps equal ones in order, and for more items a
 * pattern-defeating quicksort, which does not. The same input always gives the same result.
 * Facts: Go 1.19 and later, package sort; Orson Peters, "Pattern-defeating Quicksort", 2021.
 */
#pragma once

#include <stdint.h>

struct go_sorted {
    int64_t key;
    uint32_t id; /* a number for the caller; it is not compared */
};

/* Sorts by key, the largest first. O(count x log(count)) for any input; no memory, no recursion. */
void go_sort_descending(struct go_sorted *items, uint32_t count);
