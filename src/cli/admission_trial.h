/*
 * `evenkeel simulate --admit`: what the webhook would make of one pod, by the code that serves.
 */
#pragma once

#include "admission/pods/pods.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "config/configuration.h"

#include <stdbool.h>

struct admission_trial {
    struct review review;
    enum admission result;
    struct review_answer answer;
    struct patch patch;
};

/* The configuration's state and policies, and the pod of a YAML or JSON file. Everything in *ret is
 * in the arena. 0 or -errno. */
int admission_trial_run(const struct configuration *c, const char *pod_path, struct arena *arena,
                        struct admission_trial *ret, struct err *err) MUST_CHECK;

/* {"allowed":true,"code":200,"message":"","warnings":[],"patch":[...],"pod":{...}}: the pod as it
 * would be stored. */
void admission_trial_print_json(const struct admission_trial *t, struct strbuf *out);
/* The same for people. False: no memory. */
bool admission_trial_print_table(const struct admission_trial *t, struct arena *arena,
                                 struct strbuf *out);
