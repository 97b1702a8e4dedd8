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
#include "karmada/options.h"
#include "model/binding.h"
#include "model/karmada.h"

enum { KARMADA_NOT_GIVEN = -1 };
/* A cluster that passed the filters, with what is known of it. */
struct karmada_candidate {
    struct cluster_traits cluster;
    int64_t score;
    int64_t allocatable;    /* replicas that fit beside those of today */
    int64_t previous;       /* replicas of today */
    int64_t available;      /* of both; KARMADA_NOT_GIVEN: see karmada_assign() */
    int32_t overflow_order; /* 0: the first affinity; n: its n-th overflow; 1000: none of them */
};

/* Kinds of answers without clusters. */
enum karmada_error {
    KARMADA_OK,
    KARMADA_FIT_ERROR,
    KARMADA_UNSCHEDULABLE,
    KARMADA_ERROR,
    KARMADA_ERRORS
};
extern const struct str
    karmada_error_names[KARMADA_ERRORS]; /* "", "FitError", "UnschedulableError", "error" */
