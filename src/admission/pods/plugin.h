/*
 * What is done to a pod that is being created, as a list of plugins that run one after the other.
 * A plugin sees the pod as those before it leave it, and adds to the patch what it wants changed.
 */
#pragma once

#include "admission/patch.h"
#include "admission/review.h"
#include "cache/cache.h"
#include "data/source.h"
#include "model/object.h"
#include "model/pod_details.h"
#include "model/policy.h"

/* What is known of the pod; everything is valid until the answer is written. */
struct pod_question {
    const struct review *review;
    struct pod pod;             /* with POD_WHOLE; its namespace is the review's */
    struct pod_details details; /* its metadata; its spec is not read */
    struct labels namespace_labels;
    bool namespace_known;        /* false: namespace_labels say nothing */
    const struct policy *policy; /* NULL: none matches */
    const struct pod_data *data; /* NULL: nothing is known of data */
    /* Filled with what of Fluid's was looked up in vain, strings in the arena; may be NULL. */
    struct fluid_missing *missing;
    struct cache *cache; /* borrowed; views are opened and closed by whoever needs one */
    struct arena *arena;
};

/* What a plugin made of the pod. Zeroed it has nothing to say. */
struct pod_outcome {
    struct str note;  /* what was done or why nothing was, for the audit log */
    int refused;      /* HTTP status of a denial: the pod must not be created; 0: go on */
    struct str cause; /* of a denial, for the user */
};

struct pod_plugin {
    const char *name; /* one word: key of an audit annotation, label of metrics */
    bool settled_too; /* also runs for pods whose place is settled, see admit_pod() */
    /*
     * 0 and perhaps operations added. On failure (-EINVAL, -ENOMEM) err says why: what was added
     * is taken back, the user is warned, and the next plugin runs. Running a second time on its
     * own result must add nothing. `ret` is zeroed.
     */
    int (*run)(const struct pod_question *question, struct patch *patch, struct pod_outcome *ret,
               struct err *err);
};

/* Edits of Fluid's plugins, on the paths that are theirs: node affinity, the annotation of datasets
 * in use, mount propagation. Nothing, at no cost, where nothing is known of data. */
extern const struct pod_plugin pod_plugin_fluid;
extern const struct pod_plugin pod_plugin_spread;
