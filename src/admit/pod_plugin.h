/*
 * What is done to a pod that is being created, as a list of plugins that run one after the other.
 * A plugin sees the pod as those before it leave it, and adds to the patch what it wants changed.
 * One that edits a tree instead makes it of patch->document, and hands the edited text to
 * patch_diff().
 */
#pragma once

#include "admit/patch.h"
#include "admit/review.h"
#include "cache/cache.h"
#include "model/object.h"
#include "model/policy.h"

/* What is known of the pod; everything is valid until the answer is written. */
struct pod_question {
    const struct review *review;
    struct pod pod; /* with POD_WHOLE; its namespace is the review's */
    struct labels annotations;
    struct labels namespace_labels;
    bool namespace_known;        /* false: namespace_labels say nothing */
    const struct policy *policy; /* NULL: none matches */
    struct cache *cache;         /* borrowed; views are opened and closed by whoever needs one */
    struct arena *arena;
};

struct pod_plugin {
    const char *name; /* one word: key of an audit annotation, label of metrics */
    /*
     * 0 and perhaps operations added, and *ret_note set to what was done or why nothing was, for
     * the audit log. On failure (-EINVAL, -ENOMEM) err says why: what was added is taken back, the
     * user is warned, and the next plugin runs. Pods that nothing must be done to (see
     * admit_pod()) never get here. Running a second time on its own result must add nothing.
     */
    int (*run)(const struct pod_question *question, struct patch *patch, struct str *ret_note,
               struct err *err);
};

extern const struct pod_plugin pod_plugin_spread;
