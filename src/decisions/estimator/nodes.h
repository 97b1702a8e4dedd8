/*
 * The accurate estimator: computes how many replicas, or sets of components, fit the nodes of a
 * member cluster beside its pods. upstream: karmada pkg/estimator/server and its plugin
 * NodeResourceEstimator (v1.18.1).
 *
 * Room is stored in columns, one number per node for each resource that every node has; a node's
 * few other resources are in a list. So a question is one pass over arrays. A topology of the same
 * nodes answers which nodes a replica may use, and caches its answers.
 *
 * Threads: any number of callers may read nodes that do not change; each has its own view of the
 * topology, and its own arena.
 */
#pragma once

#include "estimator/estimator.h"
#include "model/karmada_pod.h"
#include "topology/topology.h"

/* The resources of every node. */
enum node_native { NODE_PODS, NODE_CPU, NODE_MEMORY, NODE_EPHEMERAL, NODE_NATIVES };
/* Returns the resource with this name, or NODE_NATIVES if not every node has it. */
enum node_native node_native_of(struct str name);

/* The free amount of a resource that only some nodes have. */
struct node_scalar {
    uint32_t name; /* index in estimator_nodes.names */
    int64_t free;
};

/* Free resources of nodes: allocatable less the requests of pods, never below 0; cpu in
 * thousandths, other resources in whole units. A row is a node; rows are in the order in which
 * components are placed. */
struct estimator_nodes {
    uint32_t count;
    const uint32_t *slots;               /* [count]: each row's slot in the topology */
    const int64_t *native[NODE_NATIVES]; /* [count] in each array */
    const uint32_t *scalar_begin;        /* [count + 1]: index of each row's first scalar */
    const struct node_scalar *scalars;   /* row after row; sorted by name in each row */
    const struct str *names;             /* names of scalars, sorted */
    uint32_t name_count;
};

/*
 * Makes nodes from objects, in the arena; strings are borrowed. Adds the nodes to `topology`, which
 * must be empty and without views. If nodes have equal names, the last counts, in the place of the
 * first. Pods without a node, finished pods, and pods on unknown nodes do not count. Linear, except
 * for sorting names of resources. Returns 0, -E2BIG (the arena's steps are spent) or -ENOMEM.
 */
int estimator_nodes_make(struct topology *topology, const struct node *nodes, uint32_t node_count,
                         const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                         struct estimator_nodes *ret) MUST_CHECK;

/*
 * Estimates replicas of q's requirements: the sum over the usable nodes; without requirements, the
 * sum of their free pods. Places q's assumed workloads first. No nodes: 0 replicas. Returns 0,
 * -E2BIG (the steps of the view or of the arena are spent) or -ENOMEM.
 */
int estimator_nodes_replicas(const struct estimator_nodes *nodes, struct topology_view *view,
                             const struct estimator_question *q, struct arena *arena,
                             int64_t *ret) MUST_CHECK;
/*
 * Estimates sets of q's components, first fit. No nodes: 0; no components: ESTIMATE_MAX. Components
 * without any replica: ESTIMATE_MAX if each component would find room for one replica, else 0
 * (upstream would place nothing 2^31 times). Errors are those of estimator_nodes_replicas().
 */
int estimator_nodes_sets(const struct estimator_nodes *nodes, struct topology_view *view,
                         const struct estimator_question *q, struct arena *arena,
                         int64_t *ret) MUST_CHECK;
