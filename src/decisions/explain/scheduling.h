/*
 * What a decision says of scheduling: the constraints that applied, the nodes that were dropped and
 * why, the node of a binding. Each function adds members to a decision that has begun (decision.h).
 * Scores are in scores.h.
 */
#pragma once

#include "engine/engine.h"
#include "explain/decision.h"

/* "constraints": those that were applied. `result`: of a filter, which may have reported domains;
 * NULL: of scores. */
void decision_put_constraints(struct decision *d, const struct applied_constraint *applied,
                              uint32_t count, const struct filter_result *result);
/* "constraints", "candidates", "passed", "dropped": counts by reason, and the first nodes. */
void decision_put_filter(struct decision *d, const struct candidates *candidates,
                         const struct filter_result *result);
/* "knownNodes", where there are more than kube-scheduler offered: it refused the others itself, or
 * had found enough. */
void decision_put_offered(struct decision *d, const struct candidates *offered,
                          const struct filter_result *result);
/* "candidates", "passed", "dropped": the nodes where evicting the victims makes room, and those
 * where it does not. */
void decision_put_preemptions(struct decision *d, const struct preemption *preemptions,
                              const bool *fits, uint32_t count);
/* "node", "by" (the name on the caller's certificate) and "from" (its address) of a binding. */
void decision_put_binding(struct decision *d, struct str node, struct str by, struct str from);
