/*
 * Events about workloads that stay uneven (evenness/evenness.h), and about those that are even
 * again: by the topology keys of their policy, or by region and zone without a policy. Single nodes
 * count only where a policy asks for them.
 *
 * WorkloadUneven is written when a workload was uneven in every report for the configured time;
 * WorkloadEven when such a workload is as even as its nodes allow. Both are written once. A
 * workload that has no pods any more, or is not measured, is forgotten.
 *
 * Every replica follows workloads and applies the limits; only the leader writes. So a new leader
 * continues where the last leader stopped; a process that has just started begins from nothing.
 * An Event that does not fit into the queue is written later, if it is still true.
 *
 * Limits against floods: 20 Events for a namespace, then one a minute; 60 for the cluster, then one
 * a second. The other Events wait as long as they are true. Namespaces take turns.
 *
 * RBAC: create and patch on events.k8s.io events in the workloads' namespaces; refused Events are
 * counted in evenkeel_events_total.
 *
 * Threads: all calls belong to one thread. Memory: about 60 bytes for each workload that is uneven.
 */
#pragma once

#include "evenness/latest.h"
#include "kube/election/elector.h"
#include "kube/events/events.h"

struct uneven_workloads;

struct uneven_workloads_options {
    struct event_recorder *events; /* borrowed; NULL: no Events are written */
    const struct elector *elector; /* the leader writes; NULL: every replica; borrowed */
    int64_t after_ms; /* time for which a workload must be uneven; 0: nothing is followed */
    const char *const *namespaces; /* borrowed; only their workloads are followed; none: all are */
    size_t namespace_count;
};

/* Returns NULL without memory. */
struct uneven_workloads *uneven_workloads_new(const struct uneven_workloads_options *options);
/* Takes a new report in. The tags hold the keys that policies ask for, per workload. Returns 0, or
 * -ENOMEM, and then nothing has changed. */
int uneven_workloads_see(struct uneven_workloads *u, const struct evenness_report *report,
                         const struct evenness_tag *tags, uint32_t tag_count,
                         int64_t now_ms) MUST_CHECK;
/* Writes the due Events; `report` is the one that was seen last. */
void uneven_workloads_tell(struct uneven_workloads *u, const struct evenness_report *report,
                           int64_t now_ms);
/* NULL is fine. */
void uneven_workloads_free(struct uneven_workloads *u);
