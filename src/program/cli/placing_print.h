/*
 * Prints the answer of `evenkeel simulate` for pods that are placed one after the other.
 */
#pragma once

#include "cli/answer.h"
#include "whatif/placing.h"

/* Appends {"pods":[{namespace,name,from,node,total,reason}],"pending":N,"cause","lostNodes":N,
 * "domains":[{topologyKey,domain,before,added}],"notJudged"}. */
void placing_print_json(const struct placing_question *q, const struct placing *p,
                        struct strbuf *out);
/* Prints the answer for people: a line for each pod, or for consecutive equal pods, and a bar for
 * each domain. */
answer_print_fn placing_print;
