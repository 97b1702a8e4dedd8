/*
 * The pod that a DaemonSet would have on each node that can hold it. The DaemonSet controller makes
 * one pod for each of these nodes, with a node affinity for the node, so spread constraints choose
 * no node.
 */
#pragma once

#include "findings/findings.h"
#include "whatif/pod_file.h"

#include "model/object.h"

/* Adds the tolerations that the controller adds, and removes the spread constraints. Reports
 * removed constraints as a finding, unless `findings` is NULL. Memory is from the arena. Returns 0
 * or -ENOMEM. */
int daemon_pod_complete(const struct pod_file *file, struct pod *pod, struct arena *arena,
                        struct findings *findings) MUST_CHECK;
