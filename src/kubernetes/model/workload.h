/*
 * Controllers of pods: which workload a pod is of, and which controllers choose the node
 * themselves. Every room that speaks of a pod's workload goes by these definitions.
 */
#pragma once

#include "model/kinds.h"
#include "model/labels.h"
#include "model/object.h"

struct workload_name {
    struct object_type type;
    struct str name; /* borrowed from the controller's */
};

/* The controller that the pod's ownerReferences name. A pod without one is its own: kind Pod of the
 * core group, and the pod's name. */
struct workload_name controller_of(const struct object_meta *pod);
/* The same of a Placement of Open Cluster Management: one without a controller is its own. */
struct workload_name placement_controller_of(const struct object_meta *placement);

/*
 * Returns the topmost controller, from a pod's own controller and its labels only. Objects in
 * between are not read, for a replica may not know them:
 *
 *   apps ReplicaSet whose name ends with "-" and the pod's label pod-template-hash: its Deployment
 *   apps ReplicaSet whose name ends with "-" and its label rollouts-pod-template-hash: the Rollout
 *     of argoproj.io
 *   batch Job whose name ends with "-" and eight digits that are minutes since 1970, from 2015
 *     until tomorrow: its CronJob. upstream: pkg/controller/cronjob getJobName()
 *   every other controller itself: StatefulSet, CloneSet, Job, ...
 */
struct workload_name workload_of(struct workload_name controller, label_lookup_fn *lookup,
                                 const void *labels);

/* A DaemonSet of Kubernetes itself. The pods of others are known by their node affinity. */
bool is_daemon_set(struct object_type controller);
/* Is it a Node, which kubelets name as the controller of their mirror pods? Others can name one,
 * too. upstream: pkg/kubelet/pod/mirror_client.go */
bool is_node(struct object_type controller);
/* Does this controller, and not a scheduler, choose the node of its pods? A DaemonSet and a Node
 * do. */
bool controller_chooses_node(struct object_type controller);

/* Returns the group of one of Kubernetes' own kinds of workloads; false: `kind` is not one. Static.
 */
bool built_in_workload(struct str kind, struct str *ret_group);

/*
 * Is the user the controller of kube-controller-manager that creates pods with this owner? If its
 * controllers have no accounts of their own, all are one user. Other creators of pods may write any
 * owner. upstream: cmd/kube-controller-manager/names.
 */
bool is_pod_controller(struct str user, struct object_type owner);
