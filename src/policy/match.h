/*
 * Which policy is a pod's, by the labels of the pod and of its namespace.
 *
 * Thread-safe as far as the cache is; nothing outlives the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cache/cache.h"
#include "model/policy.h"

struct policy_namespace {
    struct str name;
    struct labels labels;
    bool known; /* false: labels say nothing */
};

/* 0, also for a namespace that is not known, or -ENOMEM. `name` is borrowed. */
int policy_namespace_find(struct cache *cache, struct str name, struct arena *arena,
                          struct policy_namespace *ret) MUST_CHECK;

/* Of sorted policies the pod's, or NULL. *ret_unknown as policy_match() sets it. */
const struct policy *policy_choose(const struct policy *policies, uint32_t count,
                                   const struct policy_namespace *namespace,
                                   const struct labels *pod, bool *ret_unknown);
