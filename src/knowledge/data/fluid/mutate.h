/*
 * One pod and its data: which chain of plugins, with which datasets, and what comes out. This is
 * all that a webhook, and `simulate`, need of this folder.
 *
 * Thread-safe as far as the store stands still: its owner holds it while this runs. Time grows with
 * the pod and its datasets only.
 */
#pragma once

#include "base/clock.h"
#include "data/fluid/plugin.h"

struct fluid_options {
    const struct fluid_profile *profile; /* borrowed */
    enum fluid_compat compat;
    bool scale_in;      /* run ScaleInExclusion after every serverful chain with datasets */
    bool original_fuse; /* RequireNodeWithFuse requires that the FUSE client has run on the node */
    /* A pod with this label, whatever its value, is serverless; NULL: there is none. */
    const char *serverless_platform_key;
    /* A plugin that took longer fails the whole (FLUID_FAILED), once it is done: what bounds its
     * work meanwhile is the arena's budget of steps. 0: as long as it takes; `clock` is not read
     * then. */
    int64_t plugin_budget_ms;
    struct clock *clock;
};

struct fluid_question {
    const struct pod *pod;                 /* with POD_WHOLE */
    const struct pod_details *details;     /* all of them */
    struct str namespace;                  /* the request's; "" when it has none */
    const struct labels *namespace_labels; /* of that namespace; NULL when not known */
    bool is_placed;                        /* the pod has its node: see pod_fixed_because() */
    const struct fluid_locality *locality; /* the pod's policy asks for it; NULL: none does */
};

enum fluid_result {
    FLUID_EDITED,  /* the chain ran; `edits` are the answer, maybe none */
    FLUID_SKIPPED, /* nothing had to be done: `message` says why */
    FLUID_FAILED,  /* the pod is admitted as it came; `message` is a warning */
    FLUID_DENIED,  /* as upstream would: `code` and `message` are for the user */
};

struct fluid_outcome {
    enum fluid_result result;
    int code;                 /* HTTP status: 200, or 403 or 500 when denied */
    const char *message;      /* arena; "" when there is nothing to say */
    struct fluid_edits edits; /* of FLUID_EDITED; they live as long as the arena and the store */
    const struct fluid_plugin *ran[FLUID_CHAIN_MAX + 2]; /* in order; those that edit nothing too */
    uint32_t ran_count;
    const char **notes; /* arena */
    size_t note_count;
    uint64_t steps;               /* of the arena's that the plugins took */
    bool unasked;                 /* skipped, for no label asks for Fluid: true of most pods */
    bool left_to_fluid;           /* a plugin that only Fluid's webhook has had work to do */
    struct fluid_missing missing; /* when a look-up failed: see fluid_resolve() */
};

/*
 * Upstream's order of questions: the namespace, opt-out labels, what the pod mounts, which chain.
 * A pod is Fluid's by its labels: serverless.fluid.io/inject, fuse.sidecar.fluid.io/inject (both
 * serverless, which wins) or fuse.serverful.fluid.io/inject, "true" each. In FLUID_CORRECT also by
 * the original design's Fluid-Injection: "enabled" on the pod, or on its namespace unless the pod
 * says "disabled", which always opts out.
 *
 * A pod that none of that makes Fluid's can still have a policy that asks for locality: then the
 * FUSE client's selector, the policy's tiers and ScaleInExclusion are what is done to it, and what
 * cannot be found out about its data is no failure unless the policy requires locality. For Fluid's
 * pods the policy's tiers take the place of the profile's. The rules are FLUID_CORRECT's in every
 * mode.
 *
 * FLUID_CORRECT never denies a pod (FLUID_FAILED instead), and looks datasets up only for pods that
 * one of these makes its business. Plugins that place a pod are not run for pods that are placed.
 *
 * Nothing is written outside the arena. 0, or -ENOMEM.
 */
int fluid_mutate(const struct fluid_store *store, const struct fluid_options *options,
                 const struct fluid_question *question, struct arena *arena,
                 struct fluid_outcome *ret, struct err *err) MUST_CHECK;
