/*
 * A constraint that this webhook has added counts the pods with certain labels of its pod, and is
 * as hard as the pod's terms allow. Another webhook may change both, and the API server asks again
 * then (reinvocationPolicy). One that counts others and not its own pod is made again; one that
 * would be left out now, or added in a softer form, is made softer: those of operators write
 * podAffinity into their pods, and are asked in the order of their names. None is made harder. What
 * the pod's author has written stays as it is.
 *
 * Whose it is the API server says itself: metadata.managedFields tells what was in the object
 * before any webhook saw it. Where it says nothing, nothing is made again.
 */
#pragma once

#include "admission/pods/group.h"
#include "admission/pods/spread_plan.h"

#define SPREAD_NO_PLACE UINT32_MAX

/* Sets the fates of those of the policy's constraints, SPREAD_OWN so far, that are to be replaced,
 * and puts their places in the pod's list into `ret_places`, which has room for all of the
 * policy's; SPREAD_NO_PLACE for the others. SPREAD_RENEWED: the form stays. 0, -E2BIG (no steps
 * left) or -ENOMEM. */
int spread_renew(const struct pod_question *q, const struct pod_group *group,
                 enum spread_fate *fates, uint32_t *ret_places) MUST_CHECK;
