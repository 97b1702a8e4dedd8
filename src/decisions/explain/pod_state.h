/*
 * What the API server's copy of a pod says of its scheduling: its node, the condition PodScheduled
 * that kube-scheduler writes, and the fields of the spec that keep it from being scheduled.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* All strings are in the text or the arena; "" is "not given". */
struct pod_state {
    struct str namespace, name, uid;
    struct str created, deleted; /* times as the API server writes them */
    struct str phase, nominated_node;
    struct str node, scheduler; /* of the spec */
    const struct str *gates;    /* schedulingGates; at most LIMIT_EXPLAINED_GATES are read */
    uint32_t gate_count;
    /* The condition; status "" if there is none. */
    struct str status, reason, message, since;
};

/* Reads a Pod. 0, -EINVAL or -ENOMEM. */
int pod_state_decode(struct str text, struct arena *arena, struct pod_state *ret,
                     struct err *err) MUST_CHECK;
/* Does it wait for a node? */
bool pod_state_is_pending(const struct pod_state *s);
