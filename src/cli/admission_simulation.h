/*
 * `evenkeel simulate --admit`: how the webhook would change one pod. It runs the webhook's code.
 */
#pragma once

#include "admission/pods/pods.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/simulation.h"
#include "config/configuration.h"

#include <stdbool.h>

struct admission_simulation {
    struct review review;
    enum admission result;
    struct review_answer answer;
    struct patch patch;
};

/* Admits the pod of a YAML or JSON file, with the configuration's state, volumes included, and
 * policies. Everything in *ret is in the arena. 0 or -errno. */
int admission_simulation_run(const struct configuration *c, const struct simulation_state *state,
                             const char *pod_path, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) MUST_CHECK;

/* Appends {"allowed":true,"code":200,"message":"","policy":"...","notes":[{plugin,note}],
 * "warnings":[],"patch":[...],"pod":{...}}: the pod as it would be stored. */
void admission_simulation_print_json(const struct admission_simulation *t, struct strbuf *out);
/* Appends the same for people. Returns false if there was no memory. */
bool admission_simulation_print_table(const struct admission_simulation *t, struct arena *arena,
                                      struct strbuf *out);
