/*
 * The output of `evenkeel simulate --admit`.
 */
#pragma once

#include "cli/questions.h"
#include "whatif/admission_simulation.h"

/* With q->json, puts {"allowed":true,"code":200,"message":"","policy":"...","notes":[{plugin,
 * note}],"warnings":[],"patch":[...],"pod":{...},"findings":[]}, where "pod" is the pod as it would
 * be stored. Otherwise puts the same for people. Returns the exit status. */
int admission_simulation_print(const struct admission_simulation *t, struct questions *q,
                               struct arena *arena);
