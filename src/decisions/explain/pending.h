/*
 * Why a pod has no node, in a sentence: what its condition PodScheduled means, and what can be
 * added from how the pod is judged now. kube-scheduler's reasons come first, because they are why
 * the pod waits; the judgement now may differ, since the cluster has moved on, and is then said
 * apart.
 */
#pragma once

#include "base/str.h"
#include "engine/engine.h"
#include "explain/pod_state.h"

enum { PENDING_FILTERS = 9 }; /* of kube-scheduler and of Evenkeel: FILTER_* */

struct pending_question {
    const struct pod_state *state;
    const struct pod *pod;           /* the same pod, as the engine reads it */
    const struct filter_result *now; /* of all nodes, with options.reports; NULL: not judged */
    uint32_t nodes;                  /* that were judged */
    /* Of each node the filters that refuse it, each asked alone: FILTER_* bits. NULL: not known. */
    const uint32_t *refusing;
    struct str filter_reasons[PENDING_FILTERS]; /* by bit: why it refuses one of them */
    struct str taint; /* one of those that keep the pod off, "key=value:effect"; "" */
    struct str unready_dataset, unready_phase; /* a dataset that the pod mounts; "" */
};

/* Appends the sentence. Returns the kind: "Scheduled", "Deleted", "SchedulingGates", "Nominated",
 * "NotTried", "SchedulerError", "Dataset", or one of reasons.h. Static. */
const char *pending_say(const struct pending_question *q, struct strbuf *out);
