/*
 * Counts a Deployment's newest pods that no scheduler can place. upstream: karmada
 * pkg/estimator/server/replica replica.go, and the deployment utilities that it took from
 * Kubernetes (v1.18.1).
 */
#pragma once

#include "estimator/wire.h"
#include "model/karmada_pod.h"
#include "model/karmada_workload.h"

/*
 * Counts pods of the oldest ReplicaSet that has the Deployment's template. A pod counts if its
 * condition PodScheduled has been False with reason Unschedulable for longer than the threshold; a
 * threshold below 0 counts as 0. One pass over each list. Returns 0, -EINVAL (the Deployment's
 * selector does not compile), -E2BIG (the arena's steps are spent) or -ENOMEM.
 */
struct unschedulable_question {
    const struct karmada_workload *deployment;
    const struct karmada_workload *replica_sets;
    uint32_t replica_set_count;
    const struct karmada_pod *pods;
    uint32_t pod_count;
    int64_t threshold_ns;
    int64_t now_ms; /* milliseconds since 1970 */
};
int estimator_unschedulable(const struct unschedulable_question *q, struct arena *arena,
                            int64_t *ret, struct err *err) MUST_CHECK;

/* Returns why a well-formed request can have no answer in any cluster, in upstream's words: only
 * Deployments are counted. "": it may have an answer, or the arena has failed. */
struct str estimator_unschedulable_refusal(const struct wire_unschedulable *asked,
                                           struct arena *arena);
