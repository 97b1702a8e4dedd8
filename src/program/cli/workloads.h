/*
 * `evenkeel topology` without WHAT, or with NAMESPACE/NAME: prints how even workloads are, from a
 * state that it reads itself or from a daemon.
 */
#pragma once

#include "config/configuration.h"
#include "kube/auth/access.h"

enum { EXIT_SKEW = 3 };

struct workloads_request {
    const struct configuration *configuration; /* source of the state; NULL: asks a daemon */
    struct kube_access daemon;                 /* its ops listener */
    const char *by;                            /* a topology key, or the end of a well-known one
                                                  ("zone"); NULL: zone, region or hostname */
    struct str namespace, name;                /* name "": all */
    int64_t max_skew;                          /* -1: any */
    bool json;
    /* set by workloads_report(): the oldest state file, and its age; 0: not known */
    const char *state_file;
    int64_t state_age_ms;
};

/* Returns the well-known label for "zone", "region" or "hostname", its name without the prefix;
 * NULL for others. The user means it if no node has the label "zone" itself. */
const char *workloads_full_key(const char *key);

/* Prints the report or the error. Returns the exit status: 0, 1, or, with max_skew, EXIT_SKEW if a
 * workload has a larger skew and could have a smaller one, or has no known skew. */
int workloads_report(const struct workloads_request *asked);
