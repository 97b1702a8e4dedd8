/*
 * What happens to a pod that is being created: which policy is its, what the plugins make of it,
 * and whether the result could stand before the API server. What cannot be done is a warning, and
 * the pod stays as it was. Pods are refused only where Fluid does so, and its mode is to do as it
 * does (FLUID_HEAD, FLUID_LEGACY).
 *
 * Pure: nothing is written anywhere, and the same question has the same answer. Thread-safe as far
 * as the cache is.
 */
#pragma once

#include "admission/pods/plugin.h"
#include "admission/review.h"

struct pods_options {
    const struct policy *policies; /* sorted; borrowed */
    uint32_t policy_count;
    struct cache *cache;
    const struct pod_data *data;             /* NULL: nothing is known of data; borrowed */
    struct fluid_missing *missing;           /* what a plugin looked up in vain; may be NULL */
    const struct pod_plugin *const *plugins; /* in the order in which they run */
    uint32_t plugin_count;
    bool annotate; /* the pod itself says by what it was changed: admission/pods/annotate.h */
};

/* All plugins, in the order that is good for most. */
extern const struct pod_plugin *const pod_plugins_default[];
extern const uint32_t pod_plugins_default_count;

enum admission {
    ADMISSION_UNCHANGED, /* there was nothing to do */
    ADMISSION_PATCHED,
    ADMISSION_DENIED,
    ADMISSION_FAILED, /* something ought to have been done and could not be: there is a warning;
                         what other plugins did is in the patch */
};

/*
 * Only CREATE of pods themselves is looked at. Left alone, but for plugins that say otherwise, are
 * pods that have their place already (pod_placement()) and those that are going.
 *
 * *patch is initialised here and holds, besides the operations, the pod as they leave it. All
 * memory is the arena's.
 */
enum admission admit_pod(const struct pods_options *options, const struct review *review,
                         struct arena *arena, struct patch *patch, struct review_answer *ret);
