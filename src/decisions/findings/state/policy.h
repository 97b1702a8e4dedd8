/*
 * Findings about a TopologyPolicy: keys of its constraints that no node or cluster has, or that
 * have a single domain.
 *
 * Threads: any; take the read lock of the cache or of the store.
 */
#pragma once

#include "cache/cache.h"
#include "findings/findings.h"
#include "fleet/fleet.h"
#include "model/policy.h"

/* Find mistakes in the constraints for pods, by the nodes, and in the terms for Placements, by the
 * clusters. Without candidates there are no findings. Return 0, -E2BIG (out of steps) or -ENOMEM;
 * the findings so far stay. */
int findings_of_policy_nodes(struct cache *cache, const struct policy *policy, struct findings *f);
int findings_of_policy_clusters(struct fleet *fleet, const struct policy *policy,
                                struct findings *f);
