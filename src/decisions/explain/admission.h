/*
 * Adds the members about an admission to a decision that has begun (decision.h).
 */
#pragma once

#include "admission/review.h"
#include "explain/decision.h"

/* Writes "policy", "notes" by plugin, "warnings", "patch" (operations with their values, or the
 * values' lengths) and, for a dry run, "dryRun". */
void decision_put_admission(struct decision *d, const struct review *review,
                            const struct review_answer *answer);
