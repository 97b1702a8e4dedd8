/*
 * The interface of an algorithm to the engine. Only files of this folder include it.
 *
 * One call of the engine makes one struct evaluation; an algorithm's state lives in the
 * evaluation's arena. Before work per candidate, per node or per item of a user's text, an
 * algorithm takes steps of the evaluation (evaluation_take()), because it works under the cache's
 * lock.
 */
#pragma once

#include "base/steps.h"
#include "engine/engine.h"

#include <errno.h>

/* The last reason stands for all further reasons. */
enum { ALGORITHM_SKIP = 1, REASONS_MAX = 200, REASON_REST = REASONS_MAX - 1 };
enum { REASON_UNKNOWN_NODE = 1 };

/* A constraint of the pod's own, compiled. */
struct own_constraint {
    struct selector selector;
    struct counter_question question;
};

/* The questions about places of the volumes of the pod's claims (engine/claims.h), in the order of
 * struct pod_claims.
 */
struct claim_questions {
    const char *unjudged; /* why claims are not judged; NULL: claims are judged */
    struct feasibility_question *bound, *zones, *places;
    uint32_t zone_count; /* number of zone questions of all bound claims together */
};

struct evaluation {
    const struct engine_options *options;
    const struct pod *pod;
    struct steps *steps;
    /* Made before the view is opened: a user may write hundreds of thousands of values. */
    struct feasibility_question feasibility;
    struct own_constraint *own; /* [pod->constraint_count], of the wanted kind */
    int own_failed;             /* 0, or the error of one of them ... */
    struct err own_err;         /* ... and its text */
    struct claim_questions claims;
    struct feasibility_question added; /* question about options->added_affinity, if NodeAffinity is
                                          run */
    uint32_t filters;                  /* FILTER_* that will be run */
    bool in_tree;                      /* scores: options->in_tree */
    struct pod_terms terms; /* the pod's affinity terms, compiled: for FILTER_INTER_POD_AFFINITY the
                               required, for in_tree the preferred terms */
    int terms_failed;       /* 0, or the error of one of them ... */
    struct err terms_err;   /* ... and its text */
    struct cache_view *view;
    struct arena *arena;
    const uint32_t *slots; /* slots of the candidates; TOPOLOGY_NONE: the node is not known */
    uint32_t count;
    const struct algorithm *running; /* the algorithm that adds reasons */
    struct str *reasons;             /* [REASONS_MAX] */
    const char **reason_filters;     /* [REASONS_MAX] */
    uint32_t reason_count;
    uint8_t rejected; /* the reason for which a prefilter refuses all nodes; 0: none does */
    struct applied_constraint *applied; /* [applied_cap] */
    uint32_t applied_count, applied_cap;
    struct dataset_report *datasets; /* with options->reports */
    uint32_t dataset_count;
    const struct ordered_rule *rule; /* scores: the rule of ordered_spread; NULL: no rule applies */
    bool assumed;                    /* scores: some of the counted pods are assumed */
    /* Number of steps that judging one node, and removing one pod, takes; 1 until a prefilter sets
     * it. */
    uint64_t node_steps, pod_steps;
};

/* Are the nodes' resources known? If so, a node that reports no resources has no resources. */
static inline bool resources_are_known(const struct evaluation *e) {
    return e->options->resources_are_known || cache_any_allocatable(e->view);
}

/* Returns 0, or -E2BIG if too few steps are left. */
static inline int evaluation_take(const struct evaluation *e, uint64_t steps) {
    return steps_take(e->steps, steps) ? 0 : -E2BIG;
}

struct filter_status {
    enum verdict verdict;
    uint8_t reason;
};

/* The domains of one constraint, and each node's domain. */
struct domain_sheet {
    uint32_t *of;                /* [topology_slots()]: index into items, or TOPOLOGY_NONE */
    struct domain_report *items; /* name, pods, counts and allowed are filled in */
    uint32_t count;
};

struct algorithm {
    const char *name;
    const char *plugin; /* kube-scheduler's name for the filter, or the name that it would have */

    /* Prepares the filter: counts per domain, minima. Returns 0, ALGORITHM_SKIP (the filter does
     * not apply to this pod) or -errno. */
    int (*prefilter)(struct evaluation *e, void **ret_state, struct err *err);
    /* Judges one known node before any filter does. upstream: PreFilterResult.NodeNames. NULL: the
     * algorithm excludes no node in advance. */
    struct filter_status (*preselect)(const struct evaluation *e, void *state, uint32_t slot);
    /* Judges one known node. */
    struct filter_status (*filter)(const struct evaluation *e, void *state, uint32_t slot);
    /* Judges all candidates that have passed so far, like filter() but faster. Unknown candidates
     * have been refused before. NULL: filter() is called for each. */
    void (*filter_all)(const struct evaluation *e, void *state, uint8_t *verdicts,
                       uint8_t *reasons);
    /* Sets *ret to the domains of the constraint with this index among those that prefilter()
     * noted. The caller has set all of ret->of to TOPOLOGY_NONE. Returns 0 or -ENOMEM. NULL: the
     * algorithm has no domains. */
    int (*domains)(const struct evaluation *e, void *state, uint32_t constraint,
                   struct domain_sheet *ret);
    /* Takes a counted pod out of the state, or puts it back, to simulate preemption. NULL: no pod
     * changes the verdict. */
    void (*remove_pod)(const struct evaluation *e, void *state, const struct cache_pod *pod);
    void (*restore_pod)(const struct evaluation *e, void *state, const struct cache_pod *pod);

    /* Scores every candidate into raw, then maps these scores to 0..ENGINE_MAX_NORMALIZED. Returns
     * 0, ALGORITHM_SKIP or -errno. */
    int (*score)(struct evaluation *e, int64_t *raw, int64_t *normalized, struct err *err);
    uint32_t (*weight)(const struct engine_options *options);
};

extern const struct algorithm node_unschedulable_algorithm;
extern const struct algorithm node_name_algorithm;
extern const struct algorithm taint_algorithm;
extern const struct algorithm affinity_algorithm;
extern const struct algorithm ports_algorithm;
extern const struct algorithm fit_algorithm;
extern const struct algorithm volume_binding_algorithm;
extern const struct algorithm volume_zone_algorithm;
extern const struct algorithm spread_algorithm;
extern const struct algorithm pod_affinity_algorithm;
extern const struct algorithm ordered_spread_algorithm;
extern const struct algorithm locality_algorithm;

/* The node would pass if no pod in flight could land in its domain. Preemption would not help, so
 * the verdict is unresolvable; after the next binding the scheduler asks again. */
#define FLIGHT_REASON "waiting for pods in flight on "

/* Notes the reason "<before><key><after>" and returns its index. */
uint8_t reason_add(struct evaluation *e, const char *before, struct str key, const char *after);

/* Reports the domains of constraints that this algorithm noted, after the candidates have been
 * judged. Omits domains that take too many steps. Returns 0 or -ENOMEM. */
int domains_report(struct evaluation *e, const struct algorithm *algorithm, void *state,
                   const struct filter_result *judged, struct applied_constraint *applied,
                   uint32_t count);

/* Notes a constraint that is applied; its pointers live as long as the answer. Returns its item,
 * which the caller may fill until the next constraint is noted; NULL if the arena failed. */
struct applied_constraint *applied_add(struct evaluation *e,
                                       const struct spread_constraint *constraint,
                                       enum constraint_origin origin);
