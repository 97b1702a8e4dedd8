/*
 * Schedules a binding: finds the trigger, loops over the terms of clusterAffinities around
 * karmada_schedule(), and makes the two merge patches that Karmada's scheduler sends. upstream:
 * karmada v1.18.1 pkg/scheduler scheduler.go and helper.go.
 *
 * Pure: reads no clock and sends nothing. Results are in the arena, and take its steps; the binding
 * and the clusters are borrowed. Functions return 0, -EINVAL (spec.placement is no placement),
 * -E2BIG (the arena's steps) or -ENOMEM.
 */
#pragma once

#include "karmada/schedule.h"

/* Why a binding is scheduled: the first reason that holds, in this order. */
enum karmada_trigger {
    TRIGGER_NONE, /* the binding is not scheduled */
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
    /* The term of clusterAffinities in force afterwards; "" without terms. If no term fits, the old
     * one stays. */
    struct str affinity;
    /* the decision of that term; if none fits, that of the first term tried, with its error */
    struct karmada_decision decision;
    uint32_t tried; /* number of terms tried; 1 without terms */
};
/*
 * Schedules the binding, with any trigger. `q` has everything but spec and status, which come from
 * the binding. Terms are tried from the observed one on, never an earlier one; after any error the
 * next term is tried.
 */
int karmada_schedule_binding(const struct binding *binding, const struct karmada_question *q,
                             struct arena *arena, struct karmada_outcome *ret,
                             struct err *err) MUST_CHECK;

/* Marks the clusters whose estimators matter: those that pass all filters but Capacity, under any
 * term that may be tried. `q` likewise; marks: [q->cluster_count], initially false. */
int karmada_may_take(const struct binding *binding, const struct karmada_question *q,
                     struct arena *arena, bool *marks, struct err *err) MUST_CHECK;

/*
 * Makes the merge patch of the binding: the annotation with the placement, and spec.clusters, if
 * they differ from the binding; "{}" if nothing differs, or if an error changes nothing. A FitError
 * removes all clusters. The same clusters in another order are no difference.
 */
int karmada_binding_patch(const struct binding *binding, const struct karmada_outcome *outcome,
                          struct arena *arena, struct str *ret, struct err *err) MUST_CHECK;
/* Makes the merge patch of its status: the condition Scheduled; after success also the generation,
 * the time and the term in force. "{}" if nothing differs. */
int karmada_binding_status_patch(const struct binding *binding,
                                 const struct karmada_outcome *outcome, int64_t now_ms,
                                 struct arena *arena, struct str *ret, struct err *err) MUST_CHECK;
