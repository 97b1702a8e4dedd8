/*
 * What `evenkeel topology` prints without WHAT, or with NAMESPACE/NAME: how even workloads are,
 * from a state that it reads itself or from a daemon.
 */
#pragma once

#include "config/configuration.h"
#include "kube/auth/access.h"

enum { EXIT_SKEW = 3 };

struct workloads_request {
    const struct configuration *configuration; /* whose state is read; NULL: a daemon is asked */
    struct kube_access daemon;                 /* its ops listener */
    const char *by;                            /* a topology key, or the end of a well-known one
                                                  ("zone"); NULL: zone, region or hostname */
    struct str namespace, name;                /* name "": all */
    int64_t max_skew;                          /* -1: any */
    bool json;
};

/* The well-known label that is called so without its prefix, "zone", "region" or "hostname"; NULL:
 * none. It is what is meant if no node has the label "zone" itself. */
const char *workloads_full_key(const char *key);

/* Prints, errors as well. The exit status: 0, 1, or EXIT_SKEW if a workload has a larger skew than
 * max_skew and could have a smaller one, or if one has no known skew at all. */
int workloads_report(const struct workloads_request *request);
