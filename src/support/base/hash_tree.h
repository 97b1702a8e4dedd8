/*
 * A search tree through records that know the keyed hash of their key. Hashes that nobody can
 * choose are as good as random, so the tree is never balanced and still about 2 ln(n) deep. For
 * lists that are usually empty or short, but as long as a user likes. Nothing is taken out; whoever
 * owns the records forgets the tree as a whole.
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

/* Where the record with this key is, or, if that place is NULL, where it belongs: the caller sets
 * the hash of a new record and puts it there. */
static inline struct hash_node **hash_tree_place(struct hash_node **root, uint64_t hash,
                                                 hash_tree_equal_fn *equal, const void *key) {
    struct hash_node **at = root;
    while (*at != NULL && !((*at)->hash == hash && equal(*at, key)))
        at = hash < (*at)->hash ? &(*at)->smaller : &(*at)->others;
    return at;
}
