/*
 * Estimates how many replicas of a workload, or sets of its components, fit a cluster beside its
 * present load. Pure functions. upstream: karmada pkg/estimator (v1.18.1).
 *
 * There are two estimators: the *general* one uses the Cluster object's sums of resources, and its
 * counts of nodes by size (here); the *accurate* one uses the cluster's nodes and pods
 * (estimator/nodes.h).
 *
 * Answers are numbers of replicas or sets, 0 to ESTIMATE_MAX. Where upstream's sums wrap around,
 * sums here stop at the limit. Threads: inputs do not change; each call has an arena of its own.
 */
#pragma once

#include "estimator/model_versions.h"
#include "model/binding.h"
#include "model/karmada.h"

/* Karmada's value for "no limit". */
#define ESTIMATE_MAX INT32_MAX
/* The answer of an estimator without data. upstream: UnauthenticReplica */
#define ESTIMATE_UNKNOWN (-1)

/* ---- a question, prepared once for all clusters ---- */

/* The demand of one replica for a resource; more than 0. */
struct demand {
    struct str name;
    int64_t amount;    /* cpu in thousandths, other resources in whole units; rounded up */
    int64_t by_family; /* binary quantities in whole units, all other quantities in thousandths */
    __int128 nano;
    bool scheduled; /* nodes must have the resource: resource_is_scheduled() */
};
struct demands {
    bool given;                 /* there are requirements, perhaps empty ones */
    const struct demand *items; /* sorted by name, each name once */
    uint32_t count;
};

/* Components that run together. */
struct component_demand {
    int64_t replicas; /* 0 or more */
    struct demands demands;
    const struct replica_requirements *requirements; /* borrowed */
};
/* The demand of one set of components for a resource. */
struct set_demand {
    struct str name;
    int64_t amount, by_family; /* in the units of struct demand; INT64_MAX also stands for more */
};
struct component_set {
    struct str namespace; /* namespace of an assumed workload */
    const struct component_demand *items;
    uint32_t count;
    int64_t pods;                     /* total number of replicas */
    const struct set_demand *demands; /* sorted by name, each name once; amounts are above 0 */
    uint32_t demand_count;
};

struct estimator_question {
    const struct replica_requirements *requirements; /* borrowed */
    struct demands demands;                          /* demands of one replica */
    struct component_set set;
    const struct component_set
        *assumed; /* workloads that were sent to the cluster, but are not
                     visible there yet (gate SchedulingOvercommitProtection) */
    uint32_t assumed_count;
    const struct component_set *assumed_total; /* the sum of `assumed`, if the caller keeps it;
                                                  NULL: it is made for each estimate */
    enum estimator_models models;
    bool sets_by_name; /* setUnits ByName: amounts of sets are in units of the resource; upstream
                          uses units of the quantity's suffix */
};

/* Uses memory and steps of the arena. Returns 0, -E2BIG (steps are spent) or -ENOMEM. Borrows
 * requirements and components. Zeroes the other members of `ret`, and sets models to
 * MODELS_THIRD. */
int estimator_question_init(struct estimator_question *ret,
                            const struct replica_requirements *requirements,
                            const struct component *components, uint32_t component_count,
                            struct arena *arena) MUST_CHECK;
/* Makes only the demands of components, for `assumed`. Memory and errors are those of
 * estimator_question_init(). */
int component_set_init(struct component_set *ret, const struct component *components,
                       uint32_t component_count, struct arena *arena) MUST_CHECK;
/* Sums assumed workloads: pods, and demands by name. Memory and errors are those of
 * estimator_question_init(). */
int component_sets_sum(const struct component_set *sets, uint32_t count, struct arena *arena,
                       struct component_set *ret) MUST_CHECK;

struct assumed_workload; /* estimator/wire.h */
/* Sets q's assumed workloads, whose components are borrowed. Returns 0, -E2BIG or -ENOMEM. */
int estimator_question_assume(struct estimator_question *q, const struct assumed_workload *assumed,
                              uint32_t count, struct arena *arena) MUST_CHECK;

/* ---- the general estimator ---- */

struct general_estimate {
    int64_t replicas; /* the answer */
    int64_t summary;  /* room by the summary; ESTIMATE_UNKNOWN if models decide */
    int64_t models;   /* room by the models; ESTIMATE_UNKNOWN if they are not used */
};
/*
 * Estimates replicas of q->demands. Without assumed workloads it takes no memory and cannot fail:
 * one pass over the summary, or over the models, for any number of nodes. upstream:
 * GeneralEstimator.maxAvailableReplicas(). Returns 0, -E2BIG (the arena's steps are spent) or
 * -ENOMEM.
 */
int estimator_general_replicas(const struct karmada_cluster *cluster,
                               const struct estimator_question *q, struct arena *arena,
                               struct general_estimate *ret) MUST_CHECK;
/* Estimates the number of sets of q->set; for components without pods, the number of free pods.
 * Memory and errors are those of estimator_general_replicas(). upstream:
 * GeneralEstimator.maxAvailableComponentSets(). */
int estimator_general_sets(const struct karmada_cluster *cluster,
                           const struct estimator_question *q, struct arena *arena,
                           int64_t *ret) MUST_CHECK;

/*
 * Combines several answers for one cluster into the smallest answer that is not ESTIMATE_UNKNOWN.
 * Begin with ESTIMATE_MAX, call estimator_least() with each answer, then estimator_available(). It
 * returns `replicas` instead of ESTIMATE_MAX, the result without any answer. upstream:
 * calAvailableReplicas().
 */
static inline int64_t estimator_least(int64_t least, int64_t answer) {
    return answer != ESTIMATE_UNKNOWN && answer < least ? answer : least;
}
static inline int64_t estimator_available(int64_t least, int64_t replicas) {
    return least >= ESTIMATE_MAX ? replicas : least;
}
