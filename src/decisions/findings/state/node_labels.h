/*
 * Findings about the node terms of a pod together with the nodes of a cluster: labels in its
 * nodeSelector and in its required node affinity that no node has.
 *
 * Threads: as for the view.
 */
#pragma once

#include "findings/findings.h"
#include "model/object.h"
#include "topology/topology.h"

/* Adds findings only if no node matches nodeSelector and required node affinity; a term that no
 * node matches is fine if a node matches another term. `spec` is the path of the pod's spec. The
 * view has candidates, and steps, which bound the work. Returns 0, -E2BIG (out of steps) or
 * -ENOMEM; the findings so far stay. */
int findings_of_node_labels(struct topology_view *v, const struct pod *pod, struct str spec,
                            struct findings *f);
/* Returns the first finding in the list that findings_of_node_labels() added, or NULL. The list
 * must be about one pod: other questions have findings with the same codes. */
const struct finding *findings_find_node_labels(const struct findings *f);
