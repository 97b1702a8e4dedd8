/*
 * Which clusters a Placement selects: rounds, each of which takes one cluster where its terms find
 * the fleet emptiest. After Open Cluster Management's enhancement 70 (spread policy); what it
 * leaves open is said here. Pure: slots of a topology in, slots out; no clock, nothing is kept.
 *
 * Terms come by importance. The domain of a cluster under a term is its values of this term's key
 * and of all before it. A cluster without the key of a hard term takes no part; under a soft one
 * the missing value is "". A domain exists while a cluster that takes part is in it. Counts begin
 * at 0, or at what the spread group has there.
 *
 * A hard term forbids a cluster whose domain would be more than maxSkew above the emptiest of its
 * siblings, which are the domains with the same parent; where there are fewer of them than
 * minDomains, the emptiest counts as 0. Of the others the winner is, in *first* mode (weight 0),
 * the one with the highest score of spread (topology/rounds.h), then the highest sum, then a member
 * before others, then the name. With a weight the score of spread is brought to -100..100 over the
 * clusters that are allowed (floor; 0 where all are equal), times the weight, plus the sum; the
 * highest wins, then a member, then the name. Rounds end when enough are selected, or nobody is
 * allowed.
 *
 * Members stay: a hard term keeps new clusters out, and takes none away that is there, as
 * DoNotSchedule of Kubernetes evicts nobody. Where fewer are picked than wanted (or no number is
 * given), rounds go on among the members that are left, without a look at hard terms; the score of
 * spread is brought to -100..100 over these. Last come, by sum and name, members without the key of
 * a hard term; they are in no domain and count nowhere. All these are *kept*.
 *
 * Without terms the order is OCM's own: by sum, then by name.
 */
#pragma once

#include "model/placement_term.h"
#include "topology/topology.h"

/* All borrowed. Arrays by slot have topology_slots() items; NULL: all of them are 0. */
struct plan_question {
    const struct placement_term *terms; /* at most PLACEMENT_TERMS */
    uint32_t term_count;
    const uint32_t *candidates; /* slots of known clusters that pass all other filters, each once */
    uint32_t candidate_count;
    const int64_t *sums;    /* of all prioritizers; by slot, within +-2^61 */
    const uint8_t *members; /* by slot; 1: it is decided today */
    const uint32_t *others; /* by slot: how often the spread group has it */
    const uint8_t *barred;  /* by slot; 1: it is in its domains, and is not selected */
    bool has_number;        /* false: as many as there are */
    uint32_t number;
    int32_t weight; /* of `builtIn: Spread`; 0: first mode. Without terms it means nothing */
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
    const uint32_t *slots; /* [count]: those that are allowed, by name, the picked one included */
    const int64_t *raw;    /* [count]: their scores of spread */
    const int64_t *final;  /* [count]: what is compared, with a weight; NULL in first mode */
    uint32_t count;
};

/* Arrays are the arena's. */
struct plan {
    uint32_t *selected; /* slots, in the order of picking, then the kept */
    uint32_t selected_count;
    uint32_t kept_count;    /* the last so many of `selected` */
    uint32_t keyless_count; /* the last so many of the kept: they lack a hard term's key */
    uint8_t *kept_terms;    /* [kept_count]: the hard term that would let nobody in there */
    uint32_t unscheduled;   /* how many fewer than the number; 0 without a number */
    /* New ones of `selected` whose domain is above a hard term with the kept: so many that it would
       not be without them, or all that there are. */
    uint32_t *above;
    uint32_t above_count;
    int64_t skew[PLACEMENT_TERMS]; /* of each term: the fullest above the emptiest sibling, the
                                      largest of all parents */
    uint8_t *lacks; /* [candidate_count]: the hard term whose key the candidate has not, from 1;
                       0: it takes part */
    struct plan_domain *domains; /* every domain of every term, by path; with_domains */
    uint32_t domain_count;
    struct plan_round *rounds; /* as many as are picked, without the kept; with_rounds */
    uint32_t round_count;
};

/* Returns the kept clusters, [kept_count], the plan's; NULL if the plan keeps none. */
static inline const uint32_t *ocm_plan_kept(const struct plan *plan) {
    return plan->kept_count > 0 ? plan->selected + plan->selected_count - plan->kept_count : NULL;
}

/* The values of a term's key; a label whose key looks like a claim's does not exist. 0, -E2BIG
 * (steps) or -ENOMEM. */
int ocm_term_column(struct topology_view *v, const struct placement_term *term, struct arena *arena,
                    struct topology_column *ret) MUST_CHECK;

/*
 * Its steps are the arena's; what the view builds takes the view's. O(candidates x terms + selected
 * x terms x log(domains) + members without a key x log(members)), with a weight O(selected x
 * domains), with_rounds O(selected x candidates x terms). 0, -E2BIG (steps) or -ENOMEM.
 */
int ocm_plan(struct topology_view *v, const struct plan_question *q, struct arena *arena,
             struct plan *ret) MUST_CHECK;
