/*
 * Pods placed one after the other, each counting for the next: N replicas of a pod, and before them
 * the pods of nodes that are taken away. `evenkeel simulate --replicas N --without KEY=VALUE`
 * prints it.
 */
#pragma once

#include "whatif/simulation.h"

struct placing_question {
    struct simulation_question pods; /* pod_path NULL: none but those that have to move */
    uint32_t replicas;
    const char *const *without; /* "KEY=VALUE": labels of the nodes that go */
    uint32_t without_count;
};

struct placed_pod {
    struct str namespace, name;
    struct str from;   /* the node that it has lost; empty: a replica */
    struct str node;   /* empty: it is Pending */
    struct str reason; /* why: "2 nodes: NodeAffinity: ...", by reason; or of another failure */
    int64_t total;
};

/* Pods in one domain: of those that the replicas' constraint counts, or all where there is none. */
struct placed_domain {
    struct str key, value;
    int64_t before, added;
};

struct placing {
    struct placed_pod *pods; /* those that have to move, as in the files, and then the replicas */
    uint32_t count, cap;
    uint32_t lost_nodes, pending;
    struct str cause;              /* simulation_cause() of the first that is Pending; "" */
    struct filter_unknown unknown; /* when the last pod was placed */
    bool constrained;              /* a spread constraint or rule was applied to one of them */
    struct placed_domain *domains; /* by key and value */
    uint32_t domain_count, domain_cap;
};

/* Everything in *ret is in the arena. 0, -EINVAL (no node has such a label) or -errno. */
int placing_run(const struct placing_question *q, struct arena *arena, struct placing *ret,
                struct err *err) MUST_CHECK;
