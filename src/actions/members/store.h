/*
 * What a member cluster's estimator knows of it: its nodes, and what is free on each beside the
 * pods that run there, kept right by every event. Contents of an informer; read through a view,
 * which stands still.
 *
 * Of a pod there is a hash of its name, its node, and the number of what it asks for, which is
 * stored once for all pods that ask for the same; so a question is one pass over columns of nodes,
 * whatever the number of pods. Pods count while they are bound and have not finished, terminating
 * ones too. upstream: karmada pkg/estimator/server, and its lifted scheduler cache (v1.18.1).
 *
 * Nodes are in the order in which that cache puts them, on which the number of component sets
 * depends: in turn one of each zone, zones as they got their first node, nodes as they came to
 * their zone.
 *
 * Beside them are kept, of Deployments, ReplicaSets and pods that have found no node, what tells
 * whose pods they are: labels, uids, and a hash of the template.
 *
 * ResourceQuotas are kept as far as questions are limited by them (estimator/quota.h); those of a
 * namespace are found without a look at others.
 *
 * Threads: one writer at a time, under the informer's lock; views from any thread.
 */
#pragma once

#include "estimator/nodes.h"
#include "estimator/quota.h"
#include "informer/informer.h"

/* Rows of the store. */
enum member_kind {
    MEMBER_NODES,
    MEMBER_PODS,
    MEMBER_DEPLOYMENTS,
    MEMBER_REPLICA_SETS,
    MEMBER_QUOTAS,
    MEMBER_KINDS,
};
#define MEMBER_KIND(row) (UINT64_C(1) << (row))

extern const struct informer_store member_store; /* for informer_new(), without contents */

struct member_view {
    struct topology_view topology;
    struct estimator_nodes nodes; /* borrowed, while the view is open */
    struct informer *informer;    /* borrowed */
    const struct member_contents *contents;
};
/* Holds the informer's read lock until it is closed; not twice in one thread. The caller may set
 * topology.steps. 0; -ENOMEM or -ENOSPC (not all nodes, pods and quotas are kept, because they are
 * too much): nothing is open. */
int member_view_open(struct informer *informer, struct member_view *ret) MUST_CHECK;
/* Keeps what was built, for the next question. */
void member_view_close(struct member_view *v);

/* The ResourceQuotas of a namespace; "": all. Their array is in the arena, the rest is borrowed
 * while the view is open. Linear in their number. 0, -E2BIG (the arena's steps are spent) or
 * -ENOMEM. */
int member_quotas(const struct member_view *v, struct str namespace, struct arena *arena,
                  const struct estimator_quota **ret, uint32_t *ret_count) MUST_CHECK;

/*
 * How many of a Deployment's newest pods have found no node for longer than the threshold
 * (estimator/unschedulable.h). Linear in its ReplicaSets and their waiting pods, whatever others
 * there are. Holds the read lock for the length of the call. 0, -ENOENT (there is
 * no such Deployment), -EINVAL (its selector does not compile), -ENOSPC (not all is kept, because
 * it is too much), -E2BIG or -ENOMEM.
 */
struct member_workload {
    struct str namespace, name;
    int64_t threshold_ns, now_ms;
};
int member_unschedulable(struct informer *informer, const struct member_workload *workload,
                         struct arena *arena, int64_t *ret, struct err *err) MUST_CHECK;

/* How many bytes may be kept of it, once, before it is watched; otherwise there is no limit. What
 * goes beyond ends the list or the watch of its kind, of which nothing is kept then until a later
 * listing fits. Deployments and ReplicaSets are kept in half of it. */
void member_limit(struct informer *informer, uint64_t max_bytes);
/* MEMBER_KIND() of the kinds of which not all is kept for that reason. */
uint64_t member_too_large(struct informer *informer);

struct member_stats {
    uint32_t nodes, pods, vectors; /* vectors: different requests */
    uint64_t bytes;
};
struct member_stats member_stats(struct informer *informer);
