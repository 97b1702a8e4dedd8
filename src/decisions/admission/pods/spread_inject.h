/*
 * The plugin "spread" adds a policy's constraints to the pod's topologySpreadConstraints. If the
 * pod has its own constraint on a key, hard or soft, no other constraint is added for that key.
 *
 * The constraints count the pod's own group (admission/pods/group.h).
 */
#pragma once

#include "base/err.h"
#include "model/object.h"

/*
 * Checks that the API server would accept the constraints from index `first` on, which we added.
 * upstream: core validation validateTopologySpreadConstraints; rules about one field alone were
 * checked when the field was decoded. Returns 0, -EINVAL with the reason, or -ENOMEM.
 */
int spread_check(const struct pod *pod, uint32_t first, struct arena *arena,
                 struct err *err) MUST_CHECK;
