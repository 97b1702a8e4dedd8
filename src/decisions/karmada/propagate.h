/*
 * Makes the binding that Karmada's detector makes of a policy and an object, or says why the policy
 * does not select the object. upstream: karmada v1.18.1 pkg/detector detector.go
 * (BuildResourceBinding() and BuildClusterResourceBinding(), with the default feature gates),
 * pkg/util selector.go, and the webhooks' defaults.
 *
 * Pure. Memory and steps are the arena's.
 */
#pragma once

#include "model/propagation.h"

struct karmada_propagation {
    struct str binding; /* a ResourceBinding or ClusterResourceBinding as JSON; .p NULL: the policy
                           does not select the object */
    struct str path; /* if not selected: the member of the policy's file that excludes the object */
    struct str reason; /* if not selected: the reason, a sentence without full stop */
    struct str remedy; /* if not selected: a change that helps */
};

/* Everything in *ret is in the arena, or borrowed from policy and object. Returns 0, -EINVAL (the
 * placement is not valid), -E2BIG or -ENOMEM. */
int karmada_propagate(const struct propagation_policy *policy,
                      const struct propagated_object *object, struct arena *arena,
                      struct karmada_propagation *ret, struct err *err) MUST_CHECK;
