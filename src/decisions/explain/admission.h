/*
 * What a decision says of an admission: it adds members to a decision that has begun (decision.h).
 */
#pragma once

#include "admission/review.h"
#include "explain/decision.h"

/* "policy", "notes" by plugin, "warnings", "patch": operations with the beginning of their values;
 * and "dryRun", if it was one. */
void decision_put_admission(struct decision *d, const struct review *review,
                            const struct review_answer *answer);
