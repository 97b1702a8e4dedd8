/*
 * Places sets of components on nodes, first fit. Each component of a set, in order, puts as many
 * replicas as possible on each node, in order, until all are placed. Placing stops after the first
 * set that is not placed completely; the room that this set took stays taken. upstream: karmada
 * pkg/estimator SchedulingSimulator, which walks all nodes again for each component of each set.
 *
 * Here a component continues at the first node that still has room for it, because room only
 * shrinks; all sets that fit the same nodes in the same way are placed at once; and a group of
 * equal nodes has rows only for nodes that got a replica. So the work grows with nodes times
 * components, not with sets times nodes, and the result is the same.
 *
 * A struct first_fit serves one estimate, on one thread, with memory and steps of its arena.
 */
#pragma once

#include "estimator/estimator.h"

/* Equal nodes. Room is an array of `width` amounts; the first is the number of pods. */
struct node_group {
    uint64_t count;
    const int64_t *fresh; /* [width]: room of a node without placed replicas */
    int64_t *rows;        /* [touched][width]: room of the group's first nodes */
    uint32_t touched, cap;
};

struct first_fit {
    const struct str *columns; /* [width]: names of resources, sorted from index 1 on */
    uint32_t width;
    struct node_group *groups; /* in the order in which they are tried */
    uint32_t group_count;
    struct arena *arena;
};

/* The amount of one column that a replica needs. */
struct column_need {
    uint32_t column;
    int64_t amount; /* above 0 */
};
/* A component, and the node where it continues. */
struct placed_component {
    int64_t replicas;
    const struct column_need *needs; /* one of the needs is a pod */
    uint32_t need_count;
    const uint8_t *matches; /* [group_count]: 1: may use the group; NULL: may use all groups */
    uint32_t group;         /* no earlier group has room */
    uint32_t node;          /* index of the node in the group */
};

/* Makes a column for pods, and for each resource that q's set, q's assumed workloads or (if
 * `replica` is true) q's replica demands. Sets columns and width. Returns 0, -E2BIG or -ENOMEM. */
int first_fit_columns(struct first_fit *fit, const struct estimator_question *q,
                      bool replica) MUST_CHECK;
/* Returns the column of a resource, or UINT32_MAX. */
uint32_t first_fit_column(const struct first_fit *fit, struct str name);
/* Converts a replica's demands to columns. Returns 0, -E2BIG or -ENOMEM. */
int first_fit_needs(const struct first_fit *fit, const struct demands *demands,
                    struct placed_component *ret) MUST_CHECK;

/* Returns the number of replicas that the room of one node holds. */
int64_t first_fit_divide(const int64_t *room, const struct placed_component *component);

/*
 * Places up to `bound` sets, and sets *ret_sets to their number. Changes the components, which may
 * not be used for another call. If the components have no replicas, *ret_sets is `bound`. Returns
 * 0, -E2BIG (the steps are spent) or -ENOMEM.
 */
int first_fit_place(struct first_fit *fit, struct placed_component *components, uint32_t count,
                    int64_t bound, int64_t *ret_sets) MUST_CHECK;

/* Counts the replicas that matching nodes hold, at most ESTIMATE_MAX. Takes steps. Returns 0 or
 * -E2BIG. */
int first_fit_count(struct first_fit *fit, const struct placed_component *component,
                    int64_t *ret) MUST_CHECK;
