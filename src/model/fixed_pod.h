/*
 * Pods about which the scheduler has no choice: spreading them says nothing, and a condition on
 * their node could only make the kubelet refuse them. All that edits or judges pods goes by this
 * one definition.
 */
#pragma once

#include "model/object.h"

/* A mirror pod, by its annotations: what a kubelet shows of a pod that it runs by itself. Others
 * can write the annotation, too. upstream: core/v1 MirrorPodAnnotationKey */
bool pod_is_mirror(const struct labels *annotations);

/* The same of pods that run, whose annotations are not kept, and which all name a node: mirror pods
 * and pods of DaemonSets by their controller, others by a required node affinity that leaves one
 * node by its name. */
bool pod_is_tied(const struct pod *pod);

/* The scheduler of a pod with this schedulerName. upstream: core/v1 DefaultSchedulerName */
struct str scheduler_of(struct str named);

/*
 * Why the pod's node is fixed already, as a phrase for people ("a mirror pod"), or "". Such are
 * mirror pods (the kubelet's own, by their annotation or by a Node as their controller), pods that
 * name their node, pods of DaemonSets (of group apps), and pods whose required node affinity leaves
 * one node by its name. The last is what DaemonSet controllers write, OpenKruise's too. Every pod
 * whose controller chooses its node (controller_chooses_node()) is among them.
 * upstream: pkg/controller/daemon/util GetTargetNodeName.
 *
 * The pod was decoded with POD_WHOLE; its annotations are decoded apart.
 */
struct str pod_fixed_because(const struct pod *pod, const struct labels *annotations);
