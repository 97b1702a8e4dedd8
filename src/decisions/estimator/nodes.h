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
/* Returns NODE_NATIVES for another resource. */
enum node_native node_native_of(struct str name);

/* Room of another resource. */
struct node_scalar {
    uint32_t name; /* index of names */
    int64_t free;
};

/* Free resources: allocatable less the requests of pods; cpu in thousandths, others in whole units;
 * never below 0. Rows are in the order in which components are placed. */
struct estimator_nodes {
    uint32_t count;
    const uint32_t *slots;               /* [count]: slots in the topology */
    const int64_t *native[NODE_NATIVES]; /* [count] each */
    const uint32_t *scalar_begin;        /* [count + 1]: where a row's scalars begin */
    const struct node_scalar *scalars;   /* by name in each row */
    const struct str *names;             /* of scalars, sorted */
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
 * without any replica: ESTIMATE_MAX if each would find room for one, else 0 (upstream would place
 * nothing 2^31 times). Returns likewise.
 */
int estimator_nodes_sets(const struct estimator_nodes *nodes, struct topology_view *view,
                         const struct estimator_question *q, struct arena *arena,
                         int64_t *ret) MUST_CHECK;
