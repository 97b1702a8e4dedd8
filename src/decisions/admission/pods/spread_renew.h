/*
 * A constraint that this webhook has added counts the pods that share certain labels with its pod,
 * and is as hard as the pod's terms allow. Another webhook may change the pod's labels and terms;
 * then the API server asks again (reinvocationPolicy). A constraint that no longer counts its own
 * pod is replaced. A constraint that would now be left out or softer is made softer: operators'
 * webhooks add podAffinity, and webhooks run in the order of their names. No constraint is made
 * harder. The author's constraints stay as they are.
 *
 * The API server records the author's constraints: metadata.managedFields lists the fields that the
 * object had before any webhook. Without that list nothing is replaced.
 */
#pragma once

#include "admission/pods/group.h"
#include "admission/pods/spread_plan.h"

#define SPREAD_NO_PLACE UINT32_MAX

/* Changes the fate of each of the policy's constraints that has SPREAD_OWN so far and must be
 * replaced; with SPREAD_RENEWED its form stays. Sets an item of `ret_places` for each of the
 * policy's constraints: the index in the pod's list of the constraint to replace, or
 * SPREAD_NO_PLACE. Returns 0, -E2BIG (no steps left) or -ENOMEM. */
int spread_renew(const struct pod_question *q, const struct pod_group *group,
                 enum spread_fate *fates, uint32_t *ret_places) MUST_CHECK;
