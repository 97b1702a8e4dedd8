/*
 * How full the domains of a Placement's terms are with a set of clusters that changes one by one.
 * Domains, and who takes part, are those of ocm/plan.h.
 *
 *     plan_counts_new(view, &question, arena, &counts);
 *     plan_counts_change(counts, slot, 1);
 *     plan_counts_above(counts, slot)
 */
#pragma once

#include "ocm/plan.h"

struct plan_counts;

/* Counts what question->others says. Made in the arena, which it goes on using. 0, -E2BIG or
 * -ENOMEM. */
int plan_counts_new(struct topology_view *v, const struct plan_question *q, struct arena *arena,
                    struct plan_counts **ret) MUST_CHECK;
/* A cluster comes (1) or goes (-1). One that takes no part changes nothing. */
void plan_counts_change(struct plan_counts *c, uint32_t slot, int by);
/* May a new cluster not be there, because a domain of it is above a hard term? It is among those
 * that are counted. True for one that lacks a hard term's key. */
bool plan_counts_above(const struct plan_counts *c, uint32_t slot);
/* The score of spread: the lowest is in the fullest domains. 0 where it takes no part. */
int64_t plan_counts_score(const struct plan_counts *c, uint32_t slot);
/* The domain under all terms, below plan_counts_leaves(); 0 where it takes no part. */
uint32_t plan_counts_leaf(const struct plan_counts *c, uint32_t slot);
uint32_t plan_counts_leaves(const struct plan_counts *c);
void plan_counts_skews(const struct plan_counts *c, int64_t ret[PLACEMENT_TERMS]);
/* A hash of how many there are in the domains of each term, whichever domain it is. */
uint64_t plan_counts_shape(const struct plan_counts *c);
