/*
 * From what Fluid's plugins want to a patch: the one place that writes it. Only paths that are
 * theirs are patched: node affinity, the annotation of datasets in use, mount propagation. What the
 * user wrote there stays byte for byte; a required term that gets more is added to where it stands.
 */
#pragma once

#include "admission/patch.h"
#include "data/fluid/edits.h"

/* `pod` is the patch's document. 0, -EINVAL (the pod has a member twice), -E2BIG or -ENOMEM; then
 * nothing is added. */
int fluid_edits_write(const struct fluid_edits *edits, const struct pod_details *pod,
                      struct patch *patch, struct err *err) MUST_CHECK;
