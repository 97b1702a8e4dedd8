/*
 * Pods for which the scheduler has no choice: they cannot be spread, and a condition on their node
 * could only make the kubelet refuse them. All code that edits or evaluates pods uses this one
 * definition.
 */
#pragma once

#include "model/object.h"

/* Do the annotations mark a mirror pod, the API object of a pod that a kubelet runs by itself?
 * Users can write the annotation, too. upstream: core/v1 MirrorPodAnnotationKey */
bool pod_is_mirror(const struct labels *annotations);

/* Is the node of a running pod fixed? All running pods name a node, and their annotations are not
 * kept. So mirror pods and DaemonSet pods are recognized by their controller, and other fixed pods
 * by a required node affinity that allows only one node, by its name. */
bool pod_is_tied(const struct pod *pod);

/* Returns the scheduler of a pod with this schedulerName. upstream: core/v1 DefaultSchedulerName */
struct str scheduler_of(struct str named);

/*
 * Returns why the pod's node is fixed, as a phrase for people ("a mirror pod"), or "". Fixed are:
 * mirror pods (by their annotation, or with a Node as their controller), pods that name their node,
 * pods of DaemonSets (group apps), and pods whose required node affinity allows only one node, by
 * its name, as DaemonSet controllers write it (also OpenKruise's). These include every pod whose
 * controller chooses its node (controller_chooses_node()). upstream: pkg/controller/daemon/util
 * GetTargetNodeName.
 *
 * The pod must be decoded with POD_WHOLE; the caller decodes its annotations separately.
 */
struct str pod_fixed_because(const struct pod *pod, const struct labels *annotations);
