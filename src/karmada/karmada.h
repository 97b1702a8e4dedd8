/*
 * What a scheduler of Karmada decides, step by step, each one's output the next one's input:
 *
 *     filter -> score -> group -> select -> assign
 *
 * Pure: clusters, a binding and options in, a decision out. No clock is read, nothing is written.
 * Everything made is in the arena that is given; its steps bound the work.
 * upstream: karmada v1.18.1 pkg/scheduler/core.
 */
#pragma once

#include "estimator/estimator.h"
#include "model/binding.h"
#include "model/karmada.h"

/* A cluster that passed the filters, with what is known of it. */
struct karmada_candidate {
    struct cluster_traits cluster;
    int64_t score;
    int64_t allocatable;    /* replicas that fit beside those of today */
    int64_t previous;       /* replicas of today */
    int64_t available;      /* of both */
    int32_t overflow_order; /* 0: the first affinity; n: its n-th overflow; 1000: none of them */
};

enum missing_topology { MISSING_REFUSE, MISSING_DEFAULT };
enum no_constraint { NO_CONSTRAINT_ALL, NO_CONSTRAINT_UNTIL_ENOUGH };
enum karmada_compat { COMPAT_NONE, COMPAT_1_18_1 };
enum karmada_division { DIVISION_WEBSTER, DIVISION_REMAINDER };

/* What configuration or a question may change; karmada_defaults answers as v1.18.1 does, except
 * where the levels of a spread are concerned. */
struct karmada_options {
    enum missing_topology missing;
    enum no_constraint no_constraint;
    enum karmada_compat compat;
    enum estimator_models models;
    enum karmada_division division;
    uint64_t search_budget;      /* steps of one selection */
    bool max_unset_is_unlimited; /* maxGroupsUnset */
    bool static_keeps_spread;
    bool sets_by_name;                /* setUnits: ByName */
    bool empty_propagation;           /* enableEmptyWorkloadPropagation */
    uint32_t plugins_on, plugins_off; /* bits of enum karmada_plugin, beside upstream's own */
};
extern const struct karmada_options karmada_defaults;

/* How an answer that is none is told. */
enum karmada_error {
    KARMADA_OK,
    KARMADA_FIT_ERROR,
    KARMADA_UNSCHEDULABLE,
    KARMADA_ERROR,
    KARMADA_ERRORS
};
extern const struct str
    karmada_error_names[KARMADA_ERRORS]; /* "", "FitError", "UnschedulableError", "error" */
