/*
 * What the nodes and pods of the state files, which are one member cluster's, leave for a binding:
 * Karmada's accurate estimate, as its estimator in that cluster would answer.
 */
#pragma once

#include "config/configuration.h"
#include "model/binding.h"

/* Replicas that fit. What is decoded is in the arena, whose steps bound the work. 0 or -errno; the
 * sentence names the file and the place in it. */
int member_nodes_replicas(const struct configuration *c, const struct binding_spec *spec,
                          struct arena *arena, int64_t *ret, struct err *err) MUST_CHECK;
