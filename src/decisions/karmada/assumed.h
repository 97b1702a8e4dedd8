/*
 * Keeps the replicas that earlier answers gave to bindings, as assumed workloads of the estimators
 * (estimator/estimator.h), so that later bindings see less room in the clusters.
 *
 * One thread. Memory and steps are the arena's.
 */
#pragma once

#include "karmada/assign.h"

struct karmada_assumed_cluster {
    struct str name;
    struct component_set *sets;
    uint32_t count, cap;
    struct component_set total; /* sum of all sets */
};
struct karmada_assumed {
    struct arena *arena;                      /* borrowed; outlives all questions */
    struct karmada_assumed_cluster *clusters; /* sorted by name */
    uint32_t count, cap;
};

/* Adds the replicas that the assignment gives to each cluster beyond spec.clusters. For a binding
 * with several components, adds one set of them for each new cluster. Borrows the binding. Returns
 * 0, -E2BIG or -ENOMEM. */
int karmada_assume(struct karmada_assumed *a, const struct binding *binding,
                   const struct karmada_assignment *assignment, struct err *err) MUST_CHECK;
/* Returns the assumed workloads of a cluster, valid until karmada_assume() is called again; NULL if
 * the cluster has no assumed workloads. `a` may be NULL. */
const struct karmada_assumed_cluster *karmada_assumed_of(const struct karmada_assumed *a,
                                                         struct str cluster);
