/*
 * Which nodes the volumes of a pod leave to it. A PersistentVolumeClaim that is bound to a
 * PersistentVolume with node affinity (a disk of one zone, a local one) pins every pod that mounts
 * it there, whatever the pod's own terms say; kube-scheduler does not count that when it looks for
 * the domains of a constraint. upstream: volumebinding/binder.go, FindPodVolumes, and
 * component-helpers storage/volume, CheckNodeAffinity.
 *
 * Kept from state files or by watches of an API server: of a claim the volume that it is bound to,
 * of a volume its node affinity, as text, and equal texts once. Claims that are not bound and
 * volumes that may be anywhere are not kept.
 *
 * Threads: volume_store_affinities(), _changes() and _listed() from any; watches write on their
 * client's thread; everything else belongs to one thread.
 */
#pragma once

#include "cache/placed.h"
#include "kube/client/client.h"
#include "model/affinity.h"
#include "state/file_source.h"

struct volume_store;

/* 0 or -ENOMEM. */
int volume_store_new(struct volume_store **ret, struct err *err) MUST_CHECK;
/* Stops it, too. NULL is fine. */
void volume_store_free(struct volume_store *s);

/* Takes its objects out of the files of a file_source: what they have is all there is. Borrowed
 * until volume_store_free(). */
struct file_follower *volume_store_follower(struct volume_store *s);

/* Or lists and watches claims and volumes, with metrics: begins at once. `seed` is of jitter;
 * `client` is borrowed until volume_store_stop(). 0 or -ENOMEM. */
int volume_store_watch(struct volume_store *s, struct kube_client *client, uint64_t seed,
                       struct err *err) MUST_CHECK;
/* Asks nothing any more; what is known stays. From any thread but the client's. NULL is fine. */
void volume_store_stop(struct volume_store *s);
/* Have both kinds been listed once, or has it at least been tried? True where nothing is watched.
 */
bool volume_store_listed(const struct volume_store *s);

/* Counts what has changed. NULL is fine. */
uint64_t volume_store_changes(const struct volume_store *s);
/*
 * The node affinities of the volumes that these claims of the namespace are bound to, each text
 * once, in the arena, whose steps are taken. A claim that is not known, not bound, or bound to a
 * volume without node affinity adds nothing. `s` may be NULL: then there are none. 0, -E2BIG (no
 * steps left) or -ENOMEM.
 */
int volume_store_affinities(struct volume_store *s, struct str namespace, const struct str *claims,
                            uint32_t claim_count, struct arena *arena,
                            const struct node_affinity **ret, uint32_t *ret_count) MUST_CHECK;
/* The same of a pod of the cache, as an evenness_pins_fn; `store` is a struct volume_store. */
int volume_store_pins(void *store, struct str namespace, const struct cache_may_run *pod,
                      struct arena *arena, const struct node_affinity **ret,
                      uint32_t *ret_count) MUST_CHECK;
