/*
 * Estimates how many replicas, or sets of components, the ResourceQuotas of a namespace allow.
 * upstream: karmada pkg/estimator/server, plugin ResourceQuotaEstimator (v1.18.1), behind its gate
 * ResourceQuotaEstimate.
 *
 * A quota counts if one of its scopes selects the pods; only the scope PriorityClass can select.
 * Its cpu, memory and extended resources count, as "NAME" or "requests.NAME"; the latter wins if a
 * quota has both. Limits, pods, storage and numbers of objects do not count.
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
    const struct quota_room *rooms; /* sorted by name, each name once */
    uint32_t room_count;
};
/* Prepares a quota in the arena; borrows its strings. Returns 0, -E2BIG (the steps are spent) or
 * -ENOMEM.
 */
int estimator_quota_init(const struct quota *from, struct arena *arena,
                         struct estimator_quota *ret) MUST_CHECK;

/*
 * Both functions get the smallest number that any quota of the namespace allows, after q's assumed
 * workloads of that namespace; ESTIMATE_MAX if no quota sets a limit. They return 0, -E2BIG or
 * -ENOMEM.
 *
 * Replicas: uses the namespace and priority class of q's requirements; without requirements there
 * is no limit, and without a namespace all quotas count, as in upstream. A quota that is used
 * beyond its limit allows 0, while upstream's answer would be below 0.
 */
int estimator_quotas_replicas(const struct estimator_quota *quotas, uint32_t count,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) MUST_CHECK;
/* Sets: the namespace is q->set.namespace; without a namespace, or without components, there is no
 * limit. Each component has a priority class of its own. */
int estimator_quotas_sets(const struct estimator_quota *quotas, uint32_t count,
                          const struct estimator_question *q, struct arena *arena,
                          int64_t *ret) MUST_CHECK;
