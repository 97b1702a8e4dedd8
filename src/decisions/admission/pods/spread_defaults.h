/*
 * kube-scheduler's default constraints are for pods that have none: a pod that gets one from a
 * policy would lose them. So they are injected beside the policy's, unless the policy says that it
 * replaces them.
 */
#pragma once

#include "admission/pods/pods.h"

/*
 * The default constraints, soft ones, that the pod would lose, in the question's arena: of keys
 * that the policy does not have, and that every node has. (A node without the key of any soft
 * constraint of a pod gets no score for evenness at all, which by default it would.) None where the
 * pod has constraints of its own, and none while nodes are not known. 0 or -ENOMEM.
 */
int spread_defaults(const struct pod_question *q, const struct policy_spread **ret,
                    uint32_t *ret_count) MUST_CHECK;

/* Does a constraint ask for what a default one does? */
bool spread_is_default(const struct spread_constraint *c);
