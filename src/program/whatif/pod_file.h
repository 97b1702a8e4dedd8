/*
 * A file with a pod, or with a workload that stands for its pods: Deployment, StatefulSet, Job,
 * CronJob, or any other kind with a pod template at spec.template.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/workload.h"

#include <stdbool.h>
#include <stdint.h>

struct pod_file {
    struct str json;  /* the text of the whole object, borrowed */
    const char *spec; /* the path of the pod's spec in the object: "spec", "spec.template.spec" */
    struct str pod;   /* as the workload's controller would create it: a made-up name, the owner as
                         controller, and the labels of the controller with made-up values */
    struct str owner; /* the ReplicaSet, ReplicationController or StatefulSet, which gives default
                         constraints their selector; or "". JSON */
    bool is_workload; /* false: the file has a pod, and `replicas` is 0 */
    int64_t replicas; /* the workload's replicas, which may be 0; 0 for a DaemonSet */
    struct workload_key daemon_set; /* the workload if it is a DaemonSet; else `kind` is "" */
    bool host_network;              /* hostNetwork of a workload's pods */
    bool makes_claims;              /* the workload has volumeClaimTemplates */
};

/* Is the object a Pod, or has it a pod template? Also true if its kind is misspelt, so that the
 * file is refused instead of the object being ignored. */
bool pod_file_has_pod(struct str json, struct arena *arena);

/* Reads one JSON text; a Pod is not changed. Everything is in the arena or borrowed from `json`.
 * Returns 0, -EINVAL (neither a pod nor a workload) or -ENOMEM. */
int pod_file_read(struct str json, struct arena *arena, struct pod_file *ret,
                  struct err *err) MUST_CHECK;
