/*
 * The store of an informer with Karmada's Clusters, for karmada.c only.
 */
#pragma once

#include "informer/informer.h"
#include "members/karmada_access.h"

enum { KARMADA_CLUSTER_ARENA = 32768 }; /* bytes of a copy, at most */

struct known_cluster {
    struct arena arena; /* owns the cluster */
    struct member_cluster cluster;
    uint64_t serial; /* changes with the cluster */
    uint32_t id;     /* of the record */
    bool is_gone;    /* the listing that is ending has dropped it */
};

/* All Clusters. */
struct clusters {
    struct pool records;          /* struct known_cluster */
    struct known_cluster **items; /* sorted by name; the array is owned, items are records */
    uint32_t count, cap;
    uint64_t serial;
};

/* The contents are a struct clusters. */
extern const struct informer_store karmada_clusters;
/* Returns the place of the name, or where it would be. O(log Clusters). */
uint32_t karmada_clusters_find(const struct clusters *c, struct str name, bool *ret_found);
