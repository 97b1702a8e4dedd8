/*
 * Checks the part of TopologyPolicies that is for Placements against the clusters and Placements of
 * state files. Does any cluster have each key? Are there enough domains of each key? Does the
 * policy apply to any Placement?
 *
 * Belongs to one thread.
 */
#pragma once

#include "config/configuration.h"
#include "findings/findings.h"
#include "policy/status.h"

struct policy_clusters;

/* Reads the state files; without files, no cluster is known. Returns 0, or -errno with an error
 * that names file and place. policy_clusters_free() accepts NULL. */
int policy_clusters_load(const struct configuration *c, struct policy_clusters **ret,
                         struct err *err) MUST_CHECK;
void policy_clusters_free(struct policy_clusters *c);

/* Finds mistakes in the policy's terms. */
void policy_clusters_find(struct policy_clusters *c, const struct policy *policy,
                          struct findings *f);

struct policy_clusters_verdict {
    enum policy_reason reason; /* CLUSTERS_SUIT, or the reason against it */
    struct str message;        /* arena */
    uint32_t clusters;         /* number of clusters in the state */
    uint32_t placements; /* number of Placements in the state that the policy is for, and that have
                            no terms of their own */
};
/* Judges the policy `of`, one of `policies`, which must be sorted and have mode Enforce. Uses the
 * arena's steps. Returns 0, -E2BIG or -ENOMEM. */
int policy_clusters_judge(struct policy_clusters *c, struct policy_list policies,
                          const struct policy *of, struct arena *arena,
                          struct policy_clusters_verdict *ret) MUST_CHECK;
