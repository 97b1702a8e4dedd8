/*
 * Which nodes the workers of a dataset are leaving. A worker leaves when its pod is being deleted,
 * or when its number in its StatefulSet is not below the runtime's replicas: a StatefulSet deletes
 * the pods with the highest numbers, and Fluid waits with that for as long as a pod on the node
 * uses the FUSE client (upstream: pkg/ctrl, RuntimeScaleInFailed). A node is left when a worker of
 * the dataset there leaves and none stays.
 */
#pragma once

#include "data/fluid/resolve.h"
#include "model/object.h"

/*
 * The nodes by their names, each once, with the first worker that leaves it. `budget` is how many
 * workers may be looked at, of which is taken; others count as if they were not there. Everything
 * is in the arena, and the store is not needed afterwards. 0 or -ENOMEM.
 */
int fluid_find_leaving(const struct fluid_store *store, const struct fluid_identity *dataset,
                       uint32_t *budget, struct arena *arena, const struct leaving_node **ret,
                       uint32_t *ret_count) MUST_CHECK;

/* "worker 'data-worker-1' is being deleted" */
void leaving_put_reason(const struct leaving_node *leaving, struct strbuf *out);
