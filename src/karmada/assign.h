/*
 * How many replicas each selected cluster gets. upstream: karmada pkg/scheduler/core assignment.go,
 * division_algorithm.go and pkg/util/helper (Webster's method).
 */
#pragma once

#include "karmada/karmada.h"

struct karmada_assignment {
    const struct target_cluster *clusters; /* in the arena, by name */
    uint32_t count;
    enum karmada_error kind;
    struct str error;
};
/*
 * `overflow`: candidates stand in tiers, by overflow_order. 0, -E2BIG (the arena's steps) or
 * -ENOMEM; that the replicas do not fit is no failure.
 */
int karmada_assign(const struct karmada_candidate *candidates, uint32_t count,
                   const struct binding_spec *spec, const struct binding_status *status,
                   bool overflow, const struct karmada_options *options, struct arena *arena,
                   struct karmada_assignment *ret, struct err *err) MUST_CHECK;
