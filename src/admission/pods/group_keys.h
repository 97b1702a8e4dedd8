/*
 * Label keys that controllers are known to give to the pods of one revision, to one pod, or to the
 * pods of one unit: what is known of a group before any sibling lives. What is not in the tables is
 * learned from siblings (admission/pods/group.c).
 */
#pragma once

#include "model/labels.h"

/*
 * A unit is several pods that are one replica of something: a leader and its workers, the hosts of
 * a slice, the pods of a Job in a JobSet. They work together, so units are spread and not their
 * pods: the first pod of each counts, and is counted.
 */
struct pod_unit {
    struct str index; /* the key of the pod's number in its unit; of the first one it is "0" */
    struct str with;  /* a key that such pods have, too; empty: no other */
};

/* The unit that a pod with these labels is of; NULL: of none. */
const struct pod_unit *pod_unit_of(const struct labels *pod);

/* Does the key tell one revision of a pod's controller from another? */
bool is_revision_key(const struct labels *pod, struct str key);
/* Has the pod a controller that it shares with no sibling? Then that one's revisions tell them
 * apart, too. */
bool has_own_controller(const struct labels *pod);
/* Does it tell one pod, or one unit, from its siblings? */
bool is_pods_own_key(const struct labels *pod, struct str key);
