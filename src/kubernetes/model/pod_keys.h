/*
 * Label keys that known controllers give to the pods of one revision, to one pod, or to the pods of
 * one unit (model/pod_units.h): they describe a group before any sibling lives. Keys of other
 * controllers are learned from siblings (admission/pods/group.c).
 */
#pragma once

#include "model/labels.h"

/* Do the key's values differ between revisions of the pod's controller? */
bool is_revision_key(const struct labels *pod, struct str key);
/* Has the pod a controller that it shares with no sibling? Then the keys of that controller's
 * revisions differ between siblings, too. */
bool has_own_controller(const struct labels *pod);
/* Do the key's values differ between sibling pods, or sibling units? */
bool is_pods_own_key(const struct labels *pod, struct str key);
