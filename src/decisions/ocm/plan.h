/*
 * Selects the clusters of a Placement in rounds: each round takes one cluster from the emptiest
 * domains of the terms. The model is Open Cluster Management's enhancement 70 (spread policy); this
 * comment also defines the points that the enhancement leaves open. Pure: slots of a topology in,
 * slots out; no clock, no state.
 *
 * Terms are sorted by importance. The domain of a cluster under a term is the tuple of its values
 * of this term's key and of the keys of all terms before it. A cluster without the key of a hard
 * term takes no part; under a soft term its value is "". A domain exists if a cluster that takes
 * part is in it. The count of a domain begins at 0, or at the spread group's count in the domain.
 *
 * A hard term forbids a cluster if the cluster's domain would be more than maxSkew above the
 * emptiest of its siblings (the domains with the same parent); with fewer siblings than minDomains,
 * the emptiest counts as 0. In *first* mode (weight 0) the allowed cluster with the highest score
 * of spread (topology/rounds.h) wins, then the highest sum, then members, then the name. With a
 * weight, the score of spread is scaled to -100..100 over the allowed clusters (floor; 0 if all are
 * equal), times the weight, plus the sum; the highest wins, then members, then the name. Rounds end
 * when enough clusters are selected, or no cluster is allowed.
 *
 * Members stay: a hard term keeps new clusters out, but removes no member, as DoNotSchedule of
 * Kubernetes evicts no pod. If fewer clusters are picked than wanted (or no number is given),
 * rounds go on among the remaining members, without hard terms; the score of spread is scaled to
 * -100..100 over these members. Last come, by sum and name, members without the key of a hard term;
 * they are in no domain and are not counted. All members that stay in these ways are *kept*.
 *
 * Without terms, clusters are selected in OCM's own order: by sum, then by name.
 */
#pragma once

#include "model/placement_term.h"
#include "topology/topology.h"

/* All members are borrowed. Arrays by slot have topology_slots() items; a NULL array means that all
 * items are 0. */
struct plan_question {
    const struct placement_term *terms; /* at most PLACEMENT_TERMS terms */
    uint32_t term_count;
    const uint32_t *candidates; /* slots of known clusters that pass all other filters, each once */
    uint32_t candidate_count;
    const int64_t *sums;    /* by slot: sum over all prioritizers, within +-2^61 */
    const uint8_t *members; /* by slot: 1: the cluster is in today's decision */
    const uint32_t *others; /* by slot: the spread group's count of the cluster */
    const uint8_t *barred;  /* by slot: 1: not to be selected, although its domains exist */
    bool has_number;        /* false: selects as many as possible */
    uint32_t number;
    int32_t weight; /* weight of `builtIn: Spread`; 0: first mode; not used without terms */
    bool with_rounds, with_domains;
};

struct plan_domain {
    const struct str *path; /* [depth]: values of the first `depth` terms; borrowed from the view */
    uint32_t depth;
    uint32_t feasible, selected; /* number of clusters that take part; number selected */
};

struct plan_round {
    uint32_t picked;         /* slot of the picked cluster */
    const uint32_t *dropped; /* slots that a hard term forbids from now on, sorted by name */
    uint32_t dropped_count;
    const uint32_t *slots; /* [count]: the allowed clusters, sorted by name; with the picked one */
    const int64_t *raw;    /* [count]: scores of spread */
    const int64_t *final;  /* [count]: the final scores, with a weight; NULL in first mode */
    uint32_t count;
};

/* Arrays are in the arena. */
struct plan {
    uint32_t *selected; /* slots, in the order of picking; then the kept clusters */
    uint32_t selected_count;
    uint32_t kept_count;    /* number of kept clusters, which are at the end of `selected` */
    uint32_t keyless_count; /* number of clusters at the end of the kept ones that lack the key of a
                               hard term */
    uint8_t *kept_terms;    /* [kept_count]: the term that forbids new clusters in the domain */
    uint32_t unscheduled;   /* number of missing clusters; 0 if no number was asked for */
    /* New clusters of `selected` in a domain that is above a hard term because of kept clusters: as
     * many of them as must go so that the domain is not above, or all of them if they are too
     * few. */
    uint32_t *above;
    uint32_t above_count;
    int64_t skew[PLACEMENT_TERMS]; /* skew of each term: count of the fullest sibling minus that of
                                      the emptiest; the largest difference of all parents */
    uint8_t *lacks; /* [candidate_count]: 0: takes part; n: lacks the key of the n-th term, a hard
                       term */
    struct plan_domain *domains; /* domains of all terms, sorted by path; only with_domains */
    uint32_t domain_count;
    struct plan_round *rounds; /* with_rounds: one for each selected cluster that is not kept */
    uint32_t round_count;
};

/* Returns the slots of the kept clusters, [kept_count], in the plan's memory; NULL if the plan
 * keeps no cluster. */
static inline const uint32_t *ocm_plan_kept(const struct plan *plan) {
    return plan->kept_count > 0 ? plan->selected + plan->selected_count - plan->kept_count : NULL;
}

/* Gets the values of a term's key; a label with a key like a claim's does not count. Returns 0,
 * -E2BIG (steps are spent) or -ENOMEM. */
int ocm_term_column(struct topology_view *v, const struct placement_term *term, struct arena *arena,
                    struct topology_column *ret) MUST_CHECK;

/*
 * Makes a plan. Takes the arena's steps; building columns takes the view's steps. O(candidates x
 * terms + selected x terms x log(domains) + members without a key x log(members)), with a weight
 * O(selected x domains), with_rounds O(selected x candidates x terms). Returns 0, -E2BIG (steps are
 * spent) or -ENOMEM.
 */
int ocm_plan(struct topology_view *v, const struct plan_question *q, struct arena *arena,
             struct plan *ret) MUST_CHECK;
