/*
 * Finds the nodes that the workers of a dataset are leaving. A worker leaves if its pod is being
 * deleted, or if its number in its StatefulSet is not below the runtime's replicas: a StatefulSet
 * deletes the pods with the highest numbers, and Fluid delays this while a pod on the node uses the
 * FUSE client (upstream: pkg/ctrl, RuntimeScaleInFailed). A node is being left if a worker of the
 * dataset leaves it and no other worker of the dataset stays there.
 */
#pragma once

#include "data/fluid/resolve.h"
#include "model/object.h"

/*
 * Returns the nodes, sorted by name, each with the first worker that leaves it. Reads at most
 * *budget workers, subtracts their number from *budget, and ignores further workers. Everything is
 * in the arena, and the store is not needed afterwards. Returns 0 or -ENOMEM.
 */
int fluid_find_leaving(const struct fluid_store *store, const struct fluid_identity *dataset,
                       uint32_t *budget, struct arena *arena, const struct leaving_node **ret,
                       uint32_t *ret_count) MUST_CHECK;

/* Appends the reason: "worker 'data-worker-1' is being deleted". */
void leaving_put_reason(const struct leaving_node *leaving, struct strbuf *out);
