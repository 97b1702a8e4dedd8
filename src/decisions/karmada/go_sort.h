/*
 * Sorts like Go's sort.Sort(), and leaves equal items in the same order as Go does. Karmada sorts
 * clusters by their replicas with sort.Sort(), and takes the first clusters that suffice. So its
 * choice among equal clusters follows from Go's algorithm: insertion sort up to 12 items, which
 * keeps equal items in their order, and a pattern-defeating quicksort for more items, which does
 * not keep their order. The same input always gives the same result. Facts: Go 1.19 and later,
 * package sort; Orson Peters, "Pattern-defeating Quicksort", 2021.
 */
#pragma once

#include <stdint.h>

struct go_sorted {
    int64_t key;
    uint32_t id; /* a number for the caller; it is not compared */
};

/* Sorts by key, the largest first. O(count x log(count)) for any input; no memory, no recursion. */
void go_sort_descending(struct go_sorted *items, uint32_t count);
