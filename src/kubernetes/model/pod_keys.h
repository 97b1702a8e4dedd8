/*
 * Label keys whose values known controllers set for one revision, for one pod, or for one unit
 * (model/pod_units.h). With them the group of a pod is known even before a sibling exists. Keys of
 * other controllers are learned from siblings (admission/pods/group.c).
 */
#pragma once

#include "model/labels.h"

/* Do the key's values differ between revisions of the pod's controller? */
bool is_revision_key(const struct labels *pod, struct str key);
/* Does the pod have a controller that no sibling shares? Then that controller's revision keys also
 * differ between siblings. */
bool has_own_controller(const struct labels *pod);
/* Do the key's values differ between sibling pods, or sibling units? */
bool is_pods_own_key(const struct labels *pod, struct str key);
