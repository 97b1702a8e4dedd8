/*
 * Finds the policies of pods that are being created, and edits the pods. Unless a plugin has
 * settled_too, pods are left alone if they have their place already (pod_fixed_because()), are
 * being deleted, or opt out by a label of their own or their namespace's (evenkeel.io/inject:
 * disabled); policies with mode Require ignore the opt-out. Pods are refused only where Fluid
 * refuses them and the mode is a mode that behaves like Fluid (FLUID_HEAD, FLUID_LEGACY).
 *
 * The kind validated_pods checks pods in the form that will be stored, after all mutating webhooks:
 * pods that make a policy with mode Require impossible are refused (admission/pods/require.c). A
 * pod with schedulingGates is not placed while it has any gate, and its terms may be narrowed to
 * fewer nodes meanwhile. So it is reviewed again when its last gate goes.
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

/* Inputs of a review of a pod. All pointers are borrowed. */
struct pod_options {
    struct admission_options head;
    struct cache *cache;
    const struct pod_data *data;       /* NULL: no data is known */
    struct informer *volumes;          /* NULL: no volume is known */
    struct fluid_missing *missing;     /* empty; filled with Fluid's objects that were not found,
                                          strings in the arena; may be NULL */
    struct owners *owners;             /* selectors of controllers; NULL: none is known */
    struct owner_wanted *owner_wanted; /* zeroed; filled with the controller to read, strings in the
                                          object or the arena; may be NULL */
    struct spread_tally *spread;       /* gets the results for the constraints; may be NULL */
    struct spread_tally *audited; /* gets the results for policies with mode Audit; may be NULL */
    struct pod_evasion *evasion;  /* set to the way the pod evades its policy; may be NULL */
};

/* A decoded pod, with its policies. */
struct pod_question {
    struct admission_question head;
    struct pod pod;             /* with POD_WHOLE; its namespace is the review's */
    struct pod_details details; /* its metadata; its spec is not read */
    bool is_updated;            /* the pod exists, and its last gate is being removed */
    struct pod old;             /* if is_updated: as stored, with POD_WHOLE */
    struct labels namespace_labels;
    bool namespace_known;                 /* false: namespace_labels are unknown */
    struct policy_choice policies;        /* the policies that match */
    const struct policy *policy;          /* gives the pod its spread; NULL: none */
    const struct policy *locality_policy; /* gives the pod its locality; NULL: none */
};

/* For plugins of pods. */
static inline const struct pod_question *pod_question(const struct admission_question *question) {
    return (const struct pod_question *)question; /* its first member */
}
static inline const struct pod_options *pod_options(const struct pod_question *question) {
    return (const struct pod_options *)question->head.options; /* its first member */
}

/* Applies the edits of Fluid's plugins to their paths: node affinity, the annotation of datasets in
 * use, mount propagation. Does nothing, at no cost, if no data is known. */
extern const struct admission_plugin pod_plugin_fluid;
extern const struct admission_plugin pod_plugin_spread;
/* Changes nothing: notes what policies with mode Audit would do. */
extern const struct admission_plugin pod_plugin_audit;

/* Denies pods that evade a policy with mode Require. */
extern const struct admission_plugin pod_plugin_require;

/* The kinds of pods; the order of their plugins suits most users. */
extern const struct admitted_kind admitted_pods, validated_pods;
