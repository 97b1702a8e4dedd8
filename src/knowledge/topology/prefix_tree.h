/*
 * A tree of domains: region, then zone within region, then rack within zone. A *prefix* is a node
 * of the tree. The tree is built from domain ids, prefix by prefix; it knows nothing of Kubernetes.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

#define PREFIX_NONE UINT32_MAX

struct prefix {
    uint32_t parent; /* id of the parent, which is lower; PREFIX_NONE: this is the root */
    uint32_t domain;
};

struct prefix_tree {
    struct arena *arena; /* borrowed; holds everything */
    struct prefix *items;
    uint32_t count, cap;
    uint32_t *index; /* open addressing by (parent, domain) */
    uint32_t index_cap;
};

enum { PREFIX_ROOT = 0 };

/* Makes a tree with only the root. Returns 0 or -ENOMEM. */
int prefix_tree_init(struct prefix_tree *t, struct arena *arena) MUST_CHECK;
/* Returns the child of `parent` for this domain; makes it if needed. PREFIX_NONE: no memory. */
uint32_t prefix_make(struct prefix_tree *t, uint32_t parent, uint32_t domain);
