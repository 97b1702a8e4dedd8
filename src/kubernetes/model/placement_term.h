/*
 * One term of how the clusters of a Placement are spread: of its own spec.spreadPolicy, or of a
 * TopologyPolicy's section `placements`. Terms are in order of importance. A shape only; the key is
 * borrowed from what it was decoded from.
 *
 * upstream: open-cluster-management.io/api cluster/v1beta1 SpreadConstraintsTerm (v1.2.0), which
 * has no minDomains, and its CRD.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLACEMENT_TERMS = 8 }; /* at most */

struct placement_term {
    struct str key;
    bool is_claim;       /* topologyKeyType Claim; otherwise Label */
    int32_t max_skew;    /* >= 1; 1 when not given */
    int32_t min_domains; /* >= 1; 0: not given */
    bool hard;           /* DoNotSchedule; ScheduleAnyway when not given */
};

/* The terms that a TopologyPolicy has for Placements without terms of their own; all zero: no
 * policy has any. Borrowed. */
struct ocm_policy_terms {
    const struct placement_term *items;
    uint32_t count;     /* at most PLACEMENT_TERMS */
    struct str policy;  /* its name */
    struct str warning; /* a sentence about a policy that is only audited; "" */
};
