/*
 * The accurate estimator: how many replicas, or sets of components, fit the nodes of a member
 * cluster beside the pods that run there. upstream: karmada pkg/estimator/server and its plugin
 * NodeResourceEstimator (v1.18.1).
 *
 * Room is kept in columns, one number a node for each resource that every node has, and the few
 * others of a node in a list, so that a question is one pass over arrays. Which nodes a replica may
 * use is asked of a topology of the same nodes, which remembers what it was asked before.
 *
 * Threads: nodes that nobody changes may be read by any number of callers; each has its own view of
 * the topology, and its own arena.
 */
#pragma once

#include "estimator/estimator.h"
#include "model/karmada_pod.h"
#include "topology/topology.h"

/* Resources that every node has room of. */
enum node_native { NODE_PODS, NODE_CPU, NODE_MEMORY, NODE_EPHEMERAL, NODE_NATIVES };
/* NODE_NATIVES: it is none of them. */
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
    const uint32_t *slots;               /* [count]: of the topology */
    const int64_t *native[NODE_NATIVES]; /* [count] each */
    const uint32_t *scalar_begin;        /* [count + 1]: where a row's scalars begin */
    const struct node_scalar *scalars;   /* by name in each row */
    const struct str *names;             /* of scalars, sorted */
    uint32_t name_count;
};

/*
 * Makes them of objects, in the arena; strings are borrowed. Puts the nodes into `topology`, which
 * is empty and has no views yet. Of nodes of one name the last counts, in the place of the first.
 * Pods that are not bound, or finished, or on a node that is not there, do not count. Linear but
 * for sorting names of resources. 0, -E2BIG (the arena's steps are spent) or -ENOMEM.
 */
int estimator_nodes_make(struct topology *topology, const struct node *nodes, uint32_t node_count,
                         const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                         struct estimator_nodes *ret) MUST_CHECK;

/*
 * Replicas of q's requirements: the sum over the nodes that may be used; without requirements their
 * free pods. q's assumed workloads are placed first. No nodes: 0. 0, -E2BIG (the steps of the view
 * or of the arena are spent) or -ENOMEM.
 */
int estimator_nodes_replicas(const struct estimator_nodes *nodes, struct topology_view *view,
                             const struct estimator_question *q, struct arena *arena,
                             int64_t *ret) MUST_CHECK;
/*
 * Sets of q's components, first fit. No nodes: 0; no components: ESTIMATE_MAX. Components without
 * any replica: ESTIMATE_MAX if each would find room for one, else 0, where upstream would place
 * nothing 2^31 times. Likewise.
 */
int estimator_nodes_sets(const struct estimator_nodes *nodes, struct topology_view *view,
                         const struct estimator_question *q, struct arena *arena,
                         int64_t *ret) MUST_CHECK;
