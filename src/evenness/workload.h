/* To which workload a pod belongs. */
#pragma once

#include "model/kinds.h"
#include "model/labels.h"

struct workload_name {
    struct object_type type;
    struct str name; /* borrowed from the controller's */
};

/*
 * The topmost controller that can be told from a pod: of its own controller and its labels. Objects
 * in between are not asked, for a replica may not know them:
 *
 *   apps ReplicaSet whose name ends with "-" and the pod's label pod-template-hash: its Deployment
 *   apps ReplicaSet whose name ends with "-" and its label rollouts-pod-template-hash: the Rollout
 *     of argoproj.io
 *   batch Job whose name ends with "-" and eight digits that are minutes since 1970, from 2015
 *     until tomorrow: its CronJob. upstream: pkg/controller/cronjob getJobName()
 *   every other controller itself: StatefulSet, CloneSet, Job, ...
 */
struct workload_name workload_name_of(struct object_type controller, struct str name,
                                      label_lookup_fn *lookup, const void *labels);
