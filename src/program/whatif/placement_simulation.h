/*
 * `evenkeel simulate --placement F --admit`: how the webhook would change a Placement. It runs the
 * webhook's code.
 */
#pragma once

#include "config/configuration.h"
#include "whatif/admission_simulation.h"

/*
 * Admits the Placement of a YAML or JSON file; with `previous_path` as an update of the Placement
 * in that file. Policies and namespaces come from the configuration's files; both may be missing.
 * Scores are injected as if a publisher of scores ran. Without an annotation the mode is that of
 * the configuration, or Scores if it decides no Placements. Everything in *ret is in the arena.
 * Returns 0 or -errno.
 */
int placement_simulation_run(const struct configuration *c, const char *path,
                             const char *previous_path, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) MUST_CHECK;
