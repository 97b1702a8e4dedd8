/*
 * The scores of kube-scheduler's own plugins, with the arguments and weights of its default
 * profile, to predict a pod's node. They are no part of an extender's answer.
 */
#pragma once

#include "engine/algorithm.h"

/* With options->in_tree: compiles the pod's preferences for the plugins, before a view is opened.
 * Returns 0 or -ENOMEM; errors of the pod are in e->terms_failed and e->terms_err. */
int in_tree_prepare(struct evaluation *e);
/* Fills in_tree and totals of `out`; the caller has set its other columns and priorities. Returns
 * 0, -EINVAL (a preference does not parse), -E2BIG or -ENOMEM. */
int in_tree_score(struct evaluation *e, struct score_result *out, struct err *err);

/* ---- the plugins: each gives every candidate 0 to ENGINE_MAX_NORMALIZED. 0, ALGORITHM_SKIP or
 * -errno ---- */

/* The share of cpu and memory that is not requested. upstream:
 * plugins/noderesources/least_allocated.go */
int score_resources_fit(struct evaluation *e, int64_t *scores, struct err *err);
/* upstream: plugins/noderesources/balanced_allocation.go */
int score_balanced_allocation(struct evaluation *e, int64_t *scores, struct err *err);
/* Taints with the effect PreferNoSchedule. upstream: plugins/tainttoleration */
int score_taints(struct evaluation *e, int64_t *scores, struct err *err);
/* The pod's preferred affinity terms. upstream: plugins/nodeaffinity,
 * plugins/interpodaffinity/scoring.go */
int score_node_affinity(struct evaluation *e, int64_t *scores, struct err *err);
int score_pod_affinity(struct evaluation *e, int64_t *scores, struct err *err);
/* upstream: plugins/imagelocality */
int score_images(struct evaluation *e, int64_t *scores, struct err *err);
