/*
 * Which policies are a pod's, by its labels, its owner, and the labels of its namespace.
 *
 * Thread-safe as far as the cache is; nothing outlives the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cache/cache.h"
#include "model/object.h"
#include "model/policy.h"

struct policy_namespace {
    struct str name;
    struct labels labels;
    bool known; /* false: labels say nothing */
};

/* 0, also for a namespace that is not known, or -ENOMEM. `name` is borrowed. */
int policy_namespace_find(struct cache *cache, struct str name, struct arena *arena,
                          struct policy_namespace *ret) MUST_CHECK;

/*
 * What policies go by of a pod. Its owner is the controller that its ownerReferences name, and the
 * one above that where the pod's labels say so: the Deployment of a ReplicaSet (pod-template-hash),
 * the Rollout of Argo (rollouts-pod-template-hash). A pod without controller is its own owner.
 * The scheduler's name is left empty: for whoever wants it to count to fill in.
 */
struct policy_pod {
    const struct labels *labels;
    struct policy_owner owners[POLICY_OWNERS_MAX];
    uint32_t owner_count;
    struct str scheduler;
    bool opts_out, any_scheduler; /* as in struct policy_question */
};
struct policy_pod policy_pod_of(const struct object_meta *pod);

/* Of sorted policies the pod's. False, and none, as policy_match() says. */
bool policy_choose(const struct policy *policies, uint32_t count,
                   const struct policy_namespace *namespace, const struct policy_pod *pod,
                   struct policy_choice *ret);
