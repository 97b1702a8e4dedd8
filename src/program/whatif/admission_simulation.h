/*
 * `evenkeel simulate --admit`: how the webhook would change one pod. It runs the webhook's code.
 */
#pragma once

#include "admission/pods/pods.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "config/configuration.h"
#include "findings/findings.h"
#include "whatif/simulation.h"

#include <stdbool.h>

struct admission_simulation {
    const struct admitted_kind *kind;
    struct review review;
    enum admission result;
    struct review_answer answer;
    struct patch patch;
    struct findings *findings; /* findings about the file, set by the caller; or NULL */
};

/* Admits a pod, or a pod of a workload, with the policies and the state of the configuration; the
 * state includes volumes. Everything in *ret is in the arena. Returns 0 or -errno. */
int admission_simulation_run(const struct configuration *c, const struct simulation_state *state,
                             const struct document *document, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) MUST_CHECK;
