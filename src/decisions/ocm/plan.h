/*
 * Selects the clusters of a Placement in rounds: each round takes one cluster from the emptiest
 * domains of the terms. After Open Cluster Management's enhancement 70 (spread policy); this
 * comment defines what the enhancement leaves open. Pure: slots of a topology in, slots out; no
 * clock, no state.
 *
 * Terms are sorted by importance. The domain of a cluster under a term is the tuple of its values
 * of this term's key and of all keys before. A cluster without the key of a hard term takes no
 * part; under a soft term its value is "". A domain exists if a cluster that takes part is in it.
 * Counts begin at 0, or at the spread group's count there.
 *
 * A hard term forbids a cluster if its domain would be more than maxSkew above the emptiest of its
 * siblings (the domains with the same parent); with fewer siblings than minDomains, the emptiest
 * counts as 0. In *first* mode (weight 0) the allowed cluster with the highest score of spread
 * (topology/rounds.h) wins, then the highest sum, then members, then the name. With a weight, the
 * score of spread is scaled to -100..100 over the allowed clusters (floor; 0 if all are equal),
 * times the weight, plus the sum; the highest wins, then members, then the name. Rounds end when
 * enough clusters are selected, or no cluster is allowed.
 *
 * Members stay: a hard term keeps new clusters out, but removes no member, as DoNotSchedule of
 * Kubernetes evicts no pod. If fewer clusters are picked than wanted (or no number is given),
 * rounds go on among the remaining members, without hard terms; the score of spread is scaled to
 * -100..100 over these. The last ones, by sum and name, are members without the key of a hard term;
 * they are in no domain and are not counted. All these are *kept*.
 *
 * Without terms the order is OCM's own: by sum, then by name.
 */
#pragma once

#include "model/placement_term.h"
#include "topology/topology.h"

/* All borrowed. Arrays by slot have topology_slots() items; NULL: all items are 0. */
struct plan_question {
    const struct placement_term *terms; /* at most PLACEMENT_TERMS */
    uint32_t term_count;
    const uint32_t *candidates; /* slots of known clusters that pass all other filters, each once */
    uint32_t candidate_count;
    const int64_t *sums;    /* sums over all prioritizers; by slot, within +-2^61 */
    const uint8_t *members; /* by slot; 1: in today's decision */
    const uint32_t *others; /* by slot: count of the cluster in the spread group */
    const uint8_t *barred;  /* by slot; 1: its domains exist, but it is not selected */
    bool has_number;        /* false: selects as many as possible */
    uint32_t number;
    int32_t weight; /* weight of `builtIn: Spread`; 0: first mode. Not used without terms */
    bool with_rounds, with_domains;
};

struct plan_domain {
    const struct str *path; /* [depth]: the values of the first terms; borrowed from the view */
    uint32_t depth;
    uint32_t feasible, selected; /* clusters that take part, and those of them that are selected */
};

struct plan_round {
    uint32_t picked;         /* slot */
    const uint32_t *dropped; /* slots that a hard term forbids now, by name */
    uint32_t dropped_count;
    const uint32_t *slots; /* [count]: allowed clusters, by name, with the picked one */
    const int64_t *raw;    /* [count]: their scores of spread */
    const int64_t *final;  /* [count]: the compared scores, with a weight; NULL in first mode */
    uint32_t count;
};

/* Arrays are in the arena. */
struct plan {
    uint32_t *selected; /* slots, in the order of picking, then the kept ones */
    uint32_t selected_count;
    uint32_t kept_count;    /* the kept clusters are at the end of `selected` */
    uint32_t keyless_count; /* at the end of the kept ones: they lack a hard term's key */
    uint8_t *kept_terms;    /* [kept_count]: the hard term that would forbid a new cluster there */
    uint32_t unscheduled;   /* missing clusters; 0 without a number */
    /* New clusters of `selected` in a domain that is above a hard term because of kept clusters: as
     * many as would have to go so that it is not above, or all that there are. */
    uint32_t *above;
    uint32_t above_count;
    int64_t skew[PLACEMENT_TERMS]; /* of each term: fullest minus emptiest sibling, the largest
                                      of all parents */
    uint8_t *lacks; /* [candidate_count]: number, from 1, of the hard term whose key the cluster
                       lacks; 0: it takes part */
    struct plan_domain *domains; /* every domain of every term, by path; with_domains */
    uint32_t domain_count;
    struct plan_round *rounds; /* as many as are picked, without the kept; with_rounds */
    uint32_t round_count;
};

/* Returns the kept clusters, [kept_count], the plan's; NULL if the plan keeps none. */
static inline const uint32_t *ocm_plan_kept(const struct plan *plan) {
    return plan->kept_count > 0 ? plan->selected + plan->selected_count - plan->kept_count : NULL;
}

/* Gets the values of a term's key; a label with a key like a claim's does not count. Returns 0,
 * -E2BIG (steps) or -ENOMEM. */
int ocm_term_column(struct topology_view *v, const struct placement_term *term, struct arena *arena,
                    struct topology_column *ret) MUST_CHECK;

/*
 * Takes the arena's steps; building columns takes the view's. O(candidates x terms + selected x
 * terms x log(domains) + members without a key x log(members)), with a weight O(selected x
 * domains), with_rounds O(selected x candidates x terms). Returns 0, -E2BIG (steps) or -ENOMEM.
 */
int ocm_plan(struct topology_view *v, const struct plan_question *q, struct arena *arena,
             struct plan *ret) MUST_CHECK;
