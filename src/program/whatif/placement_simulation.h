/*
 * `evenkeel simulate --placement F --admit`: what the webhook would make of a Placement, by the
 * webhook's code.
 */
#pragma once

#include "config/configuration.h"
#include "whatif/admission_simulation.h"

/*
 * Admits the Placement of a YAML or JSON file; with `previous_path` as a change of what is there.
 * Policies and namespaces are the configuration's files, and there may be none of either. Scores
 * are injected as if a publisher of them ran; what no annotation says is as the configuration has
 * it, and mode Scores where that decides no Placements. Everything in *ret is in the arena. 0 or
 * -errno.
 */
int placement_simulation_run(const struct configuration *c, const char *path,
                             const char *previous_path, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) MUST_CHECK;
