/*
 * Pods that are being created: which policies are theirs, and what is done to them. Left alone, but
 * for plugins that say otherwise, are pods that have their place already (pod_fixed_because()),
 * those that are going, and those whose own label, or their namespace's, says that policies are not
 * to change them (evenkeel.io/inject: disabled), but for policies with mode Require. Pods are
 * refused only where Fluid does so, and its mode is to do as it does (FLUID_HEAD, FLUID_LEGACY).
 *
 * The second kind are the same pods as they will be stored, after all mutating webhooks: those that
 * make a policy with mode Require impossible are refused (admission/pods/require.c). A pod with
 * schedulingGates is not placed while it has any, and may be narrowed to fewer nodes meanwhile; so
 * it is reviewed once more when the last of them goes.
 */
#pragma once

#include "admission/admit.h"
#include "cache/cache.h"
#include "data/source.h"
#include "model/object.h"
#include "model/pod_details.h"
#include "model/policy.h"

struct fluid_missing;
struct owner_wanted;
struct owners;
struct informer;
struct pod_evasion;
struct spread_tally;

/* What an answer about a pod goes by. All of it is borrowed. */
struct pod_options {
    struct admission_options head;
    struct cache *cache;
    const struct pod_data *data;       /* NULL: nothing is known of data */
    struct informer *volumes;          /* NULL: nothing is known of volumes */
    struct fluid_missing *missing;     /* without any; filled with what of Fluid's was looked up in
                                          vain, strings in the arena; may be NULL */
    struct owners *owners;             /* what controllers select; NULL: nothing is known of that */
    struct owner_wanted *owner_wanted; /* zeroed; filled with the controller that ought to be
                                          read, strings in the object or the arena; may be NULL */
    struct spread_tally *spread;       /* added to: what became of constraints; may be NULL */
    struct spread_tally *audited; /* ... and would, by policies that only say so; may be NULL */
    struct pod_evasion *evasion;  /* set: how the pod evades its policy; may be NULL */
};

/* What is known of a pod. */
struct pod_question {
    struct admission_question head;
    struct pod pod;             /* with POD_WHOLE; its namespace is the review's */
    struct pod_details details; /* its metadata; its spec is not read */
    bool is_updated;            /* it is there already, and the last of its gates goes */
    struct pod old;             /* then: as it is stored, with POD_WHOLE */
    struct labels namespace_labels;
    bool namespace_known;                 /* false: namespace_labels say nothing */
    struct policy_choice policies;        /* that match */
    const struct policy *policy;          /* whose spread is the pod's; NULL: none */
    const struct policy *locality_policy; /* whose locality; NULL: none */
};

/* For plugins of pods. */
static inline const struct pod_question *pod_question(const struct admission_question *question) {
    return (const struct pod_question *)question; /* its first member */
}
static inline const struct pod_options *pod_options(const struct pod_question *question) {
    return (const struct pod_options *)question->head.options; /* its first member */
}

/* Edits of Fluid's plugins, on the paths that are theirs: node affinity, the annotation of datasets
 * in use, mount propagation. Nothing, at no cost, where nothing is known of data. */
extern const struct admission_plugin pod_plugin_fluid;
extern const struct admission_plugin pod_plugin_spread;
/* Changes nothing: notes what policies with mode Audit would do. */
extern const struct admission_plugin pod_plugin_audit;

/* Denies pods that evade a policy with mode Require. */
extern const struct admission_plugin pod_plugin_require;

/* The kinds, with all plugins in the order that is good for most. */
extern const struct admitted_kind admitted_pods, validated_pods;
