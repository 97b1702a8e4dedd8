/*
 * One constraint on how the clusters of a Placement are spread: from its spec.spreadPolicy, or from
 * the section `placements` of a TopologyPolicy. Terms are in order of importance. The key is
 * borrowed from the decoded text or its arena.
 *
 * upstream: open-cluster-management.io/api cluster/v1beta1 SpreadConstraintsTerm (v1.2.0), which
 * has no minDomains, and its CRD.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLACEMENT_TERMS = 8 }; /* most terms of a Placement */

struct placement_term {
    struct str key;
    bool is_claim;       /* topologyKeyType Claim; otherwise Label */
    int32_t max_skew;    /* >= 1; 1 when not given */
    int32_t min_domains; /* >= 1; 0: not given */
    bool hard;           /* DoNotSchedule; ScheduleAnyway when not given */
};

/* The terms of a TopologyPolicy for Placements without their own terms; all zero: no policy has
 * such terms. Borrowed. */
struct ocm_policy_terms {
    const struct placement_term *items;
    uint32_t count;     /* at most PLACEMENT_TERMS */
    struct str policy;  /* name of the policy */
    struct str warning; /* a sentence about a policy that is only audited; "" */
};
