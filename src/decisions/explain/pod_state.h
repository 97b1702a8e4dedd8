/*
 * The scheduling state of a pod in the API server: its node, the condition PodScheduled that
 * kube-scheduler writes, and the fields of the spec that keep the pod from being scheduled.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* All strings are in the text or the arena; "" means that the field is not given. */
struct pod_state {
    struct str namespace, name, uid;
    struct str created, deleted; /* times as the API server writes them */
    struct str phase, nominated_node;
    struct str node, scheduler; /* nodeName and schedulerName of the spec */
    const struct str *gates;    /* schedulingGates; at most LIMIT_EXPLAINED_GATES are read */
    uint32_t gate_count;
    /* The condition PodScheduled; status "" if the pod has no such condition. */
    struct str status, reason, message, since;
};

/* Reads a Pod. Returns 0, -EINVAL or -ENOMEM. */
int pod_state_decode(struct str text, struct arena *arena, struct pod_state *ret,
                     struct err *err) MUST_CHECK;
/* Does the pod wait for a node? */
bool pod_state_is_pending(const struct pod_state *s);
