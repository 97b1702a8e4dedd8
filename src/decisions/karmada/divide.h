/*
 * Divides the replicas of one tier of clusters, for karmada_assign(). Each strategy is a function,
 * and a row of the table in assign.c. upstream: karmada pkg/scheduler/core assignment.go and
 * division_algorithm.go.
 *
 * All sums and weights have 64 bits. Upstream's sums have 32 bits and wrap: in upstream, three
 * clusters that hold 10^9 replicas each are not enough for one replica, and a rescheduled workload
 * of 0 replicas is refused.
 */
#pragma once

#include "base/hashmap.h"
#include "karmada/assign.h"

#include <errno.h>

#define NO_PLACE UINT32_MAX

/* Data for all divisions of one binding. Arrays have one item per candidate, and are in the
 * arena. */
struct assigner {
    const struct karmada_candidate *candidates;
    uint32_t candidate_count;
    const struct binding_spec *spec;
    enum karmada_division method;
    bool fresh;            /* the earlier decision does not count */
    bool descending;       /* among equal shares the last name comes first: webster_descending() */
    struct hashmap names;  /* the first candidate of each name; owned by karmada_assign() */
    const uint32_t *first; /* [i]: the first candidate named like i, mostly i itself */
    const int64_t *previous; /* replicas of today, from spec.clusters; not below 0 */
    const uint32_t *place;   /* the cluster's index in spec.clusters, or NO_PLACE */
    const int64_t *weights;  /* for DIVISION_STATIC: 0 if no rule matches; otherwise NULL */
    struct arena *arena;

    int64_t *given; /* the answer: replicas of each candidate; initially 0 */
    enum karmada_error kind;
    struct str error; /* why there is no answer; `given` is not valid then */
};

/* Clusters among which replicas are divided. */
struct tier {
    const uint32_t *members; /* candidates, in the order in which they were selected */
    uint32_t count;
    int64_t replicas; /* replicas to divide, at most INT32_MAX */
};

/* Adds replicas to a->given, for the tier's members, or sets a->kind and a->error. Returns 0,
 * -E2BIG (the arena's steps are spent) or -ENOMEM. */
typedef int divide_fn(struct assigner *a, const struct tier *tier, struct err *err);
divide_fn divide_duplicated;  /* gives all replicas to each cluster */
divide_fn divide_statically;  /* divides by a->weights; gives equal shares if all weights are 0 */
divide_fn divide_dynamically; /* divides by the replicas that clusters can hold: DIVISION_DYNAMIC
                                 and DIVISION_AGGREGATED */

/* A candidate's weight in a division. */
struct share {
    uint32_t candidate;
    int64_t weight;   /* below 0 counts as 0 */
    int64_t previous; /* replicas of today, as far as they count; only for DIVISION_REMAINDER, where
                         the larger number wins a tie */
};
/* Divides `replicas` by weights, with the method a->method, and adds the shares to a->given. Adds
 * nothing if all weights are 0. Errors are those of divide_fn. */
int divide_by_weight(struct assigner *a, const struct share *shares, uint32_t count,
                     int64_t replicas, struct err *err) MUST_CHECK;

/* Finds for each candidate the weight of the heaviest matching rule of the static weight list; 0 if
 * no rule matches; 1 without weightPreference. *ret is in the arena. Reads only candidates, names
 * and first. Errors are those of divide_fn. */
int divide_static_weights(const struct assigner *a, const int64_t **ret,
                          struct err *err) MUST_CHECK;

/* Sets the error of a divide_fn: -E2BIG if the steps are spent, otherwise -ENOMEM. */
static inline int divide_fail(const struct assigner *a, struct err *err) {
    if (steps_spent(&a->arena->steps))
        return err_set(err, -E2BIG, "more clusters than there is time for");
    return err_set(err, -ENOMEM, "no memory to divide replicas");
}
/* Makes a->names and a->first. Errors are those of divide_fn. */
int divide_index_names(struct assigner *a, struct err *err);
/* Returns the first candidate with a name, or HASHMAP_NONE. Takes steps; the caller checks them. */
uint32_t divide_find(const struct assigner *a, struct str name);
/* Takes the steps for sorting `count` names that have `bytes` bytes in all. */
bool divide_take_names(struct steps *steps, uint64_t count, uint64_t bytes);
/* Returns the sum, but at most INT64_MAX and at least INT64_MIN. */
static inline int64_t divide_add(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}
