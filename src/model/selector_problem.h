/*
 * What Kubernetes' own code says of a LabelSelector that does not compile: where a contract wants
 * its words, as in the conditions of Open Cluster Management's Placements. selector_compile() says
 * the same in words of ours. upstream: apimachinery meta/v1 LabelSelectorAsSelector,
 * labels.NewRequirement, util/validation (v0.34).
 */
#pragma once

#include "model/selector.h"

/*
 * The text, in the arena; "" if the selector compiles. Upstream looks at matchLabels in the random
 * order of a Go map, this at the first by key; then at the expressions in order, and stops at the
 * first that does not compile. Cut after SELECTOR_PROBLEM_BYTES. On failure arena_failed().
 */
struct str selector_problem(const struct label_selector *selector, struct arena *arena);

/* The same of one requirement, key == value. */
struct str selector_problem_equals(struct str key, struct str value, struct arena *arena);

enum { SELECTOR_PROBLEM_BYTES = 32768 }; /* as long as a condition's message may be */
