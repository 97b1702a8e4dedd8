/*
 * What the engine needs to know of the data that a pod mounts, found as Fluid's plugins find it
 * (data/fluid/resolve.h).
 */
#pragma once

#include "data/fluid/store.h"
#include "model/object.h"

/*
 * Fills pod->datasets from pod->claims; the store is not needed afterwards. 0, also for a pod that
 * mounts none; otherwise as fluid_resolve(), and the pod has no datasets.
 */
int fluid_find_mounted(const struct fluid_store *store, struct pod *pod, struct arena *arena,
                       struct err *err) MUST_CHECK;
