/*
 * The objects of a member cluster for its estimator: its nodes, and the resources that the pods of
 * each leave free, updated by every event. They are the contents of an informer; readers open a
 * view, which does not change.
 *
 * A pod is kept as a hash of its name, its node, and the number of its requests, which are stored
 * once for all pods with the same requests. A question is one pass over columns of nodes, whatever
 * the number of pods. Pods count while they are bound and have not finished, even if they are
 * terminating. upstream: karmada pkg/estimator/server, and its lifted scheduler cache (v1.18.1).
 *
 * Nodes have the same order as in that cache, because the number of component sets depends on it:
 * one node of each zone in turn, zones by the time of their first node, nodes by the time they came
 * to their zone.
 *
 * It also keeps the parts of Deployments, ReplicaSets and pods without a node that show the owner
 * of a pod: labels, uids, and a hash of the template.
 *
 * ResourceQuotas are kept as far as they limit questions (estimator/quota.h); those of a namespace
 * are found without a look at others.
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
/* Opens a view, which holds the informer's read lock until member_view_close(). A thread may
 * have only one open view. The caller may set topology.steps. Returns 0, -ENOMEM, or -ENOSPC
 * (nodes, pods or quotas are too large to be kept). After an error no view is open. */
int member_view_open(struct informer *informer, struct member_view *ret) MUST_CHECK;
/* Closes the view, and keeps the parts that it has built, for later views. */
void member_view_close(struct member_view *v);

/* Lists the ResourceQuotas of a namespace; "": all. Their array is in the arena, the rest is
 * borrowed while the view is open. Linear in their number. Returns 0, -E2BIG (the arena's steps are
 * spent) or -ENOMEM. */
int member_quotas(const struct member_view *v, struct str namespace, struct arena *arena,
                  const struct estimator_quota **ret, uint32_t *ret_count) MUST_CHECK;

/*
 * Counts a Deployment's newest pods that have found no node for longer than the threshold
 * (estimator/unschedulable.h). Linear in its ReplicaSets and their waiting pods, whatever else
 * exists. Holds the read lock during the call. Returns 0, -ENOENT (no such Deployment), -EINVAL
 * (its selector does not compile), -ENOSPC (a kind is too large to be kept), -E2BIG or -ENOMEM.
 */
struct member_workload {
    struct str namespace, name;
    int64_t threshold_ns, now_ms;
};
int member_unschedulable(struct informer *informer, const struct member_workload *workload,
                         struct arena *arena, int64_t *ret, struct err *err) MUST_CHECK;

/* Sets how many bytes may be kept. Call it once, before the member is watched; without this call
 * there is no limit. An object beyond the limit ends the list or the watch of its kind; nothing
 * of that kind is kept until a later listing fits. Deployments and ReplicaSets may use only half
 * of the limit. */
void member_limit(struct informer *informer, uint64_t max_bytes);
/* Returns MEMBER_KIND() of the kinds that are too large to be kept. */
uint64_t member_too_large(struct informer *informer);

struct member_stats {
    uint32_t nodes, pods, vectors; /* vectors: different requests */
    uint64_t bytes;
};
struct member_stats member_stats(struct informer *informer);
