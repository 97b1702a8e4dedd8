/*
 * The plugins that edit a pod for its data, and their common parts.
 *
 * A plugin gets the original pod and the edits of the plugins before it, and adds its own edits.
 * Plugins run one after the other in the order of the profile. They behave like the plugins of
 * Fluid's webhook or of its original design, and have the names of both:
 *
 *   PreferNodesWithoutCache     pods without a dataset prefer nodes that hold none
 *   RequireNodeWithFuse         the FUSE client's node selector; RequireNodesWithFuse, the design's
 *                               name, requires that the client has run on the node
 *   NodeAffinityWithCache       tiered locality, preferred or required; PreferNodesWithCache, the
 *                               design's name, has tiers of its own
 *   MountPropagationInjector    mounts of datasets see later mounts on the node
 *   DatasetUsageInjector        an annotation names the datasets in use
 *   PolicyLocality              a TopologyPolicy's tiers instead of the profile's; in no profile
 *   ScaleInExclusion            not on nodes where a worker of the dataset is being removed
 *   FilePrefetcher, FuseSidecar known by name, and left to Fluid's own webhook
 *
 * Where upstream's behaviour is a defect, the mode decides:
 *   FLUID_CORRECT  follows the rules of the API: a pod needs all of its datasets, so their
 *                  conditions are AND-ed, no required term is widened, and a second run changes
 *                  nothing. The order is that of claim names.
 *   FLUID_HEAD     as Fluid from June 2026 on (after 1.0.8)
 *   FLUID_LEGACY   as FLUID_HEAD, but with the merge of Fluid 0.6 to 1.0.8, which narrows the first
 * required term only
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/steps.h"
#include "data/fluid/edits.h"
#include "data/fluid/profile.h"
#include "data/fluid/resolve.h"
#include "model/object.h"

enum fluid_compat { FLUID_CORRECT, FLUID_HEAD, FLUID_LEGACY };

/* The locality of a TopologyPolicy. All pointers are borrowed. */
struct fluid_locality {
    const struct fluid_tier *tiers; /* the nearest first; names are keys of node labels */
    uint32_t tier_count;            /* 0: only the host is a tier */
    int32_t host_weight;            /* used if tier_count is 0; 0: 100 */
    bool required;                  /* the last tier is required; false: all are preferred */
    int32_t keep_others_off;  /* weight with which pods without a dataset prefer nodes that hold
                                 none; 0: no preference */
    bool requires_others_off; /* pods without a dataset, except Fluid's pods, must use nodes without
                                 a dataset */
    /* Gets the values of `key` on the nodes with label `label`: "true", in a stable order; no value
     * if no node has the label, or if too many nodes have it. They live as long as the arena of the
     * edit. Returns 0 or -ENOMEM. */
    int (*places)(const void *ctx, const char *label, const char *key, const struct str **ret,
                  uint32_t *ret_count);
    const void *ctx;
};

/* The state of one pod in a chain. */
struct fluid_edit {
    const struct pod *pod; /* borrowed, like the next member */
    const struct pod_details *details;
    struct fluid_edits edits; /* the edits so far; not valid after an error */
    const struct fluid_datasets *datasets;
    const struct fluid_profile *profile;
    bool is_placed;                        /* the pod has its node already */
    const struct fluid_locality *locality; /* NULL: no policy asks for locality */
    enum fluid_compat compat;
    bool original_fuse;  /* RequireNodeWithFuse has the meaning of the original design */
    struct steps *steps; /* the arena's budget, for all work on the pod */
    struct arena *arena;
    const char **notes; /* sentences for people: skipped edits with reasons; arena */
    size_t note_count;
    uint32_t note_cap;
    bool left_to_fluid; /* a plugin had work to do that only Fluid's webhook does */
};

struct fluid_plugin {
    const char *name;
    bool places; /* edits node affinity, which has no effect on a pod that has its node already */
    /* Edits `e`. *ret_stop is false before the call; a plugin sets it to true to end the chain.
     * Returns 0, -E2BIG (too many terms, or too much work) or -ENOMEM. */
    int (*mutate)(struct fluid_edit *e, bool *ret_stop, struct err *err);
};

/* Returns -E2BIG, and sets err: the budget of steps is spent. */
int fluid_too_much(struct err *err) MUST_CHECK;

/* Returns the plugin with this name, or NULL. Plugins live for ever. */
const struct fluid_plugin *fluid_plugin_find(struct str name);

/* Adds a sentence to the notes. Lack of memory shows in the arena. */
void fluid_note(struct fluid_edit *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Returns the value of a label or annotation; "" if it is missing. */
struct str fluid_value(const struct labels *labels, const char *key);

/* Returns the key of the label that nodes have for a dataset (fluid_label_key() of the physical
 * dataset). Returns "", with a note, if FLUID_CORRECT cannot use the key because the API server
 * would refuse the pod; NULL if the arena failed. */
const char *fluid_dataset_label(struct fluid_edit *e, const char *prefix,
                                const struct fluid_dataset *d);

extern const struct fluid_plugin fluid_prefer_nodes_without_cache;
extern const struct fluid_plugin fluid_require_node_with_fuse, fluid_require_nodes_with_fuse;
extern const struct fluid_plugin fluid_node_affinity_with_cache, fluid_prefer_nodes_with_cache;
extern const struct fluid_plugin fluid_mount_propagation_injector;
extern const struct fluid_plugin fluid_dataset_usage_injector;
extern const struct fluid_plugin fluid_scale_in_exclusion;
extern const struct fluid_plugin fluid_policy_locality; /* needs a locality; not found by name */
extern const struct fluid_plugin fluid_file_prefetcher, fluid_fuse_sidecar;
