/*
 * Turns the edits of Fluid's plugins into a patch; no other code does this. It patches only their
 * paths: node affinity, the annotation of datasets in use, mount propagation. The user's text at
 * these paths stays byte for byte; additions to a required term are inserted into the term.
 */
#pragma once

#include "admission/patch.h"
#include "data/fluid/edits.h"

/* `pod` is the patch's document. Returns 0, -EINVAL (the pod has a member twice), -E2BIG or
 * -ENOMEM; after an error nothing is added. */
int fluid_edits_write(const struct fluid_edits *edits, const struct pod_details *pod,
                      struct patch *patch, struct err *err) MUST_CHECK;
