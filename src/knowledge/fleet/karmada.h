/*
 * The member clusters of Karmada: a topology that this store owns, and for each slot the data that
 * a topology lacks. Topology and data are the contents of an informer. Readers open a view, which
 * does not change.
 *
 * Threads: one writer at a time, under the informer's lock; views from any thread.
 */
#pragma once

#include "informer/informer.h"
#include "model/karmada.h"
#include "topology/topology.h"

extern const struct informer_store karmada_store; /* for informer_new(), without contents */

struct karmada_view {
    struct topology_view clusters; /* has columns and trees; fields by FIELD_PREFIX NAME */
    struct informer *informer;     /* borrowed */
    const struct karmada_contents *contents;
};
/* Holds the informer's read lock until it is closed; only once in a thread. */
void karmada_view_open(struct informer *informer, struct karmada_view *ret);
/* Keeps the columns that were built, for later views. */
void karmada_view_close(struct karmada_view *v);

/* Returns the cluster of a slot, or NULL if it is not known. Its properties are in the topology
 * only. Borrowed while the view is open. */
const struct karmada_cluster *karmada_member(const struct karmada_view *v, uint32_t slot);
/* Lists all known clusters in the order of their slots, for a question of karmada/schedule.h. The
 * list is in the arena, the clusters are borrowed as above. Returns 0 or -ENOMEM. */
int karmada_view_clusters(const struct karmada_view *v, struct arena *arena,
                          const struct karmada_cluster *const **ret,
                          uint32_t *ret_count) MUST_CHECK;
