/*
 * Which nodes the volumes of a pod leave to it. A PersistentVolumeClaim that is bound to a
 * PersistentVolume with node affinity (a disk of one zone, a local one), or with the label of a
 * zone or region (zone_labels.h), pins every pod that mounts it there, whatever the pod's own terms
 * say; kube-scheduler does not count that when it looks for the domains of a constraint. upstream:
 * volumebinding/binder.go, FindPodVolumes, component-helpers storage/volume, CheckNodeAffinity, and
 * volumezone/volume_zone.go.
 *
 * Kept from state files or by watches of an API server: of a claim the volume that it is bound to,
 * of a volume its node affinity and what its labels ask for, as text, and equal texts once. Claims
 * that are not bound and volumes that may be anywhere are not kept.
 *
 * Threads: any.
 */
#pragma once

#include "cache/placed.h"
#include "informer/informer.h"
#include "model/affinity.h"

/* Claims and volumes, as an informer keeps them. */
extern const struct informer_store volume_store;

/*
 * The node affinities of the volumes that these claims of the namespace are bound to, and those
 * that their labels are as good as, in the arena, whose steps are taken; of equal volumes once. A
 * claim that is not known, not bound, or bound to a volume with neither adds nothing. `volumes` may
 * be NULL: then there are none. 0, -E2BIG (no steps left) or -ENOMEM.
 */
int volume_affinities(struct informer *volumes, struct str namespace, const struct str *claims,
                      uint32_t claim_count, struct arena *arena, const struct node_affinity **ret,
                      uint32_t *ret_count) MUST_CHECK;
/* The same of a pod of the cache, as an evenness_pins_fn; `volumes` is the informer. */
int volume_pins(void *volumes, struct str namespace, const struct cache_may_run *pod,
                struct arena *arena, const struct node_affinity **ret,
                uint32_t *ret_count) MUST_CHECK;
