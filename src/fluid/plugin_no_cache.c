/*
 * PreferNodesWithoutCache: a pod that mounts no dataset rather leaves the nodes that hold one to
 * those that do. Upstream's rule since 2021: prefer, with weight 100, nodes without the label that
 * counts the datasets on a node. Ends the chain, also where it has nothing to do.
 */
#include "fluid/affinity.h"

#define LABEL_DATASET_NUM "fluid.io/dataset-num"

static int prefer_nodes_without_cache(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = true;
    if (e->datasets->count > 0)
        return 0;
    return affinity_prefer(e, 100, affinity_requirement(LABEL_DATASET_NUM, "DoesNotExist", NULL),
                           err);
}

const struct fluid_plugin fluid_prefer_nodes_without_cache = {
    .name = "PreferNodesWithoutCache",
    .places = true,
    .mutate = prefer_nodes_without_cache,
};
