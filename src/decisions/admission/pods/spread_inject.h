/*
 * The constraints that a policy asks for, as topologySpreadConstraints of the pod: the plugin
 * "spread". A key that the pod has a constraint on already is the user's business, hard or soft.
 *
 * Counted is the pod's own group (admission/pods/group.h).
 */
#pragma once

#include "base/err.h"
#include "model/object.h"

/*
 * Would the API server take the constraints from `first` on, as far as they are our doing?
 * upstream: core validation validateTopologySpreadConstraints; what concerns one field alone was
 * checked where it was decoded. 0, -EINVAL with the reason, or -ENOMEM.
 */
int spread_check(const struct pod *pod, uint32_t first, struct arena *arena,
                 struct err *err) MUST_CHECK;
