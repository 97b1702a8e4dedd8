/*
 * How many replicas each selected cluster gets. upstream: karmada pkg/scheduler/core common.go,
 * assignment.go, division_algorithm.go and pkg/util/helper (Webster's method).
 *
 * Otherwise than upstream: sums have 64 bits (see divide.h); clusters that spec.clusters has twice
 * have the sum of both; pre-v1.16 division (options->division) draws no lots, the first name wins.
 */
#pragma once

#include "karmada/karmada.h"

struct karmada_assignment {
    const struct target_cluster *clusters; /* in the arena, by name; names are the candidates' */
    uint32_t count;
    enum karmada_error kind; /* KARMADA_UNSCHEDULABLE or KARMADA_ERROR: there are no clusters */
    struct str error;        /* without the prefix of the caller's */
};
/*
 * `candidates` stand in the order in which they were selected, which decides between equal ones. Of
 * a candidate count: cluster (its name; all of it for rules of static weights), allocatable,
 * available and overflow_order (both with `overflow`; KARMADA_NOT_GIVEN stands for allocatable and
 * replicas of today). Replicas of today are those of
 * spec->clusters; clusters that are no candidates any more are passed over.
 *
 * Clusters with 0 replicas are in the answer where there is nothing to divide (no replicas and no
 * requirements, or several components), and with options->empty_propagation.
 *
 * `overflow`: candidates stand in tiers, by overflow_order; a tier receives what it can hold, and
 * the next one what remains. 0, -E2BIG (the arena's steps) or -ENOMEM; that the replicas do not fit
 * is no failure.
 */
int karmada_assign(const struct karmada_candidate *candidates, uint32_t count,
                   const struct binding_spec *spec, const struct binding_status *status,
                   bool overflow, const struct karmada_options *options, struct arena *arena,
                   struct karmada_assignment *ret, struct err *err) MUST_CHECK;

/* Do candidates stand in tiers: has the affinity term that is in force overflowAffinities?
 * upstream: enableOverflow() */
bool karmada_assign_overflows(const struct binding_spec *spec, const struct binding_status *status);
