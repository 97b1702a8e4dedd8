/*
 * Label keys that controllers are known to give to the pods of one revision, to one pod, or to the
 * pods of one unit (model/pod_units.h): what is known of a group before any sibling lives.
 * What is not in the tables is learned from siblings (admission/pods/group.c).
 */
#pragma once

#include "model/labels.h"

/* Does the key tell one revision of a pod's controller from another? */
bool is_revision_key(const struct labels *pod, struct str key);
/* Has the pod a controller that it shares with no sibling? Then that one's revisions tell them
 * apart, too. */
bool has_own_controller(const struct labels *pod);
/* Does it tell one pod, or one unit, from its siblings? */
bool is_pods_own_key(const struct labels *pod, struct str key);
