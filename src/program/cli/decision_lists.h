/*
 * The tables of a decision: one for each list that explain/scheduling.c and explain/admission.c
 * write.
 */
#pragma once

#include "cli/answer.h"

/* Appends a table for each list of a decision that is not empty. */
void decision_lists_put(const struct value *decision, struct strbuf *out);
