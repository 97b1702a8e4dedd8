/*
 * Who stands behind a pod that says that it is of a unit. LeaderWorkerSets and JobSets make their
 * pods through objects of Kubernetes' own, which anybody may make, too; so what such a pod says of
 * its unit is true only if its controller's controller, or one above, is an object of theirs that
 * is there:
 *
 *   LeaderWorkerSet - StatefulSet - Pod (the leader) - StatefulSet - Pod (a worker)
 *   JobSet - Job - Pod
 *   RayCluster, PyTorchJob, ... - Pod
 *
 * upstream: lws pkg/controllers/leaderworkerset_controller.go and pod_controller.go, jobset
 * pkg/controllers/jobset_controller.go. Pure: what is read is the caller's to read.
 */
#pragma once

#include "owners/owners.h"

enum { OWNER_CHAIN_READS = 4 }; /* objects between a worker and its LeaderWorkerSet, and that one */

/* Is it of a kind that may be in a chain? Is it of one that ends it? */
bool owner_chain_has(const struct owner_ref *ref);
bool owner_chain_ends(const struct owner_ref *ref);

/* The path of an object of such a kind; false: its names cannot be a path's. */
bool owner_chain_path(const struct owner_ref *ref, struct strbuf *out) MUST_CHECK;

/* The controller of the object that was read at `ref`, in the arena; false: it has none, or the
 * text is no object. */
bool owner_chain_next(struct str object, const struct owner_ref *ref, struct arena *arena,
                      struct owner_ref *ret) MUST_CHECK;
