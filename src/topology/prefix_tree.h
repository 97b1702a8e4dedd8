/*
 * Domains in order: region, then zone within region, then rack within zone. A *prefix* is a node of
 * that tree; each candidate sits under one prefix per term. The tree knows how many group members
 * are below every prefix and the least and most among siblings (prefixes with the same parent). It
 * knows no Kubernetes: slots, domain ids and counts go in.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define PREFIX_NONE UINT32_MAX

struct prefix {
    uint32_t parent, term, domain;
    int64_t count;
    int64_t in_flight;   /* pods that may land below it; the caller's */
    uint32_t mark;       /* the caller's */
    int64_t least, most; /* among its children; least > most while it has none */
};

/* How many children of a parent have a count. */
struct prefix_siblings {
    int64_t count;
    uint32_t parent; /* PREFIX_NONE: the place is free */
    uint32_t children;
};

struct prefix_tree {
    struct arena *arena; /* borrowed; holds everything */
    struct prefix *items;
    uint32_t count, cap;
    uint32_t *index; /* open addressing by (parent, domain) */
    uint32_t index_cap;
    struct prefix_siblings *siblings; /* open addressing by (parent, count); NULL: not made yet */
    uint32_t siblings_cap, siblings_used;
};

enum { PREFIX_ROOT = 0 };

/* `expected` prefixes fit without growing. 0 or -ENOMEM. */
int prefix_tree_init(struct prefix_tree *t, struct arena *arena, uint32_t expected) MUST_CHECK;
/* The child of `parent` for this domain: PREFIX_NONE when there is none, or (make) a new one;
 * PREFIX_NONE: no memory. */
uint32_t prefix_find(const struct prefix_tree *t, uint32_t parent, uint32_t domain);
uint32_t prefix_make(struct prefix_tree *t, uint32_t parent, uint32_t domain);
/* Adds to the prefix and all above it. */
void prefix_add(struct prefix_tree *t, uint32_t prefix, int64_t by);
/* Computes least and most of every parent; call after counting. O(prefixes). */
void prefix_tree_settle(struct prefix_tree *t);
/* Adds 1 or -1 to a prefix and all above it in a tree that has been settled, and keeps least and
 * most right. O(terms), but for the first change, which is O(prefixes). */
void prefix_change(struct prefix_tree *t, uint32_t prefix, int64_t by);
