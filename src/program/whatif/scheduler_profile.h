/*
 * The parts of kube-scheduler's configuration file that decide about a pod, from the profile that
 * the pod names: the affinity that NodeAffinity's arguments add, and the extended resources that
 * NodeResourcesFit ignores. Other parts that may decide, too, are not read, but `not_read` names
 * them.
 *
 * upstream: pkg/scheduler/scheduler.go buildExtenders(), apis/config types_pluginargs.go.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"
#include "model/affinity.h"

struct scheduler_profile_parts {
    struct str added_affinity; /* JSON; "": no affinity is added */
    struct ignored_resources ignored;
    struct str not_read; /* "2 extenders, plugins of kube-scheduler's profile"; "": everything was
                            read. At most LIMIT_NOT_READ bytes */
    struct str old_version; /* the file's apiVersion if it is older than v1; otherwise "" */
    struct str ended_with; /* with old_version: the first Kubernetes release without that version */
};

/* Reads the parts for the pod (`pod` is JSON). Memory is from the arena. A file of an old version
 * is read as v1. Returns 0, -EINVAL (kube-scheduler would refuse the file, or no profile fits the
 * pod), -E2BIG (more than LIMIT_IGNORED_RESOURCES), another -errno if the file cannot be read, or
 * -ENOMEM. */
int scheduler_profile_read(const char *path, struct str pod, struct arena *arena,
                           struct scheduler_profile_parts *ret, struct err *err) MUST_CHECK;
/* Decodes added_affinity; "" and null give an empty affinity. Returns 0, -EINVAL or -ENOMEM. */
int scheduler_affinity_decode(struct str text, struct arena *arena, struct node_affinity *ret,
                              struct err *err) MUST_CHECK;
