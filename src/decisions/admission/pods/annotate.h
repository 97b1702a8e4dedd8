/*
 * The annotation pods.evenkeel.io/explained: names the policy and the plugins that changed a pod,
 * for readers of the pod who do not read an audit log. Opt-in.
 */
#pragma once

#include "admission/pods/pods.h"

/* Adds the annotation to a patch that changes something. Its value, the notes for the audit log in
 * one line, replaces an old value. Adds nothing if the pod's annotations would become larger than
 * the API server accepts: the rest of the patch is more important. Returns 0 or -ENOMEM; then adds
 * nothing. */
int annotate_pod(const struct admission_question *question, const struct review_answer *answer,
                 struct patch *patch, struct err *err) MUST_CHECK;
