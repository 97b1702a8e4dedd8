/*
 * What `evenkeel simulate` prints of one pod.
 */
#pragma once

#include "whatif/simulation.h"

/* Why a pod is Pending (simulation_cause()), a line for people; nothing if it is empty. */
void simulation_print_cause(struct str cause, struct strbuf *out);
/* What is printed of pods to which no spread constraint was applied, in lines. */
extern const char simulation_unconstrained[];

/* {"filter":{node:{verdict,filter,reason}},"score":{node:{raw,normalized,priority,inTree:{plugin:
 * score},total}},"cause","notJudged"}; without raw, normalized and priority where no algorithm
 * spoke */
void simulation_print_json(const struct simulation_question *q, const struct simulation *s,
                           struct arena *arena, struct strbuf *out);
/* A table for people, best node first. False: no memory. */
bool simulation_print_table(const struct simulation_question *q, const struct simulation *s,
                            struct arena *arena, struct strbuf *out);
