/*
 * The pod that a DaemonSet would have on each node that can hold it. The DaemonSet controller makes
 * one for each such node, with a node affinity for it, so spread constraints choose no node.
 */
#pragma once

#include "findings/findings.h"
#include "whatif/pod_file.h"

#include "model/object.h"

/* Adds the tolerations that the controller adds, and takes the spread constraints away; these are a
 * finding, unless `findings` is NULL. Memory is from the arena. Returns 0 or -ENOMEM. */
int daemon_pod_complete(const struct pod_file *file, struct pod *pod, struct arena *arena,
                        struct findings *findings) MUST_CHECK;
