/*
 * The output of `evenkeel simulate --admit`.
 */
#pragma once

#include "whatif/admission_simulation.h"

/* With `json`, prints {"allowed":true,"code":200,"message":"","policy":"...","notes":[{plugin,
 * note}],"warnings":[],"patch":[...],"pod":{...},"findings":[]}, where "pod" is the pod as it would
 * be stored. Otherwise prints the same for people. Returns the exit status. */
int admission_simulation_print(const struct admission_simulation *t, bool json,
                               struct arena *arena);
