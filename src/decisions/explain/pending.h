/*
 * Explains in a sentence why a pod has no node: the meaning of its condition PodScheduled, and
 * details from a simulation now. kube-scheduler's reasons come first, because the pod waits for
 * them; the simulation may differ, as the cluster has changed, and then has its own part of the
 * sentence.
 */
#pragma once

#include "base/str.h"
#include "engine/engine.h"
#include "explain/pod_state.h"
#include "model/policy.h"

enum { PENDING_FILTERS = 11 }; /* number of filters of kube-scheduler and of Evenkeel: FILTER_* */

struct pending_question {
    const struct pod_state *state;
    const struct pod *pod; /* the same pod, as the engine reads it */
    /* present result for all nodes, with options.reports; NULL: no result */
    const struct filter_result *now;
    uint32_t nodes; /* number of nodes in `now` */
    /* For each node the filters that refuse it when each filter runs alone: FILTER_* bits. NULL:
     * not known. */
    const uint32_t *refusing;
    struct str filter_reasons[PENDING_FILTERS]; /* by bit: the filter's reason for one node */
    struct str taint; /* a taint that keeps the pod off a node, "key=value:effect"; or "" */
    struct str unready_dataset, unready_phase; /* name and phase of a dataset that the pod mounts
                                                  and that is not ready; or "" */
    const struct policy *policy; /* gives the pod its constraints; NULL: none, or not known */
};

/* Appends the sentence. Returns the kind: "Scheduled", "Deleted", "SchedulingGates", "Nominated",
 * "NotTried", "SchedulerError", "Dataset", or a kind of reasons.h. Static. */
const char *pending_say(const struct pending_question *q, struct strbuf *out);

/* Appends the cause in one short line that begins with the constraint in the way and ends with a
 * remedy: "Pending: policy zones (zone, maxSkew 1) allows only c; its 4 nodes: 4 cordoned. ...".
 * `kind` is from pending_say(). Returns false, and appends nothing, if no constraint is the
 * cause. */
bool pending_summarize(const struct pending_question *q, const char *kind, struct strbuf *out);
