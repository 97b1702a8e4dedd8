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
    const char *by; /* a topology key, or the last part of a well-known key ("zone"); NULL: zone,
                       region or hostname */
    struct str namespace, name; /* name "": all workloads */
    int64_t max_skew;           /* -1: any skew is allowed */
    bool json;
    /* set by workloads_report(): the oldest state file, and its age; age 0: not known */
    const char *state_file;
    int64_t state_age_ms;
};

/* Returns the well-known label for "zone", "region" or "hostname", the label's name without its
 * prefix; NULL for other keys. The user means the well-known label if no node has a label
 * "zone". */
const char *workloads_full_key(const char *key);

/* Prints the report or the error. Returns the exit status: 0, 1, or, with max_skew, EXIT_SKEW if a
 * workload has a larger skew and could have a smaller one, or has no known skew. */
int workloads_report(const struct workloads_request *asked);
