/*
 * How many replicas, or sets of components, the ResourceQuotas of a namespace leave. upstream:
 * karmada pkg/estimator/server, plugin ResourceQuotaEstimator (v1.18.1), behind its gate
 * ResourceQuotaEstimate.
 *
 * A quota counts for what its scopes select; only the scope PriorityClass can, and one that selects
 * is enough. Of its resources cpu, memory and extended ones count, bare or as "requests.NAME", the
 * latter first where there are both; limits, pods, storage and numbers of objects do not.
 */
#pragma once

#include "estimator/estimator.h"
#include "model/quota.h"

/* The free amount of a resource. */
struct quota_room {
    struct str name; /* without "requests." */
    __int128 nano;   /* may be below 0 */
    int64_t amount;  /* cpu in thousandths, others in whole units, rounded away from zero */
};
/* A quota, prepared once for all questions. */
struct estimator_quota {
    struct str namespace;
    const struct quota_scope *scopes; /* borrowed */
    uint32_t scope_count;
    const struct quota_room *rooms; /* by name, each once */
    uint32_t room_count;
};
/* In the arena; borrows the quota's strings. 0, -E2BIG (the steps are spent) or -ENOMEM. */
int estimator_quota_init(const struct quota *from, struct arena *arena,
                         struct estimator_quota *ret) MUST_CHECK;

/*
 * The least that any quota of the namespace leaves, less what q's assumed workloads of that
 * namespace take; ESTIMATE_MAX where none says anything. 0, -E2BIG or -ENOMEM.
 *
 * Replicas: the namespace and priority class are those of q's requirements; without requirements
 * there is no limit, and without a namespace all quotas count, as upstream lists them then. A quota
 * that is used beyond its limit leaves 0, where upstream would answer less than that.
 */
int estimator_quotas_replicas(const struct estimator_quota *quotas, uint32_t count,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) MUST_CHECK;
/* Sets: the namespace is q->set.namespace; without one, or without components, there is no limit.
 * Each component has a priority class of its own. */
int estimator_quotas_sets(const struct estimator_quota *quotas, uint32_t count,
                          const struct estimator_question *q, struct arena *arena,
                          int64_t *ret) MUST_CHECK;
