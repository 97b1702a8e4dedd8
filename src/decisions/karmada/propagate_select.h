/* Decides whether a policy of Karmada selects an object. A part of karmada/propagate.h. */
#pragma once

#include "karmada/propagate.h"

/* If the policy does not select the object, sets path, reason and remedy of *ret; of several
 * selectors, the nearest gives the reason. Returns 0, -E2BIG (the arena's steps are spent) or
 * -ENOMEM. upstream: Reconcile(), EventFilter(), LookForMatchedPolicy(),
 * ResourceSelectorPriority(). */
int propagation_selects(const struct propagation_policy *policy,
                        const struct propagated_object *object, struct arena *arena,
                        bool *ret_selects, struct karmada_propagation *ret,
                        struct err *err) MUST_CHECK;
