/*
 * `evenkeel simulate --placement F --admit`: how the webhook would change a Placement. It runs the
 * webhook's code.
 */
#pragma once

#include "config/configuration.h"
#include "state/documents.h"
#include "whatif/admission_simulation.h"

/*
 * Admits a Placement; if `previous` is set, as an update of that Placement. Policies and namespaces
 * come from the configuration's files; both may be missing. Scores are injected as if a publisher
 * of scores ran. Without an annotation the mode is that of the configuration, or Scores if the
 * configuration decides no Placements. Everything in *ret is in the arena. Returns 0 or -errno.
 */
int placement_simulation_run(const struct configuration *c, const struct document *d,
                             const struct document *previous, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) MUST_CHECK;
