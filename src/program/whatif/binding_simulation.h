/*
 * `evenkeel simulate --binding F`: where Karmada's scheduler would put a binding's replicas, and
 * why, against clusters read from files, with the code that answers POST /clusters/v1. If there are
 * several bindings, each binding gets only the room that the earlier bindings leave.
 */
#pragma once

#include "config/configuration.h"
#include "findings/findings.h"
#include "whatif/binding_subjects.h"

struct binding_simulation {
    struct binding_sources sources;
    int64_t now_ms;    /* milliseconds since 1970, for the time in "status" */
    struct str member; /* the cluster of the nodes and pods in the state files; "": none */
};

/*
 * Appends the object of explain/binding.h with "findings"; with "madeBinding", too, if the binding
 * is made from a policy. If the policy does not select the workload, "madeBinding" is null, and
 * only "warnings" and "findings" are beside it. If the files have several bindings or workloads:
 * {"answers":[object, ...]} in their order. *ret_findings counts all findings. Clusters come from
 * the configuration's state files, options from its `karmada`. The arena's steps bound the work.
 * Returns 0 or -errno.
 */
int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, uint32_t *ret_findings,
                           struct err *err) MUST_CHECK;
