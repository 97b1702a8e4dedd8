/*
 * Findings about a pod or a workload in a user's file, without looking at a cluster: its kind and
 * apiVersion, unknown members and the terms of its pods.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"
#include "model/object.h"

/* `json` is the object in the file, `pod` is the pod or a pod of the workload, `spec` the path of
 * the pod's spec in the file ("spec", "spec.template.spec"). Returns 0, -E2BIG (out of steps) or
 * -ENOMEM; the findings so far stay. */
int findings_of_workload(struct str json, const struct pod *pod, struct str spec,
                         struct findings *f);
