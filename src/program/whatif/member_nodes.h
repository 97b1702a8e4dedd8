/*
 * Karmada's accurate estimate of a binding's replicas, as its estimator in one member cluster would
 * answer. The state files have the nodes and pods of that cluster.
 */
#pragma once

#include "config/configuration.h"
#include "model/binding.h"

/* Computes the replicas that fit. Decoded objects are in the arena, whose steps bound the work.
 * Returns 0 or -errno; the sentence names the file and the place in it. */
int member_nodes_replicas(const struct configuration *c, const struct binding_spec *spec,
                          struct arena *arena, int64_t *ret, struct err *err) MUST_CHECK;
