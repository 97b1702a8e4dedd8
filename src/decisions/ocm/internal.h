/*
 * Declares the steps of a decision, for the files of this folder only. Each step reads the results
 * of the steps before it from the decision, and adds its own results. All steps return 0, -E2BIG
 * (the budget is spent) or -ENOMEM; a misconfigured Placement is no failure, but an outcome.
 */
#pragma once

#include "ocm/decide.h"
#include "topology/name_order.h"

#include <errno.h>

/* Facts about every slot. They are read once, in the order of the slots: in the order of names,
 * each read would miss the processor's caches. */
enum { SLOT_KNOWN = 1, SLOT_TERMINATING = 2, SLOT_TAINTED = 4 };

struct deciding {
    const struct ocm_question *question;
    const struct placement *placement; /* the Placement of the question */
    struct fleet_view *view;
    struct topology *topology; /* the topology of the view */
    struct arena *arena;
    struct topology_order order;
    struct ocm_decision *d;
    uint32_t slots; /* number of slots: topology_slots() */
    uint8_t *facts; /* [slots]: SLOT_KNOWN and so on */
    /* Slots of the clusters that no step has removed yet: first the available clusters, then
     * clusters that pass the filters. Sorted by name. */
    uint32_t *left;
    uint32_t left_count;
    uint8_t *verdicts; /* [slots]: ocm_decision.verdicts */
    uint32_t *causes;  /* [slots]: ocm_decision.causes */
    uint8_t *in_sets;  /* [slots]: 1: in an eligible set, even while being deleted */
    uint8_t *members;  /* [slots]: 1: the cluster is in today's decision */
    uint32_t *decided; /* [slots]: how often this Placement's decisions name the cluster */
    uint8_t *holds;    /* [slots]: scratch memory of match_slots(), like the next two members */
    uint8_t *of_domain;
    uint32_t domain_cap;
    struct str *warnings;
    uint32_t warning_count, warning_cap;
};

/* Takes the steps for looking at `count` things. Returns 0 or -E2BIG. */
static inline int deciding_steps(struct deciding *x, uint64_t count) {
    return steps_take(&x->arena->steps, count) ? 0 : -E2BIG;
}

/* Ends the decision: the Placement cannot be decided. `plugin` may be "". Texts are borrowed. */
void deciding_stop(struct deciding *x, enum ocm_outcome outcome, struct str plugin,
                   struct str problem);
/* Adds a warning. The text is borrowed. Returns 0 or -ENOMEM. */
int deciding_warn(struct deciding *x, struct str warning) MUST_CHECK;
/* Joins the parts. Returns "" if the arena failed. */
struct str deciding_join(struct deciding *x, const struct str *parts, uint32_t count);
/* Sorts slots by name, in place. Takes steps. Returns 0 or -E2BIG. */
int deciding_sort(struct deciding *x, uint32_t *slots, uint32_t count) MUST_CHECK;

/* match.c */
/* Compiles the parts for labels and for claims into one selector, in which keys of claims have
 * CLAIM_PREFIX. *ret_problem is upstream's text if a part does not compile, otherwise "". */
int match_compile(const struct placement_selector *from, struct arena *arena, struct selector *ret,
                  struct str *ret_problem) MUST_CHECK;
/*
 * Clears the flags of slots that a selector does not match, and does not change other flags. If
 * `causes` is not NULL, it gets, for each cleared flag, the number of the requirement that did not
 * hold. Each topology key's column is asked for once, and each domain is matched once. So the cost
 * is O(requirements x (slots + domains)), and no label is read.
 */
int match_slots(struct deciding *x, const struct selector *s, const uint32_t *slots, uint32_t count,
                uint8_t *flags, uint32_t *causes) MUST_CHECK;

/* sets.c: finds bindings, sets, in_sets, available, absent, left */
int decide_sets(struct deciding *x) MUST_CHECK;
/* predicate.c: filters the clusters in `left`, as upstream's plugin Predicate does */
int decide_predicate(struct deciding *x) MUST_CHECK;
/* taint_toleration.c: filters by taints. The cause of its verdict is the taint that is not
 * tolerated, and whether a toleration was in force until its tolerationSeconds were over. */
int decide_taints(struct deciding *x) MUST_CHECK;
static inline uint32_t taint_cause(uint32_t taint, bool expired) {
    return taint << 1 | expired;
}
static inline uint32_t taint_cause_index(uint32_t cause) {
    return cause >> 1;
}
static inline bool taint_cause_expired(uint32_t cause) {
    return (cause & 1) != 0;
}
/* Finds when a toleration ends. Call it after all other steps have succeeded. */
int decide_requeue(struct deciding *x) MUST_CHECK;
/* terms.c: finds the terms. It runs before the weights, which depend on terms. */
int decide_terms(struct deciding *x) MUST_CHECK;
/* spread_group.c: counts, in [slots], how often the other Placements of the spread group have a
 * cluster. *ret is NULL if the Placement has no group. */
int spread_group_count(struct deciding *x, uint32_t **ret) MUST_CHECK;

/* A prioritizer that is to be asked. */
enum prioritizer_kind {
    PRIORITIZE_BALANCE,
    PRIORITIZE_STEADY,
    PRIORITIZE_CPU,
    PRIORITIZE_MEMORY,
    PRIORITIZE_ADD_ON,
    PRIORITIZER_KINDS
};
struct weighed {
    enum prioritizer_kind kind;
    int32_t weight; /* not 0 */
    struct str name;
    struct str resource, score; /* PRIORITIZE_ADD_ON */
    uint32_t place;             /* place among the AddOn prioritizers in the Placement */
};
/* prioritize.c: is this the name of a built-in prioritizer? */
bool prioritizer_find(struct str name, enum prioritizer_kind *ret);
/* weights.c: gets the prioritizers to ask, by name; sets the decision's spread_weight. A
 * misconfiguration stops the decision. */
int decide_weights(struct deciding *x, struct weighed **ret, uint32_t *ret_count) MUST_CHECK;
/* prioritize.c: computes scores and sums of the clusters in `left` */
int decide_scores(struct deciding *x, const struct weighed *weighed, uint32_t count) MUST_CHECK;
/* groups.c: cuts the selection into decision groups */
int decide_groups(struct deciding *x) MUST_CHECK;
/* conditions.c: makes OCM's two conditions */
int decide_conditions(struct deciding *x) MUST_CHECK;
/* spread_condition.c: decides how even the selection is */
int decide_spread(struct deciding *x) MUST_CHECK;
/* publish.c: finds the score to publish */
int decide_publish(struct deciding *x) MUST_CHECK;
