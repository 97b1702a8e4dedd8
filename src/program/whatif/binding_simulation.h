/*
 * `evenkeel simulate --binding F`: where Karmada's scheduler would put a binding's replicas, and
 * why, against clusters read from files, by the code that answers POST /clusters/v1. If there are
 * several bindings, each sees the clusters with the room that those before it leave.
 */
#pragma once

#include "config/configuration.h"
#include "findings/findings.h"
#include "whatif/binding_subjects.h"

struct binding_simulation {
    struct binding_sources sources;
    int64_t now_ms;    /* since 1970: the time in "status" */
    struct str member; /* the cluster of the nodes and pods in the state files; "": none */
};

/*
 * Appends the object of explain/binding.h with "findings"; with "madeBinding", too, if the binding
 * is made of a policy: null with "warnings" and "findings" alone, if the policy does not select the
 * workload. If the files have several bindings or workloads: {"answers":[object, ...]} in their
 * order. *ret_findings counts all findings. Clusters come from the configuration's state files,
 * options from its `karmada`. The arena's steps bound the work. Returns 0 or -errno.
 */
int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, uint32_t *ret_findings,
                           struct err *err) MUST_CHECK;
