/*
 * The gRPC service that karmada-scheduler and karmada-descheduler call, for the member clusters.
 * upstream: karmada pkg/estimator/server, server.go (v1.18.1).
 *
 * Statuses: 2 for an unknown cluster, or for a workload that is not counted or does not exist, with
 * upstream's error text; 8 for a question that takes too much memory or too many steps before the
 * member's data is used; 13 for a malformed message. A member that is not synced, or whose data is
 * too old, gets the answer -1, which a scheduler ignores; with unready_is_error it gets status 14,
 * which makes a scheduler ignore the answers of all members. A Cluster of Karmada that is no member
 * yet, and any name before the Clusters are listed, get the same answers.
 *
 * The answer is -1, too, if steps or memory run out while the member's data is used: the member's
 * users may make any number of nodes, ResourceQuotas, ReplicaSets and waiting pods, and the caller
 * has made no error. karmada-descheduler, too, ignores -1 for this member alone.
 *
 * Threads: a question holds a reference to its member, because the member may be removed meanwhile.
 * During the estimate it also holds the member's read lock. It holds no other lock.
 */
#pragma once

#include "grpc/grpc.h"
#include "members/karmada.h"

struct estimator {
    struct members *members;               /* borrowed */
    const struct karmada_members *karmada; /* borrowed; NULL: all members are configured */
    bool unready_is_error;
    /* upstream: gates ResourceQuotaEstimate and SchedulingOvercommitProtection */
    bool quotas;                /* ResourceQuotas limit answers */
    bool overcommit_protection; /* assumed workloads take room; otherwise they are ignored */
};

/* Returns the gRPC service; the ctx of its methods is `e`. */
struct grpc_service estimator_service(struct estimator *e);

/* Register and unregister the service's metrics. */
void estimator_metrics_start(void);
void estimator_metrics_stop(void);
