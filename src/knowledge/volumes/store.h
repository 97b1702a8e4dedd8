/*
 * Finds the nodes that a pod's volumes allow. A PersistentVolumeClaim that is bound to a
 * PersistentVolume with node affinity (a disk of one zone, a local one), or with the label of a
 * zone or region (zone_labels.h), binds every pod that mounts it to the volume's place, whatever
 * the pod's own terms are. kube-scheduler ignores this when it finds the domains of a constraint.
 * upstream: volumebinding/binder.go, FindPodVolumes, component-helpers storage/volume,
 * CheckNodeAffinity, and volumezone/volume_zone.go.
 *
 * Filled from state files or by watches. Keeps the volume that a claim is bound to, and the node
 * affinity and zone labels of a volume as text. Equal texts are kept once. Unbound claims and
 * volumes that may be anywhere are not kept.
 *
 * Threads: any.
 */
#pragma once

#include "cache/placed.h"
#include "informer/informer.h"
#include "model/affinity.h"

/* The store of an informer for claims and volumes. */
extern const struct informer_store volume_store;

/*
 * Returns the node affinities of the volumes to which these claims of the namespace are bound, and
 * the affinities that stand for the volumes' labels; equal volumes count once. Memory and steps are
 * the arena's. A claim that is unknown or unbound, or bound to a volume with neither affinity nor
 * labels, adds nothing. `volumes` may be NULL: no volumes. Returns 0, -E2BIG (no steps left) or
 * -ENOMEM.
 */
int volume_affinities(struct informer *volumes, struct str namespace, const struct str *claims,
                      uint32_t claim_count, struct arena *arena, const struct node_affinity **ret,
                      uint32_t *ret_count) MUST_CHECK;
/* The same for a pod of the cache, as an evenness_pins_fn; `volumes` is the informer. */
int volume_pins(void *volumes, struct str namespace, const struct cache_may_run *pod,
                struct arena *arena, const struct node_affinity **ret,
                uint32_t *ret_count) MUST_CHECK;
