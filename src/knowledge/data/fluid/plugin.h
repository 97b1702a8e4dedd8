/*
 * The plugins that edit a pod for its data, and what they share.
 *
 * A plugin gets the pod as it came and what the plugins before it want changed, and adds what it
 * wants; plugins run one after the other in the order of the profile. They are the behaviours of
 * Fluid's webhook and of the design that it grew from; names of both are understood:
 *
 *   PreferNodesWithoutCache     pods without a dataset: rather not on nodes that hold one
 *   RequireNodeWithFuse         the FUSE client's node selector; RequireNodesWithFuse, the design's
 *                               name, requires that the client has run on the node
 *   NodeAffinityWithCache       tiered locality, preferred or required; PreferNodesWithCache, the
 *                               design's name, has tiers of its own
 *   MountPropagationInjector    mounts of datasets see what is mounted later
 *   DatasetUsageInjector        an annotation names the datasets in use
 *   PolicyLocality              a TopologyPolicy's tiers, in place of those two; in no profile
 *   ScaleInExclusion            not on nodes where a worker of the dataset is being removed
 *   FilePrefetcher, FuseSidecar known by name, and left to Fluid's own webhook
 *
 * How a plugin behaves where upstream's behaviour is a defect, the mode decides:
 *   FLUID_CORRECT  what the rules of the API mean: a pod needs all of its datasets, so their
 *                  conditions are AND-ed, no required term is widened, and running twice changes
 *                  nothing. Order is that of claim names.
 *   FLUID_HEAD     what Fluid does from June 2026 on (after 1.0.8)
 *   FLUID_LEGACY   the same with the merge of Fluid 0.6 to 1.0.8, which narrows the first
 *                  required term only
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

/* Locality that a TopologyPolicy asks for. All of it is borrowed. */
struct fluid_locality {
    const struct fluid_tier *tiers; /* the nearest first; names are keys of node labels */
    uint32_t tier_count;            /* 0: the host alone */
    int32_t host_weight;            /* then; 0: 100 */
    bool required;                  /* the last tier is; those before it are preferred */
    int32_t keep_others_off; /* with this weight pods without a dataset prefer nodes that hold none;
                                0: they do not */
    bool requires_others_off; /* pods without a dataset, but Fluid's own, may use no others */
    /* The values of `key` on the nodes that have label `label`: "true", in an order that depends on
     * nothing else; none when there are none, or too many. They live as long as the arena of the
     * edit. 0 or -ENOMEM. */
    int (*places)(const void *ctx, const char *label, const char *key, const struct str **ret,
                  uint32_t *ret_count);
    const void *ctx;
};

/* One pod on its way through a chain. */
struct fluid_edit {
    const struct pod *pod; /* borrowed, as the following */
    const struct pod_details *details;
    struct fluid_edits edits; /* so far; of no use after an error */
    const struct fluid_datasets *datasets;
    const struct fluid_profile *profile;
    bool is_placed;                        /* the pod has its node already */
    const struct fluid_locality *locality; /* NULL: no policy asks for any */
    enum fluid_compat compat;
    bool original_fuse;  /* RequireNodeWithFuse means what the design meant */
    struct steps *steps; /* the arena's: of all that is done for the pod */
    struct arena *arena;
    const char **notes; /* sentences for people: what was left out, and why; arena */
    size_t note_count;
    uint32_t note_cap;
    bool left_to_fluid; /* a plugin had work to do that only Fluid's webhook does */
};

struct fluid_plugin {
    const char *name;
    bool places; /* edits node affinity: means nothing to a pod that has its node already */
    /* `ret_stop` is false; a plugin sets it to end the chain. 0, -E2BIG (too many terms, or too
     * much work) or -ENOMEM. */
    int (*mutate)(struct fluid_edit *e, bool *ret_stop, struct err *err);
};

/* -E2BIG: the budget of steps is spent. */
int fluid_too_much(struct err *err) MUST_CHECK;

/* By name; NULL when there is none. Static. */
const struct fluid_plugin *fluid_plugin_find(struct str name);

/* Adds a sentence to the notes. Want of memory shows in the arena. */
void fluid_note(struct fluid_edit *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The value of a label or annotation; "" when there is none. */
struct str fluid_value(const struct labels *labels, const char *key);

/* The key of the label that nodes carry for a dataset (fluid_label_key() of the physical one). ""
 * with a note when FLUID_CORRECT cannot use it, for the API server would refuse the pod; NULL when
 * the arena failed. */
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
