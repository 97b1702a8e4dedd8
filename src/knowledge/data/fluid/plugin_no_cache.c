/*
 * PreferNodesWithoutCache: keeps pods without a dataset off the nodes that hold a dataset, so that
 * pods with datasets can use these nodes. Upstream's rule since 2021: prefer, with weight 100,
 * nodes without the label that counts the datasets on a node. Ends the chain, even if it has
 * nothing to do.
 */
#include "data/fluid/affinity.h"
#include "data/fluid/tiers.h"
#include "model/fluid.h"

#include <errno.h>

int fluid_keep_off_cache_nodes(struct fluid_edit *e, int32_t weight, struct err *err) {
    const struct label_expression none =
        affinity_requirement(FLUID_LABEL_DATASET_NUM, "DoesNotExist", NULL);
    return affinity_prefer(e, weight, &none, err);
}

int fluid_require_off_cache_nodes(struct fluid_edit *e, struct err *err) {
    const struct label_expression none =
        affinity_requirement(FLUID_LABEL_DATASET_NUM, "DoesNotExist", NULL);
    struct fluid_conjuncts conjuncts = {.count = 0};
    if (affinity_conjuncts_of(&conjuncts, &none, e->arena) != 0)
        return err_set(err, -ENOMEM, "cannot keep the pod off cache nodes: out of memory");
    return affinity_require(e, &conjuncts, FLUID_CORRECT, err);
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
