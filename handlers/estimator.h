/*
 * The service that karmada-scheduler and karmada-descheduler call, over the member clusters.
 * upstream: karmada pkg/estimator/server, server.go (v1.18.1).
 *
 * Statuses: 2 an unknown cluster, or a workload that is not counted or not there, in upstream's
 * words; 8 a question that takes too much memory or too many steps by what it says itself, before
 * anything of the member is looked at; 13 a message that is not well-formed. A member that is not
 * synced, or has not been heard for too long, answers -1, which a scheduler passes over; with
 * unready_is_error status 14, which makes it pass over the answers of all members. So does a
 * Cluster of Karmada that is no member yet, and a name while it is not known which Clusters there
 * are.
 *
 * The same is answered where steps or memory run out over the member: nodes, ResourceQuotas,
 * ReplicaSets and waiting pods are as many as its users make, and no error of the asker.
 * karmada-descheduler, too, passes over -1 for this member alone.
 *
 * Threads: a question holds its member, which may leave meanwhile, and its member's read lock while
 * it is estimated, and nothing else.
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
    bool overcommit_protection; /* assumed workloads take room; otherwise they are passed over */
};

/* The service, whose ctx is `e`. */
struct grpc_service estimator_service(struct estimator *e);

/* Registers the service's metrics, and takes them out. */
void estimator_metrics_start(void);
void estimator_metrics_stop(void);
