/*
 * What `evenkeel simulate --admit` prints.
 */
#pragma once

#include "whatif/admission_simulation.h"

/* Appends {"allowed":true,"code":200,"message":"","policy":"...","notes":[{plugin,note}],
 * "warnings":[],"patch":[...],"pod":{...}}: the pod as it would be stored. */
void admission_simulation_print_json(const struct admission_simulation *t, struct strbuf *out);
/* Appends the same for people. Returns false if there was no memory. */
bool admission_simulation_print_table(const struct admission_simulation *t, struct arena *arena,
                                      struct strbuf *out);
