/*
 * kube-scheduler's default constraints are for pods that have none: a pod that gets one from a
 * policy would lose them. So they are injected beside the policy's, unless the policy says that it
 * replaces them.
 */
#pragma once

#include "admission/pods/pods.h"

/*
 * Finds the default constraints, all soft, that the pod would lose, in the question's arena: those
 * on keys that the policy does not use and every node has. (kube-scheduler gives a node that lacks
 * the key of any soft constraint no spread score at all.) Finds none if the pod has constraints of
 * its own, or while no node is known. 0 or -ENOMEM.
 */
int spread_defaults(const struct pod_question *q, const struct policy_spread **ret,
                    uint32_t *ret_count) MUST_CHECK;

/* Is the constraint equal to a default one? */
bool spread_is_default(const struct spread_constraint *c);
