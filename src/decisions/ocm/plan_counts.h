/*
 * Counts the clusters in the domains of a Placement's terms, for a set of clusters that changes one
 * by one. ocm/plan.h defines domains, and the clusters that take part.
 *
 *     plan_counts_new(view, &question, arena, &counts);
 *     plan_counts_change(counts, slot, 1);
 *     plan_counts_above(counts, slot)
 */
#pragma once

#include "ocm/plan.h"

struct plan_counts;

/* Begins with the counts in question->others. The result is made in the arena, and keeps using it.
 * Returns 0, -E2BIG or -ENOMEM. */
int plan_counts_new(struct topology_view *v, const struct plan_question *q, struct arena *arena,
                    struct plan_counts **ret) MUST_CHECK;
/* Adds (1) or removes (-1) a cluster. Does nothing for a cluster that takes no part. */
void plan_counts_change(struct plan_counts *c, uint32_t slot, int by);
/* Is a domain of this counted cluster above a hard term, so that a new cluster may not be in the
 * domain? True also for a cluster that lacks a hard term's key. */
bool plan_counts_above(const struct plan_counts *c, uint32_t slot);
/* Returns the cluster's score of spread, which is lowest in the fullest domains; 0 if the cluster
 * takes no part. */
int64_t plan_counts_score(const struct plan_counts *c, uint32_t slot);
/* Returns the number of the cluster's domain under all terms; it is below plan_counts_leaves().
 * Returns 0 if the cluster takes no part. */
uint32_t plan_counts_leaf(const struct plan_counts *c, uint32_t slot);
uint32_t plan_counts_leaves(const struct plan_counts *c);
void plan_counts_skews(const struct plan_counts *c, int64_t ret[PLACEMENT_TERMS]);
/* Returns a hash of the counts in the domains of each term. It does not depend on the domains'
 * names. */
uint64_t plan_counts_shape(const struct plan_counts *c);
