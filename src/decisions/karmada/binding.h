/*
 * Schedules a binding: finds the trigger, loops over the terms of clusterAffinities around
 * karmada_schedule(), and makes the two merge patches that Karmada's scheduler sends. upstream:
 * karmada v1.18.1 pkg/scheduler scheduler.go and helper.go.
 *
 * Pure: reads no clock and sends nothing. Results are in the arena, and take its steps; the binding
 * and the clusters are borrowed. Functions return 0, -EINVAL (spec.placement is no placement),
 * -E2BIG (the arena's steps are spent) or -ENOMEM.
 */
#pragma once

#include "karmada/schedule.h"

/* Why a binding is scheduled: the first reason that holds, in this order. */
enum karmada_trigger {
    TRIGGER_NONE, /* the binding is not scheduled */
    TRIGGER_PLACEMENT_CHANGED,
    TRIGGER_REPLICAS_CHANGED,
    TRIGGER_RESCHEDULE, /* rescheduleTriggeredAt is after lastScheduledTime */
    TRIGGER_ALWAYS,     /* the binding has no workload, or is duplicated */
    TRIGGER_CLUSTER_DELETED,
    KARMADA_TRIGGERS
};
extern const struct str karmada_trigger_names[KARMADA_TRIGGERS];

struct karmada_outcome {
    enum karmada_trigger trigger;
    /* Name of the term of clusterAffinities in force after scheduling; "" without terms. If no term
     * fits, the old term stays. */
    struct str affinity;
    /* the decision of that term; if no term fits, the decision of the first term tried, with its
     * error */
    struct karmada_decision decision;
    uint32_t tried; /* number of terms tried; 1 without terms */
};
/*
 * Schedules the binding, whatever its trigger is. `q` has everything but spec and status, which
 * come from the binding. Terms are tried from the observed term on, never earlier terms; after any
 * error the next term is tried.
 */
int karmada_schedule_binding(const struct binding *binding, const struct karmada_question *q,
                             struct arena *arena, struct karmada_outcome *ret,
                             struct err *err) MUST_CHECK;

/* Marks the clusters whose estimators matter: clusters that pass all filters but Capacity under a
 * term that may be tried. `q` is as in karmada_schedule_binding(). `marks` has q->cluster_count
 * items, initially false. */
int karmada_may_take(const struct binding *binding, const struct karmada_question *q,
                     struct arena *arena, bool *marks, struct err *err) MUST_CHECK;

/*
 * Makes the merge patch of the binding: the annotation with the placement, and spec.clusters, if
 * they differ from the binding; "{}" if nothing differs, or after an error that changes nothing. A
 * FitError removes all clusters. Another order of the same clusters is no difference.
 */
int karmada_binding_patch(const struct binding *binding, const struct karmada_outcome *outcome,
                          struct arena *arena, struct str *ret, struct err *err) MUST_CHECK;
/* Makes the merge patch of the binding's status: the condition Scheduled; after success also the
 * generation, the time and the term in force. "{}" if nothing differs. */
int karmada_binding_status_patch(const struct binding *binding,
                                 const struct karmada_outcome *outcome, int64_t now_ms,
                                 struct arena *arena, struct str *ret, struct err *err) MUST_CHECK;
