/*
 * PreferNodesWithoutCache: a pod that mounts no dataset rather leaves the nodes that hold one to
 * those that do. Upstream's rule since 2021: prefer, with weight 100, nodes without the label that
 * counts the datasets on a node. Ends the chain, also where it has nothing to do.
 */
#include "data/fluid/affinity.h"
#include "data/fluid/tiers.h"

#define LABEL_DATASET_NUM "fluid.io/dataset-num"

int fluid_keep_off_cache_nodes(struct fluid_edit *e, int32_t weight, struct err *err) {
    const struct label_expression none =
        affinity_requirement(LABEL_DATASET_NUM, "DoesNotExist", NULL);
    return affinity_prefer(e, weight, &none, err);
}

static int prefer_nodes_without_cache(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = true;
    return e->datasets->count == 0 ? fluid_keep_off_cache_nodes(e, 100, err) : 0;
}

const struct fluid_plugin fluid_prefer_nodes_without_cache = {
    .name = "PreferNodesWithoutCache",
    .places = true,
    .mutate = prefer_nodes_without_cache,
};
