/*
 * A constraint that this webhook has added counts the pods with certain labels of its pod. When
 * another webhook changes one of them and the API server asks again (reinvocationPolicy), it counts
 * others and not its own pod. It is made again then. What the pod's author has written never is.
 *
 * Whose it is the API server says itself: metadata.managedFields tells what was in the object
 * before any webhook saw it. Where it says nothing, nothing is made again.
 */
#pragma once

#include "admission/pods/group.h"
#include "admission/pods/spread_plan.h"

/* Sets the fate SPREAD_RENEWED for those of the policy's constraints, SPREAD_OWN so far, that are
 * to be made again, and puts their places in the pod's list into `ret_places`, which has room for
 * all of the policy's. 0, -E2BIG (no steps left) or -ENOMEM. */
int spread_renew(const struct pod_question *q, const struct pod_group *group,
                 enum spread_fate *fates, uint32_t *ret_places) MUST_CHECK;
