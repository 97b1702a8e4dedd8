/*
 * Edits one pod for its data: selects the chain of plugins, finds the datasets and runs the chain.
 * A webhook and `simulate` need only this file of the folder.
 *
 * Thread-safe while the store does not change: its owner must hold it. The time depends only on the
 * pod and its datasets.
 */
#pragma once

#include "base/clock.h"
#include "data/fluid/plugin.h"

struct fluid_options {
    const struct fluid_profile *profile; /* borrowed */
    enum fluid_compat compat;
    bool scale_in;      /* run ScaleInExclusion after every serverful chain with datasets */
    bool original_fuse; /* RequireNodeWithFuse requires that the FUSE client has run on the node */
    /* A pod with this label, with any value, is serverless; NULL: no such label. */
    const char *serverless_platform_key;
    /* If a plugin took longer, the result is FLUID_FAILED. This is checked after the plugin; the
     * arena's budget of steps limits its work meanwhile. 0: no limit, and `clock` is not read. */
    int64_t plugin_budget_ms;
    struct clock *clock;
};

struct fluid_question {
    const struct pod *pod;                 /* with POD_WHOLE */
    const struct pod_details *details;     /* complete */
    struct str namespace;                  /* namespace of the request; "" if the request has no
                                              namespace */
    const struct labels *namespace_labels; /* labels of that namespace; NULL if not known */
    bool is_placed;                        /* the pod has its node: see pod_fixed_because() */
    const struct fluid_locality *locality; /* locality of the pod's policy; NULL: the policy has
                                              none */
};

enum fluid_result {
    FLUID_EDITED,  /* the chain ran; `edits` are the answer, and may be empty */
    FLUID_SKIPPED, /* no edits; `message` has the reason */
    FLUID_FAILED,  /* the pod is admitted unchanged; `message` is a warning */
    FLUID_DENIED,  /* the pod is denied, as upstream denies it: `code` and `message` are for the
                      user */
};

struct fluid_outcome {
    enum fluid_result result;
    int code;                 /* HTTP status: 200, or 403 or 500 when denied */
    const char *message;      /* arena; or "" */
    struct fluid_edits edits; /* for FLUID_EDITED; they live as long as the arena and the store */
    const struct fluid_plugin *ran[FLUID_CHAIN_MAX + 2]; /* in order: ran with or without edits */
    uint32_t ran_count;
    const char **notes; /* arena */
    size_t note_count;
    uint64_t steps;               /* the arena's steps that the plugins took */
    bool unasked;                 /* skipped because no label asks for Fluid, as for most pods */
    bool left_to_fluid;           /* Fluid's webhook has a plugin for this pod that we lack */
    struct fluid_missing missing; /* if a look-up failed: see fluid_resolve() */
};

/*
 * Checks in upstream's order: the namespace, opt-out labels, the pod's mounts, the chain. A pod is
 * Fluid's if one of its labels serverless.fluid.io/inject, fuse.sidecar.fluid.io/inject (both mean
 * serverless, which wins) or fuse.serverful.fluid.io/inject is "true". In FLUID_CORRECT a pod is
 * also Fluid's if the original design's label Fluid-Injection is "enabled" on the pod or on its
 * namespace; "disabled" on the pod always opts out.
 *
 * A pod that is not Fluid's may have a policy that asks for locality. It gets the FUSE client's
 * selector, the policy's tiers and ScaleInExclusion. Missing data about its datasets is no failure,
 * unless the policy requires locality. For Fluid's pods the policy's tiers replace the profile's.
 * For locality from a policy the rules of FLUID_CORRECT hold in every mode.
 *
 * FLUID_CORRECT never denies a pod (it returns FLUID_FAILED instead), and looks up datasets only
 * for Fluid's pods and pods with such a policy. It does not run plugins that place a pod for placed
 * pods.
 *
 * Writes nothing outside the arena. Returns 0 or -ENOMEM.
 */
int fluid_mutate(const struct fluid_store *store, const struct fluid_options *options,
                 const struct fluid_question *question, struct arena *arena,
                 struct fluid_outcome *ret, struct err *err) MUST_CHECK;
