/*
 * Prints the answer of `evenkeel simulate` for one pod.
 */
#pragma once

#include "cli/answer.h"
#include "whatif/simulation.h"

/* Appends
 * {"filter":{node:{verdict,filter,reason}},"score":{node:{raw,normalized,priority,inTree:{plugin:
 * score},total}},"cause","notJudged"}; without raw, normalized and priority if no algorithm
 * scored */
void simulation_print_json(const struct simulation_question *q, const struct simulation *s,
                           struct arena *arena, struct strbuf *out);
/* Prints the answer for people, the best node first. */
answer_print_fn simulation_print;
