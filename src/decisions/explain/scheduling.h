/*
 * Adds members about scheduling to a decision that has begun (decision.h): the constraints that
 * applied, the dropped nodes with reasons, the node of a binding. Scores are in scores.h.
 */
#pragma once

#include "engine/engine.h"
#include "explain/decision.h"

/* Writes "constraints": the applied constraints. `result` is the result of the filter, which may
 * have reported domains; NULL for constraints of scores. */
void decision_put_constraints(struct decision *d, const struct applied_constraint *applied,
                              uint32_t count, const struct filter_result *result);
/* Writes "constraints", "candidates", "passed", "dropped" (for each reason the number of nodes, and
 * the first nodes). */
void decision_put_filter(struct decision *d, const struct candidates *candidates,
                         const struct filter_result *result);
/* Writes "knownNodes" if kube-scheduler offered fewer nodes than are known: it refused the other
 * nodes itself, or had found enough nodes. */
void decision_put_offered(struct decision *d, const struct candidates *offered,
                          const struct filter_result *result);
/* Writes "candidates", "passed" and "dropped": the nodes where evicting the victims makes room, and
 * the nodes where it does not. */
void decision_put_preemptions(struct decision *d, const struct preemption *preemptions,
                              const bool *fits, uint32_t count);
/* Writes a binding's "node", "by" (name in the caller's certificate), "from" (caller's address). */
void decision_put_binding(struct decision *d, struct str node, struct str by, struct str from);
