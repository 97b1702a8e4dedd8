/*
 * The annotation pods.evenkeel.io/explained: by which policy and by which plugins a pod was
 * changed, for who looks at the pod and not at an audit log. Opt-in.
 */
#pragma once

#include "admission/pods/pods.h"

/* Adds it to a patch that changes something: what the answer notes for the audit log, in one line.
 * What the pod said there before is replaced. Nothing is added where the pod's annotations would
 * become more than the API server takes: the rest of the patch is what counts. 0 or -ENOMEM; then
 * nothing is added either. */
int annotate_pod(const struct admission_question *question, const struct review_answer *answer,
                 struct patch *patch, struct err *err) MUST_CHECK;
