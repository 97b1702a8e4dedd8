/*
 * Karmada's Clusters as the watch shows them: the store of an informer, for karmada.c only.
 */
#pragma once

#include "informer/informer.h"
#include "members/cluster_access.h"

enum { KARMADA_CLUSTER_ARENA = 32768 }; /* bytes of a copy, at most */

struct known_cluster {
    struct arena arena; /* of the cluster */
    struct member_cluster cluster;
    uint64_t serial; /* another one after each change */
    uint32_t id;     /* of the record */
};

/* All of them. */
struct clusters {
    struct pool records;          /* struct known_cluster */
    struct known_cluster **items; /* by name; the array is owned, items are records */
    uint32_t count, cap;
    uint64_t serial;
};

/* Its contents are a struct clusters. */
extern const struct informer_store karmada_clusters;
/* Where the name is, or would be. O(log Clusters). */
uint32_t karmada_clusters_find(const struct clusters *c, struct str name, bool *ret_found);
