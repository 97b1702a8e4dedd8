/*
 * Finds the owner of a pod whose labels claim that it belongs to a unit (model/pod_units.h).
 * LeaderWorkerSets and JobSets make their pods through objects of Kubernetes, which any user may
 * make, too. So the labels are true only if a controller above the pod's controller is an existing
 * LeaderWorkerSet or JobSet:
 *
 *   LeaderWorkerSet - StatefulSet - Pod (the leader) - StatefulSet - Pod (a worker)
 *   JobSet - Job - Pod
 *   RayCluster, PyTorchJob, ... - Pod
 *
 * upstream: lws pkg/controllers/leaderworkerset_controller.go and pod_controller.go, jobset
 * pkg/controllers/jobset_controller.go. These functions read no objects: the caller does.
 */
#pragma once

#include "owners/owners.h"

enum { OWNER_CHAIN_READS = 4 }; /* the objects above a worker pod, with its LeaderWorkerSet */

/* May the controller's kind be in a chain? May it end a chain? */
bool owner_chain_has(const struct owner_ref *ref);
bool owner_chain_ends(const struct owner_ref *ref);

/* Appends the path of the object at `ref`, whose kind may be in a chain. Returns false if its names
 * cannot be part of a path. */
bool owner_chain_path(const struct owner_ref *ref, struct strbuf *out) MUST_CHECK;

/* Sets *ret to the controller of the object that was read at `ref`, in the arena. Returns false if
 * the object has no controller, or the text is no object. */
bool owner_chain_next(struct str object, const struct owner_ref *ref, struct arena *arena,
                      struct owner_ref *ret) MUST_CHECK;
