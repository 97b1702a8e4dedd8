/*
 * The modes of `evenkeel simulate`: different questions with a common command line. Each mode is a
 * row of the table in simulate.c.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/questions.h"
#include "config/configuration.h"
#include "findings/findings.h"
#include "whatif/simulation.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIMULATE_WITHOUT_MAX = 64, SIMULATE_BINDINGS_MAX = 64, SIMULATE_REPLICAS_MAX = 10000 };

/* The parsed command line; all texts are borrowed from it. */
struct simulate_request {
    uint32_t given;   /* bit i: the option in row i of the command's table */
    const char *flag; /* the first flag of the configuration that is given, or NULL */
    const char *name; /* name of the wanted object in the file; NULL: all objects */
    struct questions *questions;
    const char *pod, *candidates, *scheduler, *config, *lines;
    uint32_t filters;
    uint32_t replicas; /* 0: not given */
    const char *without[SIMULATE_WITHOUT_MAX];
    uint32_t without_count;
    const char *placement, *previous, *member, *propagation_policy, *workload;
    const char *bindings[SIMULATE_BINDINGS_MAX];
    uint32_t binding_count;
    bool has_now;
    int64_t now_ms; /* milliseconds since 1970 */
    bool json, strict, rounds;
};

/* Reads the state that the mode needs from the configuration's source, puts the answer about
 * request->questions->document and returns the exit code of the command. May complete the
 * request. */
typedef int simulate_mode_fn(struct simulate_request *request, const struct configuration *c,
                             struct arena *arena);
simulate_mode_fn simulate_pods;      /* where one pod would be placed, or many pods in a row */
simulate_mode_fn simulate_placement; /* which clusters a Placement should have */
simulate_mode_fn simulate_binding;   /* how Karmada would schedule a binding */
simulate_mode_fn simulate_admit;     /* how the webhook would change a pod */
simulate_mode_fn simulate_admit_placement; /* how the webhook would review a Placement */
simulate_mode_fn simulate_lines;           /* steps of scheduling fleets, one question per line */

/* Functions for all modes. */

/* Adds the findings to the answer and puts it: `print` for people, otherwise the JSON. With
 * --strict, findings and `is_pending` make the exit code 3. Returns the exit code. */
int simulate_answer(const struct simulate_request *request, struct strbuf *json,
                    const struct findings *findings, answer_print_fn *print, const char *note,
                    bool is_pending);
/* Prints the reason why there is no answer. Returns the exit code. */
int simulate_fail(const char *why);
/* Calls simulation_read(). A state without nodes is reported on stderr, but is no error. */
int simulate_read(const struct configuration *c, const struct workload_key *left_out,
                  struct simulation_state *ret, struct err *err) MUST_CHECK;
