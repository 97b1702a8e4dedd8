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

struct pending_question {
    const struct pod_state *state;
    const struct pod *pod;           /* the same pod, as the engine reads it */
    const struct filter_result *now; /* of all nodes, with options.domains; NULL: not judged */
    uint32_t nodes;                  /* that were judged */
    struct str taint; /* one of those that keep the pod off, "key=value:effect"; "" */
    struct str unready_dataset, unready_phase; /* a dataset that the pod mounts; "" */
};

/* Appends the sentence. Returns the kind: "Scheduled", "Deleted", "SchedulingGates", "Nominated",
 * "NotTried", "SchedulerError", "Dataset", or one of reasons.h. Static. */
const char *pending_say(const struct pending_question *q, struct strbuf *out);
