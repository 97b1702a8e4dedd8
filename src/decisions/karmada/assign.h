/*
 * Divides replicas among the selected clusters. upstream: karmada pkg/scheduler/core common.go,
 * assignment.go, division_algorithm.go and pkg/util/helper (Webster's method).
 *
 * Differences from upstream: sums have 64 bits (see divide.h); if spec.clusters has a cluster
 * twice, the two numbers of replicas are added; division as before v1.16 draws no lots: the first
 * name wins.
 */
#pragma once

#include "karmada/karmada.h"

struct karmada_assignment {
    const struct target_cluster
        *clusters; /* in the arena, sorted by name; borrows candidates' names */
    uint32_t count;
    enum karmada_error kind; /* empty unless this is KARMADA_OK */
    struct str error;        /* the reason; the caller adds a prefix */
};
/*
 * `candidates` are in the order of their selection, which decides between equal candidates.
 * karmada_assign() reads the members cluster (only the name; for rules of static weights
 * everything) and allocatable; with `overflow` also available (KARMADA_NOT_GIVEN: allocatable +
 * replicas of today) and overflow_order. Replicas of today are the replicas in spec->clusters;
 * clusters there that are no longer candidates are skipped.
 *
 * Clusters with 0 replicas are in the answer if there is nothing to divide (no replicas and no
 * requirements, or several components), and with options->empty_propagation.
 *
 * `overflow`: candidates form tiers, by overflow_order; a tier gets as many replicas as it can
 * hold, and the next tier the rest. Returns 0, -E2BIG (the arena's steps are spent) or -ENOMEM;
 * replicas that do not fit are no failure.
 */
int karmada_assign(const struct karmada_candidate *candidates, uint32_t count,
                   const struct binding_spec *spec, const struct binding_status *status,
                   bool overflow, const struct karmada_options *options, struct arena *arena,
                   struct karmada_assignment *ret, struct err *err) MUST_CHECK;

/* Do candidates form tiers? Yes if the affinity term in force has overflowAffinities. upstream:
 * enableOverflow() */
bool karmada_assign_overflows(const struct binding_spec *spec, const struct binding_status *status);
