/*
 * kube-scheduler's default constraints are for pods without constraints: a pod that gets a
 * constraint from a policy would lose them. So the defaults are injected beside the policy's
 * constraints, unless the policy says that it replaces the defaults.
 */
#pragma once

#include "admission/pods/pods.h"

/*
 * Finds the default constraints, all soft, that the pod would lose: the constraints on keys that
 * the policy does not use and that every node has. The result is in the question's arena.
 * (kube-scheduler gives a node that lacks the key of any soft constraint no spread score at all.)
 * Finds none if the pod has constraints of its own, or while no node is known. Returns 0 or
 * -ENOMEM.
 */
int spread_defaults(const struct pod_question *q, const struct policy_spread **ret,
                    uint32_t *ret_count) MUST_CHECK;

/* Is the constraint equal to a default constraint? */
bool spread_is_default(const struct spread_constraint *c);
