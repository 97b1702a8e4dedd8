/*
 * Decides where a binding's replicas should be: everything that Karmada's scheduler decides.
 *
 *     filter -> estimate -> Capacity -> score -> select -> assign
 *
 * Pure: clusters, a binding's spec and status, and options in; a decision out. Each step is a
 * function, and its output is the input of the next; karmada_schedule() runs them all. upstream:
 * karmada v1.18.1 pkg/scheduler/core generic_scheduler.go, and pkg/scheduler/framework.
 *
 * Differences from upstream: the filters run in a fixed order, so that the reason does not vary if
 * several refuse a cluster; and there are the plugins Capacity, FreeCapacity and DataLocality.
 *
 * Results are in the arena, and making them takes its steps; strings and clusters are borrowed.
 * Functions return 0, -E2BIG (the arena's steps are spent) or -ENOMEM; it is no failure if nothing
 * fits. Threads: questions are only read.
 */
#pragma once

#include "karmada/assign.h"
#include "karmada/assumed.h"
#include "karmada/select.h"

struct karmada_question {
    const struct karmada_cluster *const *clusters; /* each name once, in any order */
    uint32_t cluster_count;
    const struct binding_spec *spec;
    const struct binding_status *status; /* observed_affinity names the term in force */
    const struct karmada_options *options;
    /* Answers of the members' accurate estimators, or ESTIMATE_UNKNOWN; NULL: no estimator.
     * [cluster_count] */
    const int64_t *accurate;
    /* The share of a workload's data in each cluster, 0 to 100 (percent); NULL: not known.
     * [cluster_count] */
    const uint8_t *data;
    /* Replicas of other bindings that are not in the clusters' status yet; NULL: none. */
    const struct karmada_assumed *assumed;
};

/* ---- filter ---- */

enum karmada_pass {
    CLUSTER_PASSES,
    CLUSTER_REFUSED,
    CLUSTER_DELETING, /* being deleted: no reason, but counted among all clusters */
};
struct karmada_verdict {
    enum karmada_pass pass;
    enum karmada_plugin plugin; /* the first plugin, in the order of the enum, that refused the
                                   cluster */
    struct str reason;          /* "" for a cluster that passes */
};

struct karmada_filtered {
    struct karmada_verdict *verdicts; /* [cluster_count] */
    struct karmada_candidate *candidates;
    uint32_t *clusters; /* [count]: the candidates' indices in the question, ascending */
    bool *is_target;    /* [count]: the binding has this cluster today, with or without replicas */
    uint32_t count;
};
/* Runs every filter but Capacity. Candidates have no score and no replicas yet, only `previous`. */
int karmada_filter(const struct karmada_question *q, struct arena *arena,
                   struct karmada_filtered *ret, struct err *err) MUST_CHECK;
/* Returns upstream's text of a FitError, for the case that no cluster passes; .p is NULL if memory
 * or steps are used up. */
struct str karmada_fit_error(const struct karmada_filtered *filtered, uint32_t cluster_count,
                             struct arena *arena);

/* ---- estimate ---- */

/* Each is ESTIMATE_UNKNOWN if the estimator was not asked or has no answer. */
struct karmada_estimate {
    int64_t summary, models, accurate;
};
/*
 * Sets allocatable and available of the candidates. A binding without replicas and components fits
 * everywhere, so no estimator is asked. *ret has an item for each candidate. upstream:
 * calAvailableReplicas().
 */
int karmada_estimate(const struct karmada_question *q, struct karmada_filtered *filtered,
                     struct arena *arena, struct karmada_estimate **ret,
                     struct err *err) MUST_CHECK;
/* Runs the filter Capacity, if it is on: if each cluster gets all replicas, removes the candidates
 * that have room for fewer replicas, and their items of `estimates`. */
void karmada_filter_capacity(const struct karmada_question *q, struct karmada_filtered *filtered,
                             struct karmada_estimate *estimates);

/* ---- score ---- */

struct karmada_scores {
    const int64_t *of[KARMADA_PLUGINS]; /* [count]: scores 0 to 100 of each plugin; NULL: the plugin
                                           is off, or gives no scores */
};
/*
 * Sets each candidate's score to the sum of the scores that are on:
 *   ClusterLocality  100 for a cluster that the binding has today. upstream's
 *   FreeCapacity     allocatable replicas in percent of the largest number of any cluster, rounded
 *                    down; 0 if no cluster has any. Evenkeel's
 *   DataLocality     q->data. Evenkeel's
 */
int karmada_score(const struct karmada_question *q, struct karmada_filtered *filtered,
                  struct arena *arena, struct karmada_scores *ret, struct err *err) MUST_CHECK;

/* ---- all of it ---- */

struct karmada_decision {
    struct karmada_filtered filtered;         /* the filtered clusters, with their replicas and
                                                 scores */
    const struct karmada_estimate *estimates; /* [filtered.count] */
    struct karmada_scores scores;
    struct karmada_selection selection;   /* all zero if no cluster passed */
    struct karmada_assignment assignment; /* clusters by name; none after an error */
    enum karmada_error kind;
    struct str error; /* the error, with upstream's prefix for the failed step */
};
int karmada_schedule(const struct karmada_question *q, struct arena *arena,
                     struct karmada_decision *ret, struct err *err) MUST_CHECK;

/* ---- terms of clusterAffinities ---- */

/* Returns the term with this name; NULL if no term has the name, or if clusterAffinity counts
 * instead of terms. */
const struct affinity_term *karmada_term(const struct cluster_placement *placement,
                                         struct str name);
