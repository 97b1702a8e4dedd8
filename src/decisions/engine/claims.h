/*
 * The claims of a pod, for the two filters that judge them.
 */
#pragma once

#include "engine/algorithm.h"
#include "model/pod_claims.h"

/* Returns the reason why claims of the pod are not judged; NULL: all claims are judged. The text is
 * static. Call after claims_prepare(). */
const char *claims_unknown(const struct evaluation *e);
/* Makes the questions about places before the view is opened. Returns 0 or -ENOMEM. */
int claims_prepare(struct evaluation *e);
/* Returns the pod's claims; NULL: they are not judged. */
const struct pod_claims *claims_to_judge(const struct evaluation *e);
/* Returns the reason for which the claims refuse all nodes; 0: they do not, or another filter has
 * to report it. */
uint8_t claims_reject(struct evaluation *e, const char *plugin);
