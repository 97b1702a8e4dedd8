/*
 * Karmada's accurate estimate of a binding's replicas, as its estimator in one member cluster would
 * answer. The state files have the nodes and pods of that cluster.
 */
#pragma once

#include "config/configuration.h"
#include "estimator/asked_nodes.h"
#include "whatif/cluster_objects.h"

struct member_nodes {
    struct cluster_objects objects; /* the texts of the nodes and pods */
    struct asked_nodes asked;
    bool made;
};

/* Reads nodes and pods. Decoded objects are in the arena, and its steps limit the work. Returns 0
 * or -errno; the error names the file and the place in it. Always call member_nodes_done(). */
int member_nodes_read(const struct configuration *c, struct arena *arena, struct member_nodes *ret,
                      struct err *err) MUST_CHECK;
void member_nodes_done(struct member_nodes *m);

/* Computes the replicas that fit beside the assumed workloads. Returns 0, -E2BIG or -ENOMEM. */
int member_nodes_replicas(struct member_nodes *m, const struct binding_spec *spec,
                          const struct component_set *assumed, uint32_t assumed_count,
                          struct arena *arena, int64_t *ret, struct err *err) MUST_CHECK;
