/*
 * Controllers of pods: to which workload a pod belongs, and which controllers choose the node
 * themselves. All code that speaks of a pod's workload uses these definitions.
 */
#pragma once

#include "model/kinds.h"
#include "model/labels.h"
#include "model/object.h"

struct workload_name {
    struct object_type type;
    struct str name; /* borrowed from the controller's name */
};

/* A workload as its pods name it. */
struct workload_key {
    struct str kind, namespace, name;
};
/* Do the pod's ownerReferences name the workload as the controller? */
bool is_controlled_by(const struct object_meta *pod, const struct workload_key *workload);

/* Returns the controller that the pod's ownerReferences name. A pod without a controller counts as
 * its own controller: kind Pod of the core group, and the pod's name. */
struct workload_name controller_of(const struct object_meta *pod);
/* The same for a Placement of Open Cluster Management: a Placement without a controller counts as
 * its own controller. */
struct workload_name placement_controller_of(const struct object_meta *placement);

/*
 * Returns the topmost controller, from a pod's own controller and its labels only. Objects in
 * between are not read, because a replica of Evenkeel may not know them:
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

/* Is the controller a DaemonSet of Kubernetes itself? Pods of other DaemonSet kinds are recognized
 * by their node affinity. */
bool is_daemon_set(struct object_type controller);
/* Is the controller a Node? Kubelets name their Node as the controller of their mirror pods, but
 * other users can do so, too. upstream: pkg/kubelet/pod/mirror_client.go */
bool is_node(struct object_type controller);
/* Does this controller, and not a scheduler, choose the node of its pods? A DaemonSet and a Node
 * do. */
bool controller_chooses_node(struct object_type controller);

/* Sets *ret_group to the group of one of Kubernetes' own kinds of workloads. Returns false if
 * `kind` is another kind. Static. */
bool built_in_workload(struct str kind, struct str *ret_group);
/* Returns the kind of workload of Kubernetes with the nearest spelling; both parts are empty if no
 * kind is near. Static. */
struct object_type built_in_workload_near(struct str kind);

/*
 * Is the user that controller of kube-controller-manager that creates pods with this owner? If the
 * controllers have no separate accounts, all controllers are one user. Other users may create pods
 * with any owner. upstream: cmd/kube-controller-manager/names.
 */
bool is_pod_controller(struct str user, struct object_type owner);
