/*
 * The hard spread constraint that leaves a Pending pod no node: where the constraint is from, the
 * domains that it allows, and what helps.
 */
#pragma once

#include "base/str.h"
#include "engine/engine.h"
#include "model/policy.h"

enum { OBSTACLE_BYTES = 170 }; /* bytes of a summary: with the pod's name, a line has 200 bytes */

/* Is this a hard constraint that leaves no node to the pod? False if its domains were not reported.
 */
bool obstacle_is(const struct applied_constraint *a);
/* Appends "policy zones", "the pod", "the defaults" or "rule web". A constraint of the pod counts
 * as the policy's if the policy gives an equal constraint. `policy` NULL: the pod has no policy. */
void obstacle_say_origin(const struct applied_constraint *a, const struct policy *policy,
                         struct strbuf *out);
/* Appends the cause and a remedy, if one is known, in OBSTACLE_BYTES bytes; a remedy that has no
 * room is left out. `a` is an obstacle of `now`. */
void obstacle_summarize(const struct filter_result *now, const struct applied_constraint *a,
                        const struct policy *policy, struct strbuf *out);
