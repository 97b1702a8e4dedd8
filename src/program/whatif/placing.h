/*
 * Places pods one after the other, so that each placed pod counts for the next pods: first the pods
 * of removed nodes, then N replicas of a pod. Printed by `evenkeel simulate --replicas N --without
 * KEY=VALUE`.
 */
#pragma once

#include "whatif/placed_domains.h"
#include "whatif/simulation.h"

struct placing_question {
    struct simulation_question pods; /* pod NULL: only the pods that have to move */
    uint32_t replicas;
    const char *const *without; /* "KEY=VALUE": labels of the nodes to remove */
    uint32_t without_count;
};

struct placed_pod {
    struct str namespace, name;
    struct str from;   /* the removed node that the pod was on; empty: a replica */
    struct str node;   /* empty: the pod is Pending */
    struct str reason; /* the reason why the pod is Pending: "2 nodes: NodeAffinity: ..."; or
                          another failure */
    int64_t total;
};

struct placing {
    struct placed_pod *pods; /* pods that have to move, in the files' order; then replicas */
    uint32_t count, cap;
    uint32_t lost_nodes, pending;
    struct str cause;              /* simulation_cause() of the first Pending pod, or "" */
    struct filter_unknown unknown; /* for the last placed pod; but `claims` is for any pod */
    bool constrained;              /* a spread constraint or rule was applied to a pod */
    struct placed_domains domains;
};

/* Places the pods. Everything in *ret is in the arena. Returns 0, -EINVAL (no node has such a
 * label) or -errno. */
int placing_run(const struct placing_question *q, struct arena *arena, struct placing *ret,
                struct err *err) MUST_CHECK;
