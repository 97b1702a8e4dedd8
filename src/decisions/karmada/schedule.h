/*
 * Where a binding's replicas should be: everything that Karmada's scheduler decides of it.
 *
 *     filter -> estimate -> Capacity -> score -> select -> assign
 *
 * Pure: clusters, a binding's spec and status, and options in; a decision out. Each step has its
 * function, whose output is the next one's input; karmada_schedule() runs them all. upstream:
 * karmada v1.18.1 pkg/scheduler/core generic_scheduler.go, and pkg/scheduler/framework.
 *
 * Not as upstream: the filters run in one order, so that the reason of a cluster that several
 * refuse is not chance; and the plugins Capacity, FreeCapacity and DataLocality exist.
 *
 * What is made is in the arena, and takes its steps; strings and clusters are borrowed. Functions
 * return 0, -E2BIG (the arena's steps) or -ENOMEM; that nothing fits is no failure. Threads:
 * questions are only read.
 */
#pragma once

#include "karmada/assign.h"
#include "karmada/select.h"

struct karmada_question {
    const struct karmada_cluster *const *clusters; /* each name once, in any order */
    uint32_t cluster_count;
    const struct binding_spec *spec;
    const struct binding_status *status; /* observed_affinity names the term that counts */
    const struct karmada_options *options;
    /* Answers of the members' accurate estimators, or ESTIMATE_UNKNOWN; NULL: no estimator.
     * [cluster_count] */
    const int64_t *accurate;
    /* The share of a workload's data in each cluster, 0 to 100 (percent); NULL: not known.
     * [cluster_count] */
    const uint8_t *data;
};

/* ---- filter ---- */

enum karmada_pass {
    CLUSTER_PASSES,
    CLUSTER_REFUSED,
    CLUSTER_DELETING, /* takes no part, and is no reason; counts among all clusters */
};
struct karmada_verdict {
    enum karmada_pass pass;
    enum karmada_plugin plugin; /* that refused it: the first of the order of enum karmada_plugin */
    struct str reason;          /* "" for a cluster that passes */
};

struct karmada_filtered {
    struct karmada_verdict *verdicts; /* [cluster_count] */
    struct karmada_candidate *candidates;
    uint32_t *clusters; /* [count]: the candidates' indices in the question, ascending */
    bool *is_target;    /* [count]: the binding has it today, with or without replicas */
    uint32_t count;
};
/* Every filter but Capacity. Candidates have no score and no replicas yet, but for `previous`. */
int karmada_filter(const struct karmada_question *q, struct arena *arena,
                   struct karmada_filtered *ret, struct err *err) MUST_CHECK;
/* upstream's text of a FitError, of clusters none of which passes. .p NULL: no memory, or no
 * steps. */
struct str karmada_fit_error(const struct karmada_filtered *filtered, uint32_t cluster_count,
                             struct arena *arena);

/* ---- estimate ---- */

/* Each is ESTIMATE_UNKNOWN where it was not asked or does not know. */
struct karmada_estimate {
    int64_t summary, models, accurate;
};
/*
 * Fills allocatable and available of the candidates in. A binding without replicas and components
 * fits everywhere, and nobody is asked. *ret has an item for each candidate. upstream:
 * calAvailableReplicas().
 */
int karmada_estimate(const struct karmada_question *q, struct karmada_filtered *filtered,
                     struct arena *arena, struct karmada_estimate **ret,
                     struct err *err) MUST_CHECK;
/* The filter Capacity, if it is on: takes candidates away whose available replicas are fewer than
 * the binding's, where each cluster is to have all of them. `estimates` goes along. */
void karmada_filter_capacity(const struct karmada_question *q, struct karmada_filtered *filtered,
                             struct karmada_estimate *estimates);

/* ---- score ---- */

struct karmada_scores {
    const int64_t *of[KARMADA_PLUGINS]; /* [count] 0 to 100; NULL: no such score, or it is off */
};
/*
 * Fills score in: the sum of all that are on.
 *   ClusterLocality  100 in a cluster that the binding has today. upstream's
 *   FreeCapacity     allocatable replicas, of those of the cluster that has most: 100 of it, whole
 *                    percents rounded down; 0 where no cluster has any. Ours
 *   DataLocality     q->data. Ours
 */
int karmada_score(const struct karmada_question *q, struct karmada_filtered *filtered,
                  struct arena *arena, struct karmada_scores *ret, struct err *err) MUST_CHECK;

/* ---- all of it ---- */

struct karmada_decision {
    struct karmada_filtered filtered;         /* with replicas and scores filled in */
    const struct karmada_estimate *estimates; /* [filtered.count] */
    struct karmada_scores scores;
    struct karmada_selection selection;   /* all zero where no cluster passed */
    struct karmada_assignment assignment; /* clusters by name; none after an error */
    enum karmada_error kind;
    struct str error; /* with upstream's prefix of the step that failed */
};
int karmada_schedule(const struct karmada_question *q, struct arena *arena,
                     struct karmada_decision *ret, struct err *err) MUST_CHECK;

/* ---- terms of clusterAffinities ---- */

/* The term that the name names; NULL: there is no such term, or clusterAffinity counts instead. */
const struct affinity_term *karmada_term(const struct cluster_placement *placement,
                                         struct str name);
