/*
 * Ordered spread, of whatever is counted: constraints by importance, region first, then zone within
 * the region. A domain is compared with its siblings under the same parent only, so equal zone
 * names in two regions differ, and a region is filled evenly before its zones are looked at. The
 * engine counts pods on nodes with it; members of a Placement on clusters are the same question.
 * After Open Cluster Management's enhancement 70 (spread policy).
 *
 *     struct ordered_domains d = {.terms = terms, .term_count = 2};
 *     ordered_domains_init(&d, arena, slots);
 *     for each slot that counts: ordered_domains_add(&d, slot, count);
 *     prefix_tree_settle(&d.tree);
 *     ordered_domains_score(&d, slot);
 */
#pragma once

#include "topology/prefix_tree.h"
#include "topology/topology.h"

enum { ORDERED_TERM_BITS = 6, ORDERED_TERM_MAX = 63 };

struct ordered_term {
    struct topology_column column;
    bool hard;
    int64_t max_skew;
};

struct ordered_domains {
    const struct ordered_term *terms; /* borrowed; the first is the most important */
    uint32_t term_count;
    struct prefix_tree tree;
};

/* Everything lives in the arena. 0 or -ENOMEM. */
int ordered_domains_init(struct ordered_domains *d, struct arena *arena, uint32_t slots) MUST_CHECK;
/* Counts on a candidate, and makes its domains. 0 or -ENOMEM. */
int ordered_domains_add(struct ordered_domains *d, uint32_t slot, int64_t count) MUST_CHECK;

/* The prefix of a candidate's domain under term `t` below the prefix of the term before it
 * (PREFIX_ROOT at first); PREFIX_NONE: nothing was counted there. Candidates without the key share
 * one domain. */
uint32_t ordered_domains_step(const struct ordered_domains *d, uint32_t prefix, uint32_t t,
                              uint32_t slot);
/* The prefix under all terms, or PREFIX_NONE. */
uint32_t ordered_domains_leaf(const struct ordered_domains *d, uint32_t slot);
/* *ret_term: the first hard term whose key the candidate lacks; or, with `any`, the first term. */
bool ordered_domains_lack(const struct ordered_domains *d, uint32_t slot, bool any,
                          uint32_t *ret_term);

/* Higher is better: each term gives 0 (fullest sibling) to 63 (emptiest), 6 bits a term, the first
 * term highest. Of a tree that is settled. */
int64_t ordered_domains_score(const struct ordered_domains *d, uint32_t slot);
