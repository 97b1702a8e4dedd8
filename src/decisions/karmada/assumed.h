/*
 * The replicas that bindings get which were answered before, as assumed workloads of the estimators
 * (estimator/estimator.h): so later bindings see the clusters with less room.
 *
 * One thread. Memory and steps are the arena's.
 */
#pragma once

#include "karmada/assign.h"

struct karmada_assumed_cluster {
    struct str name;
    struct component_set *sets;
    uint32_t count, cap;
    struct component_set total; /* of all sets */
};
struct karmada_assumed {
    struct arena *arena;                      /* borrowed; outlives all questions */
    struct karmada_assumed_cluster *clusters; /* by name */
    uint32_t count, cap;
};

/* Adds the replicas that the clusters get beyond those of spec.clusters, or a set of the components
 * for each cluster that is new. Borrows the binding. Returns 0, -E2BIG or -ENOMEM. */
int karmada_assume(struct karmada_assumed *a, const struct binding *binding,
                   const struct karmada_assignment *assignment, struct err *err) MUST_CHECK;
/* Returns the assumed workloads of a cluster, valid until the next are added; NULL: none. `a` may
 * be NULL. */
const struct karmada_assumed_cluster *karmada_assumed_of(const struct karmada_assumed *a,
                                                         struct str cluster);
