/*
 * `evenkeel simulate --binding F`: where Karmada's scheduler would put a binding's replicas, and
 * why, against clusters read from files, by the code that answers POST /clusters/v1.
 */
#pragma once

#include "config/configuration.h"
#include "findings/findings.h"

struct binding_simulation {
    const char *path;          /* of the binding */
    int64_t now_ms;            /* since 1970: the time in "status" */
    struct str member;         /* the cluster of the nodes and pods in the state files; "": none */
    struct findings *findings; /* of the file, beside the state */
};

/* Appends the object of explain/binding.h. Clusters come from the configuration's state files,
 * options from its `karmada`. The arena's steps bound the work. Returns 0 or -errno. */
int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, struct err *err) MUST_CHECK;
