#include "karmada/binding.h"

#include "karmada/applied.h"
#include "karmada/texts.h"

#include <errno.h>

const struct str karmada_trigger_names[KARMADA_TRIGGERS] = {
    [TRIGGER_NONE] = STR("None"),
    [TRIGGER_PLACEMENT_CHANGED] = STR("PlacementChanged"),
    [TRIGGER_REPLICAS_CHANGED] = STR("ReplicasChanged"),
    [TRIGGER_RESCHEDULE] = STR("RescheduleTriggered"),
    [TRIGGER_ALWAYS] = STR("Always"),
    [TRIGGER_CLUSTER_DELETED] = STR("ClusterDeleted"),
};

/* ---- the trigger ---- */

static bool is_duplicated(const struct binding_spec *spec) {
    return spec->placement.replicas.division == DIVISION_NONE ||
           spec->placement.replicas.division == DIVISION_DUPLICATED;
}

/* upstream: IsBindingReplicasChanged() */
static bool replicas_changed(const struct binding_spec *spec) {
    int64_t sum = 0;
    if (spec->placement.replicas.division == DIVISION_NONE)
        return false;
    for (uint32_t i = 0; i < spec->cluster_count; i++) {
        if (is_duplicated(spec) && spec->clusters[i].replicas != spec->replicas)
            return true;
        sum += spec->clusters[i].replicas;
    }
    return !is_duplicated(spec) && sum != spec->replicas;
}

/* Is a cluster that the binding has being deleted? */
static int find_deleted(const struct binding_spec *spec, const struct karmada_question *q,
                        struct arena *arena, bool *ret) {
    struct texts targets;
    if (texts_init(&targets, spec->cluster_count, arena) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < spec->cluster_count; i++)
        (void)texts_put(&targets, spec->clusters[i].name); /* the result is not used */
    *ret = false;
    for (uint32_t i = 0; i < q->cluster_count && !*ret; i++)
        *ret = q->clusters[i]->meta.terminating &&
               texts_find(&targets, q->clusters[i]->meta.name) != TEXTS_NONE;
    return 0;
}

static int find_trigger(const struct binding *b, const struct karmada_question *q,
                        struct arena *arena, enum karmada_trigger *ret, struct err *err) {
    const struct str placement = b->spec.has_placement ? b->spec.placement_text : STR("{}");
    bool changed, deleted = false;
    int r = karmada_placement_changed(placement, b->applied_placement, b->status.observed_affinity,
                                      arena, &changed, err);
    if (r != 0)
        return r;
    if (!steps_take(&arena->steps, (uint64_t)b->spec.cluster_count + q->cluster_count))
        return err_set(err, -E2BIG, "more clusters than there is time for");
    if (find_deleted(&b->spec, q, arena, &deleted) != 0)
        return err_set(err, -ENOMEM, "no memory for a binding's clusters");
    *ret = changed                      ? TRIGGER_PLACEMENT_CHANGED
           : replicas_changed(&b->spec) ? TRIGGER_REPLICAS_CHANGED
           : b->spec.has_reschedule && b->status.has_scheduled &&
                   b->spec.reschedule_ms > b->status.scheduled_ms
               ? TRIGGER_RESCHEDULE
           : !binding_is_workload(&b->spec) || is_duplicated(&b->spec) ? TRIGGER_ALWAYS
           : deleted                                                   ? TRIGGER_CLUSTER_DELETED
                                                                       : TRIGGER_NONE;
    return 0;
}

/* ---- terms ---- */

/* Returns the first term of the loop. upstream: getAffinityIndex() */
static uint32_t first_term(const struct binding *b) {
    const struct cluster_placement *placement = &b->spec.placement;
    if (!str_empty(b->status.observed_affinity))
        for (uint32_t i = 0; i < placement->affinity_count; i++)
            if (str_eq(placement->affinities[i].affinity.name, b->status.observed_affinity))
                return i;
    return 0;
}

static int try_terms(const struct binding *b, const struct karmada_question *q, struct arena *arena,
                     struct karmada_outcome *ret, struct err *err) {
    const struct cluster_placement *placement = &b->spec.placement;
    struct binding_status status = b->status;
    struct karmada_question question = *q;
    question.status = &status;
    for (uint32_t i = first_term(b); i < placement->affinity_count; i++) {
        struct karmada_decision decision;
        status.observed_affinity = placement->affinities[i].affinity.name;
        const int r = karmada_schedule(&question, arena, &decision, err);
        if (r != 0)
            return r;
        if (ret->tried++ == 0 || decision.kind == KARMADA_OK)
            ret->decision = decision;
        if (decision.kind != KARMADA_OK)
            continue;
        ret->affinity = status.observed_affinity;
        return 0;
    }
    return 0;
}

static int mark_passing(const struct karmada_question *q, struct arena *arena, bool *marks,
                        struct err *err) {
    struct karmada_filtered filtered;
    const int r = karmada_filter(q, arena, &filtered, err);
    for (uint32_t i = 0; r == 0 && i < filtered.count; i++)
        marks[filtered.clusters[i]] = true;
    return r;
}

int karmada_may_take(const struct binding *binding, const struct karmada_question *q,
                     struct arena *arena, bool *marks, struct err *err) {
    const struct cluster_placement *placement = &binding->spec.placement;
    struct binding_status status = binding->status;
    struct karmada_question question = *q;
    int r = 0;
    question.spec = &binding->spec;
    question.status = &status;
    if (placement->affinity_count == 0)
        return mark_passing(&question, arena, marks, err);
    for (uint32_t i = first_term(binding); r == 0 && i < placement->affinity_count; i++) {
        status.observed_affinity = placement->affinities[i].affinity.name;
        r = mark_passing(&question, arena, marks, err);
    }
    return r;
}

int karmada_schedule_binding(const struct binding *binding, const struct karmada_question *q,
                             struct arena *arena, struct karmada_outcome *ret, struct err *err) {
    struct karmada_question question = *q;
    struct karmada_outcome out = {.affinity = binding->status.observed_affinity};
    question.spec = &binding->spec;
    question.status = &binding->status;
    int r = find_trigger(binding, q, arena, &out.trigger, err);
    if (r != 0)
        return r;
    if (binding->spec.placement.affinity_count > 0) {
        r = try_terms(binding, &question, arena, &out, err);
    } else {
        out.affinity = (struct str){0};
        out.tried = 1;
        r = karmada_schedule(&question, arena, &out.decision, err);
    }
    if (r == 0)
        *ret = out;
    return r;
}
