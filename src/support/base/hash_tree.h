/*
 * A search tree of records, ordered by the keyed hash of their key. Nobody can choose such hashes,
 * so they are as good as random, and the tree is about 2 ln(n) deep without balancing. Use it for
 * lists that are usually empty or short, but that users may make long. No record is removed; the
 * owner of the records drops the whole tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_node {
    uint64_t hash;
    struct hash_node *smaller, *others;
};

typedef bool hash_tree_equal_fn(const struct hash_node *node, const void *key);

/* Returns the pointer that points to the record with this key. If that pointer is NULL, the key is
 * new: the caller sets the hash of its new record and stores the record there. */
static inline struct hash_node **hash_tree_place(struct hash_node **root, uint64_t hash,
                                                 hash_tree_equal_fn *equal, const void *key) {
    struct hash_node **at = root;
    while (*at != NULL && !((*at)->hash == hash && equal(*at, key)))
        at = hash < (*at)->hash ? &(*at)->smaller : &(*at)->others;
    return at;
}
