/*
 * The gRPC service that karmada-scheduler and karmada-descheduler call, for the member clusters.
 * upstream: karmada pkg/estimator/server, server.go (v1.18.1).
 *
 * Statuses: 2 an unknown cluster, or a workload that is not counted or does not exist, in
 * upstream's words; 8 a question that by itself takes too much memory or too many steps, before any
 * look at the member; 13 a malformed message. A member that is not synced, or whose data is too
 * old, answers -1, which a scheduler ignores; with unready_is_error it answers status 14, which
 * makes a scheduler ignore the answers of all members. So does a Cluster of Karmada that is no
 * member yet, and any name before the Clusters are listed.
 *
 * The answer is -1, too, if steps or memory run out during the look at the member: its users may
 * make any number of nodes, ResourceQuotas, ReplicaSets and waiting pods, which is no error of the
 * caller. karmada-descheduler, too, ignores -1 for this member alone.
 *
 * Threads: a question holds a reference to its member, which may be removed meanwhile, and during
 * the estimate the member's read lock. It holds nothing else.
 */
#pragma once

#include "grpc/grpc.h"
#include "members/karmada.h"

struct estimator {
    struct members *members;               /* borrowed */
    const struct karmada_members *karmada; /* likewise; NULL: all members are configured */
    bool unready_is_error;
    /* upstream: gates ResourceQuotaEstimate and SchedulingOvercommitProtection */
    bool quotas;                /* ResourceQuotas limit answers */
    bool overcommit_protection; /* assumed workloads take room; otherwise they are ignored */
};

/* Returns the service; its ctx is `e`. */
struct grpc_service estimator_service(struct estimator *e);

/* Register and unregister the service's metrics. */
void estimator_metrics_start(void);
void estimator_metrics_stop(void);
