/*
 * Finds the owner of a pod whose labels claim that it belongs to a unit. LeaderWorkerSets and
 * JobSets make their pods through Kubernetes' own objects, which any user may make, too; so the
 * labels are true only if the controller's controller, or one above, is an existing object of
 * theirs:
 *
 *   LeaderWorkerSet - StatefulSet - Pod (the leader) - StatefulSet - Pod (a worker)
 *   JobSet - Job - Pod
 *   RayCluster, PyTorchJob, ... - Pod
 *
 * upstream: lws pkg/controllers/leaderworkerset_controller.go and pod_controller.go, jobset
 * pkg/controllers/jobset_controller.go. Pure: the caller reads the objects.
 */
#pragma once

#include "owners/owners.h"

enum { OWNER_CHAIN_READS = 4 }; /* objects between a worker and its LeaderWorkerSet, and that one */

/* Is the controller's kind one that may be in a chain? One that ends a chain? */
bool owner_chain_has(const struct owner_ref *ref);
bool owner_chain_ends(const struct owner_ref *ref);

/* Appends the path of an object of such a kind; false: its names cannot be part of a path. */
bool owner_chain_path(const struct owner_ref *ref, struct strbuf *out) MUST_CHECK;

/* Returns the controller of the object that was read at `ref`, in the arena; false: the object has
 * none, or the text is no object. */
bool owner_chain_next(struct str object, const struct owner_ref *ref, struct arena *arena,
                      struct owner_ref *ret) MUST_CHECK;
