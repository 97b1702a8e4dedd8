/*
 * The member clusters that Karmada knows: a topology that this store owns, and per slot what the
 * topology does not have. Contents of an informer; read through a view, which stands still.
 *
 * Threads: one writer at a time, under the informer's lock; views from any thread.
 */
#pragma once

#include "informer/informer.h"
#include "model/karmada.h"
#include "topology/topology.h"

extern const struct informer_store karmada_store; /* for informer_new(), without contents */

struct karmada_view {
    struct topology_view clusters; /* columns and trees are asked of it; fields by FIELD_PREFIX
                                      NAME */
    struct informer *informer;     /* borrowed */
    const struct karmada_contents *contents;
};
/* Holds the informer's read lock until it is closed; not twice in one thread. */
void karmada_view_open(struct informer *informer, struct karmada_view *ret);
/* Keeps what was built, for the next question. */
void karmada_view_close(struct karmada_view *v);

/* Of a known cluster's slot; NULL for one that is none. Without properties, which the topology has.
 * Borrowed while the view is open. */
const struct karmada_cluster *karmada_member(const struct karmada_view *v, uint32_t slot);
/* All that are known, in the arena, in the order of their slots: what a question of
 * karmada/schedule.h asks for. Borrowed as each of them. 0 or -ENOMEM. */
int karmada_view_clusters(const struct karmada_view *v, struct arena *arena,
                          const struct karmada_cluster *const **ret,
                          uint32_t *ret_count) MUST_CHECK;
