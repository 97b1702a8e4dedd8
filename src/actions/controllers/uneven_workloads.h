/*
 * Events about workloads that stay uneven (evenness/evenness.h), and about those that are even
 * again: by the topology keys of their policy, or without one by region and zone. Single nodes
 * count only where a policy asks for them.
 *
 * WorkloadUneven is written once a workload has been uneven in every report for the time that is
 * set; WorkloadEven when such a workload is as even as its nodes allow. Both once. A workload that
 * has no pods any more, or is not measured, is forgotten.
 *
 * Every replica follows workloads and keeps the pace, and only the leader writes. So a new leader
 * goes on where the one before has stopped; one that has just started begins from nothing.
 * What finds no room in the queue of Events is written later, if it is still true.
 *
 * Against floods: of a namespace 20 Events, then one a minute; of the cluster 60, then one a
 * second. The others wait, as long as what they would say is true. Namespaces have their turns.
 *
 * RBAC: create and patch on events.k8s.io events in the workloads' namespaces; what is refused is
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
    struct event_recorder *events; /* borrowed; NULL: none are written */
    const struct elector *elector; /* who writes; NULL: every replica; borrowed */
    int64_t after_ms;              /* 0: nothing is followed */
    const char *const *namespaces; /* borrowed: only workloads of these are; none: of all */
    size_t namespace_count;
};

/* NULL: no memory. */
struct uneven_workloads *uneven_workloads_new(const struct uneven_workloads_options *options);
/* Takes a new report in. The tags are those of its workloads: keys that a policy asks for. 0 or
 * -ENOMEM, and then all is as before. */
int uneven_workloads_see(struct uneven_workloads *u, const struct evenness_report *report,
                         const struct evenness_tag *tags, uint32_t tag_count,
                         int64_t now_ms) MUST_CHECK;
/* Writes what is due; the report is the one that was seen last. */
void uneven_workloads_tell(struct uneven_workloads *u, const struct evenness_report *report,
                           int64_t now_ms);
/* NULL is fine. */
void uneven_workloads_free(struct uneven_workloads *u);
