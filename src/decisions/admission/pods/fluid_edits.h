/*
 * The one place that turns the edits of Fluid's plugins into a patch. It patches only their paths:
 * node affinity, the annotation of datasets in use, mount propagation. The user's text there stays
 * byte for byte; a required term gets its additions in its place.
 */
#pragma once

#include "admission/patch.h"
#include "data/fluid/edits.h"

/* `pod` is the patch's document. Returns 0, -EINVAL (the pod has a member twice), -E2BIG or
 * -ENOMEM; then nothing is added. */
int fluid_edits_write(const struct fluid_edits *edits, const struct pod_details *pod,
                      struct patch *patch, struct err *err) MUST_CHECK;
