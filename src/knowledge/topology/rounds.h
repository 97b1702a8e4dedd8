/*
 * Rounds of ordered spread: each takes one candidate of the best leaf, and counts it in its
 * domains, which changes the next best leaf. This file knows leaves of the tree only; the caller
 * knows the candidates, and the best one of each leaf. After Open Cluster Management's enhancement
 * 70 (EvenSpreadSelector, selectOne).
 *
 * A hard term forbids a domain that would be more than maxSkew above its emptiest sibling. From the
 * other leaves, ROUNDS_BY_SCORE takes the one with the highest score, and among equal scores the
 * one with the better candidate. With ROUNDS_WEIGHED the caller weighs scores against other values:
 * it gets the leaves that can win, each with its score.
 *
 *     rounds_init(&r, &domains, ROUNDS_BY_SCORE, &candidates, arena);
 *     while ((leaf = rounds_best(&r)) != PREFIX_NONE) {
 *         take the leaf's best candidate;
 *         rounds_take(&r, leaf);
 *     }
 *
 * How it works: children of one parent with the same count form a group, because they have the same
 * part of the score; each group is a heap whose top has the best leaf. A round changes the counts
 * on one path of the tree, so it moves one child a level into the next group, and reads nothing
 * else: a round takes O(terms x log(domains)). But if several counts have the same part of the
 * score (siblings that differ by more than 63), it reads their groups one by one. ROUNDS_WEIGHED
 * reads every group of leaves and every domain above them in every round.
 *
 * A domain that a term forbids stays forbidden until a candidate is taken from one of its siblings
 * or below them. So a parent leaves out for good a child below which nothing can be taken.
 */
#pragma once

#include "topology/ordered_domains.h"

/* Is the best candidate of leaf `a` better than that of leaf `b`? Never equal for different leaves.
 */
typedef bool rounds_better_fn(const void *ctx, uint32_t a, uint32_t b);

enum rounds_order { ROUNDS_BY_SCORE, ROUNDS_WEIGHED };

/* The candidates in each leaf. Borrowed; the caller owns them, and removes a candidate once it is
 * taken. */
struct rounds_candidates {
    rounds_better_fn *better;
    const void *ctx;      /* argument of `better` */
    const uint32_t *left; /* [domains->tree.count]: number of a leaf's candidates; a leaf with 0
                             counts among its siblings, but is never taken from */
};

struct rounds_prefix;
struct rounds_group;

struct rounds {
    struct ordered_domains *domains; /* borrowed; rounds_take() counts in it */
    enum rounds_order order;
    struct rounds_candidates candidates;
    struct rounds_prefix *prefixes; /* [domains->tree.count] */
    struct rounds_group *groups;
    uint32_t free_group;
    uint32_t *inner; /* ROUNDS_WEIGHED: the prefixes that are counted in and are not leaves; parents
                        come first */
    uint32_t inner_count;
    uint64_t looked; /* number of groups and domains read so far, for a budget */
};

/* A leaf that may win, and the score of all candidates below it. */
struct rounds_choice {
    int64_t score;
    uint32_t leaf;
};

/*
 * Returns by how much a domain of `term` below `parent` with `count` would exceed maxSkew with one
 * more candidate; 0 or less: it may have one more.
 */
static inline int64_t rounds_over(const struct ordered_term *term,
                                  const struct ordered_count *parent, int64_t count) {
    return count + 1 - ordered_base(term, parent) - term->max_skew;
}

/* `domains` must be settled. Memory is from the arena. Returns 0 or -ENOMEM. */
int rounds_init(struct rounds *r, struct ordered_domains *domains, enum rounds_order order,
                const struct rounds_candidates *candidates, struct arena *arena) MUST_CHECK;

/* ROUNDS_BY_SCORE: returns the leaf to take from; PREFIX_NONE: hard terms allow no leaf, or no leaf
 * is left. */
uint32_t rounds_best(const struct rounds *r);

/* ROUNDS_WEIGHED: gets the leaves that hard terms allow; of leaves with equal scores below one
 * parent only the best. ret[domains->tree.count] has room for all. Returns their number. */
uint32_t rounds_choices(struct rounds *r, struct rounds_choice *ret);

/* Counts one more candidate at a leaf that rounds_best() or rounds_choices() returned in this
 * round. `left` and `better` must already describe the leaf's next candidate. */
void rounds_take(struct rounds *r, uint32_t leaf);
