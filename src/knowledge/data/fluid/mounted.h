/*
 * Finds the data that a pod mounts, for the engine, by the same rules as Fluid's plugins
 * (data/fluid/resolve.h).
 */
#pragma once

#include "data/fluid/store.h"
#include "model/object.h"

/*
 * Fills pod->datasets from pod->claims; the store is not needed afterwards. Returns 0, also if the
 * pod mounts no dataset. After errors, which are those of fluid_resolve(), the pod has no datasets.
 */
int fluid_find_mounted(const struct fluid_store *store, struct pod *pod, struct arena *arena,
                       struct err *err) MUST_CHECK;
