/*
 * A binding, from why it is scheduled to what is written: the loop over the terms of
 * clusterAffinities around karmada_schedule(), and the two merge patches that Karmada's scheduler
 * sends. upstream: karmada v1.18.1 pkg/scheduler scheduler.go and helper.go.
 *
 * Pure: no clock is read, nothing is sent. What is made is in the arena, and takes its steps; the
 * binding and the clusters are borrowed. Functions return 0, -EINVAL (spec.placement is no
 * placement), -E2BIG (the arena's steps) or -ENOMEM.
 */
#pragma once

#include "karmada/schedule.h"

/* Why a binding is scheduled: the first that holds, in this order. */
enum karmada_trigger {
    TRIGGER_NONE, /* it would not be */
    TRIGGER_PLACEMENT_CHANGED,
    TRIGGER_REPLICAS_CHANGED,
    TRIGGER_RESCHEDULE, /* rescheduleTriggeredAt is after lastScheduledTime */
    TRIGGER_ALWAYS,     /* no workload, or duplicated */
    TRIGGER_CLUSTER_DELETED,
    KARMADA_TRIGGERS
};
extern const struct str karmada_trigger_names[KARMADA_TRIGGERS];

struct karmada_outcome {
    enum karmada_trigger trigger;
    /* The term of clusterAffinities in force afterwards; "" without terms. Where no term fits it
     * stays what it was. */
    struct str affinity;
    /* the decision of that term; if none fits, of the first one tried, which gives the error */
    struct karmada_decision decision;
    uint32_t tried; /* terms; 1 without */
};
/*
 * Schedules the binding whatever the trigger. `q` has everything but spec and status, which are the
 * binding's. Terms are tried from the observed one on, never one before it; any error leads to the
 * next one.
 */
int karmada_schedule_binding(const struct binding *binding, const struct karmada_question *q,
                             struct arena *arena, struct karmada_outcome *ret,
                             struct err *err) MUST_CHECK;

/* Marks clusters that pass the filters, but for Capacity, under any term that may be tried: those
 * whose estimators have a say. `q` likewise; marks: [q->cluster_count], which were false. */
int karmada_may_take(const struct binding *binding, const struct karmada_question *q,
                     struct arena *arena, bool *marks, struct err *err) MUST_CHECK;

/*
 * The merge patch of the binding: the annotation with the placement, and spec.clusters, where they
 * differ from what is there; "{}" if nothing does, or if an error leaves things as they are. A
 * FitError takes all clusters away. The same clusters in another order are no difference.
 */
int karmada_binding_patch(const struct binding *binding, const struct karmada_outcome *outcome,
                          struct arena *arena, struct str *ret, struct err *err) MUST_CHECK;
/* The merge patch of its status: the condition Scheduled; after success also the generation and the
 * time, and the term that is in force. "{}" if nothing differs. */
int karmada_binding_status_patch(const struct binding *binding,
                                 const struct karmada_outcome *outcome, int64_t now_ms,
                                 struct arena *arena, struct str *ret, struct err *err) MUST_CHECK;
