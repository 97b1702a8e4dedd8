/*
 * The constraints that a policy asks for, as topologySpreadConstraints of the pod: the plugin
 * "spread". A key that the pod has a constraint on already is the user's business, hard or soft.
 *
 * Counted is the pod's own group: the pods with all of its labels but those that tell revisions or
 * single pods apart. Where the pod has a pod-template-hash, matchLabelKeys names it, so that a
 * rollout is spread by itself (upstream: KEP-3243).
 */
#pragma once

#include "base/err.h"
#include "model/object.h"

/* The label that tells one rollout of a Deployment from another. */
extern const struct str spread_revision_key;
/* Those of a pod's labels that make its group; strings are borrowed. 0 or -ENOMEM. */
int spread_group(const struct labels *pod, struct arena *arena, struct labels *ret) MUST_CHECK;

/*
 * Would the API server take the constraints from `first` on, as far as they are our doing?
 * upstream: core validation validateTopologySpreadConstraints; what concerns one field alone was
 * checked where it was decoded. 0, -EINVAL with the reason, or -ENOMEM.
 */
int spread_check(const struct pod *pod, uint32_t first, struct arena *arena,
                 struct err *err) MUST_CHECK;
