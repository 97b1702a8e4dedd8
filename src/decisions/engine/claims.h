/*
 * The claims of a pod, for the two filters that judge them.
 */
#pragma once

#include "engine/algorithm.h"
#include "model/pod_claims.h"

/* Returns why claims of the pod are not judged; NULL: all are judged. Static. After
 * claims_prepare(). */
const char *claims_unknown(const struct evaluation *e);
/* Makes the questions about places before the view is opened. Returns 0 or -ENOMEM. */
int claims_prepare(struct evaluation *e);
/* Returns the claims; NULL: they are not judged. */
const struct pod_claims *claims_to_judge(const struct evaluation *e);
/* Returns the reason by which the claims refuse all nodes, if this filter states it; 0: no. */
uint8_t claims_reject(struct evaluation *e, const char *plugin);
