/*
 * ScaleInExclusion: keeps new pods off nodes where a cache worker of one of their datasets is being
 * removed, since they would keep the FUSE client there busy. Meanwhile the node has the label
 * data.fluid.io/storage-scalein-<namespace>-<dataset>: "true". Fluid does not set this label;
 * controllers/leaving_nodes.c sets it, with data.labelLeavingNodes. The condition allows nodes
 * without the label, so it does no harm at other times. If a pod mounts a reference, the label
 * names the physical dataset.
 *
 * The plugin comes from the original design; upstream has never had it. The condition is AND-ed
 * into every required term in every mode.
 */
#include "data/fluid/affinity.h"
#include "model/fluid.h"

#include <errno.h>

static int add_conjunct(struct fluid_edit *e, const struct fluid_dataset *d,
                        struct fluid_conjuncts *conjuncts) {
    const char *key = fluid_dataset_label(e, FLUID_LABEL_SCALE_IN, d);
    if (key == NULL)
        return -ENOMEM;
    if (key[0] == '\0')
        return 0;
    const struct label_expression not_in = affinity_requirement(key, "NotIn", &affinity_true);
    return affinity_conjuncts_of(conjuncts, &not_in, e->arena);
}

static int exclude_scale_in(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    struct fluid_conjuncts conjuncts = {.count = 0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < e->datasets->count; i++)
        r = add_conjunct(e, &e->datasets->items[i], &conjuncts);
    if (r != 0)
        return err_set(err, r, "cannot exclude nodes being scaled in: out of memory");
    return affinity_require(e, &conjuncts, FLUID_CORRECT, err);
}

const struct fluid_plugin fluid_scale_in_exclusion = {
    .name = "ScaleInExclusion",
    .places = true,
    .mutate = exclude_scale_in,
};
