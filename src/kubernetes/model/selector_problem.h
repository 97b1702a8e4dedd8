/*
 * The messages of Kubernetes' own code for a LabelSelector that does not compile. Some interfaces
 * need these exact texts, such as the conditions of Open Cluster Management's Placements.
 * selector_compile() has its own messages. upstream: apimachinery meta/v1 LabelSelectorAsSelector,
 * labels.NewRequirement, util/validation (v0.34).
 */
#pragma once

#include "model/selector.h"

/*
 * Returns the text, in the arena; "" if the selector compiles. It describes the first problem, in
 * matchLabels by key (upstream: in the random order of a Go map), then in the expressions in order.
 * The text is cut after SELECTOR_PROBLEM_BYTES. On failure arena_failed().
 */
struct str selector_problem(const struct label_selector *selector, struct arena *arena);

/* The same for one requirement, key == value. */
struct str selector_problem_equals(struct str key, struct str value, struct arena *arena);

enum { SELECTOR_PROBLEM_BYTES = 32768 }; /* most bytes of a condition's message */
