/*
 * Writes scores as JSON: those of one candidate, and those of a decision's best candidates.
 */
#pragma once

#include "engine/engine.h"
#include "explain/decision.h"

/* Write members of candidate `i`: "raw" and "normalized" of one algorithm ... */
void score_put_numbers(struct json_writer *w, const struct score_column *column, uint32_t i);
/* ... the same as one object, under the algorithm's name ("orderedSpread") ... */
void score_put_algorithm(struct json_writer *w, const struct score_column *column, uint32_t i);
/* ... and with options.in_tree "inTree", the scores of each of kube-scheduler's own plugins, and
 * "total", the weighted sum of all scores. */
void score_put_totals(struct json_writer *w, const struct score_result *result, uint32_t i);

/* Writes "constraints", "candidates", "leaving" (for each dataset of the pod the first nodes with
 * bytes that do not count, and why) and "scores": the best nodes, with the scores of every
 * algorithm and, with options.in_tree, the scores of kube-scheduler's own plugins and the total.
 * The total then decides which node is best. */
void decision_put_scores(struct decision *d, const struct pod *pod,
                         const struct candidates *candidates, const struct score_result *result);
