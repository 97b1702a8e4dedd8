/* The state of a plan while it is made. Only the files of this folder that make plans include
 * it. */
#pragma once

#include "ocm/plan.h"
#include "topology/rounds.h"

#include <errno.h>

/* A candidate that takes part. */
struct plan_entry {
    int64_t sum;
    uint32_t place; /* index in `feasible` */
    bool member;
};

struct plan_work {
    struct topology_view *view;
    const struct plan_question *question;
    struct arena *arena;
    int32_t weight; /* the weight in use; 0: first mode */
    struct ordered_term terms[PLACEMENT_TERMS];
    struct ordered_domains domains;
    uint32_t *feasible; /* slots of the candidates that take part, sorted by name */
    uint32_t feasible_count;
    struct plan_entry *entries; /* entries of a leaf are side by side, as a heap */
    uint32_t *begin, *left;     /* [prefixes]: a leaf's first entry; number of its entries left */
    uint8_t *shut; /* [prefixes]: the term that forbids a new cluster in a leaf with members left */
};

/* Takes steps of the arena; the view's steps are for the columns that it builds. Returns 0 or
 * -E2BIG. */
static inline int plan_spend(const struct plan_work *w, uint64_t steps) {
    return steps_take(&w->arena->steps, steps) ? 0 : -E2BIG;
}

/* Scales a score of spread from least..most to -100..100. */
static inline int64_t plan_normalized(int64_t raw, int64_t least, int64_t most) {
    return most == least ? 0 : 200 * (raw - least) / (most - least) - 100;
}

/* Reads terms, finds the clusters that take part, and the domains with their counts before the
 * rounds; sets ret->lacks. Returns 0, -E2BIG or -ENOMEM. */
int plan_begin(struct plan_work *w, struct plan *ret) MUST_CHECK;

/* Returns how far the cluster's fullest domain is above the maxSkew of a hard term; 0 or less if no
 * domain is above. */
int64_t plan_above(const struct plan_work *w, uint32_t slot);

/* Returns the first hard term that forbids one more cluster in this cluster's domains; the term
 * count if no term forbids it. */
uint32_t plan_forbidding_term(const struct plan_work *w, uint32_t slot);

/* Fills ret->domains, after the last round. Returns 0, -E2BIG or -ENOMEM. */
int plan_domains(struct plan_work *w, struct plan *ret) MUST_CHECK;

/* Additional data for tracing the rounds. */
struct plan_trace {
    bool *picked; /* [feasible_count]: the cluster was picked in an earlier round */
};
/* Makes room for at most `rounds` rounds. Returns 0 or -ENOMEM. */
int plan_trace_begin(struct plan_work *w, uint32_t rounds, struct plan_trace *trace,
                     struct plan *ret) MUST_CHECK;
/* Adds a round to ret->rounds, before the picked cluster is counted. Returns 0, -E2BIG or -ENOMEM.
 */
int plan_trace_round(struct plan_work *w, struct plan_trace *trace, uint32_t picked_place,
                     struct plan *ret) MUST_CHECK;
