/*
 * The steps of a Karmada scheduler; the output of each is the input of the next:
 *
 *     filter -> score -> group -> select -> assign
 *
 * Pure: clusters, a binding and options in, a decision out. They read no clock and write nothing.
 * All results are in the given arena; its steps bound the work.
 * upstream: karmada v1.18.1 pkg/scheduler/core.
 */
#pragma once

#include "estimator/estimator.h"
#include "karmada/options.h"
#include "model/binding.h"
#include "model/karmada.h"

enum { KARMADA_NOT_GIVEN = -1 };
/* A cluster that passed the filters, with its data. */
struct karmada_candidate {
    struct cluster_traits cluster;
    int64_t score;
    int64_t allocatable;    /* replicas that fit beside those of today */
    int64_t previous;       /* replicas of today */
    int64_t available;      /* allocatable + previous; KARMADA_NOT_GIVEN: see karmada_assign() */
    int32_t overflow_order; /* the affinity that matches: 0: the first affinity; n: its n-th
                               overflow; 1000: no affinity */
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
