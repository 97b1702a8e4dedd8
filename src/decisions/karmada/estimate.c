#include "karmada/schedule.h"

#include <errno.h>

static int estimate_failed(int code, struct err *err) {
    if (code == -E2BIG)
        return err_set(err, code, "more clusters and resources than there is time for");
    return err_set(err, code, "no memory to estimate replicas");
}

/* Estimates the replicas that fit one candidate's cluster beside its present load. */
static int estimate_one(const struct karmada_question *q, struct estimator_question *question,
                        uint32_t cluster, struct arena *arena, struct karmada_estimate *ret,
                        int64_t *ret_allocatable) {
    struct general_estimate general;
    if (!steps_take(&arena->steps, 1))
        return -E2BIG;
    const struct karmada_assumed_cluster *assumed =
        karmada_assumed_of(q->assumed, q->clusters[cluster]->meta.name);
    question->assumed = assumed != NULL ? assumed->sets : NULL;
    question->assumed_count = assumed != NULL ? assumed->count : 0;
    question->assumed_total = assumed != NULL ? &assumed->total : NULL;
    const int r = estimator_general_replicas(q->clusters[cluster], question, arena, &general);
    if (r != 0)
        return r;
    *ret = (struct karmada_estimate){
        .summary = general.summary,
        .models = general.models,
        .accurate = q->accurate != NULL ? q->accurate[cluster] : ESTIMATE_UNKNOWN,
    };
    const int64_t least =
        estimator_least(estimator_least(ESTIMATE_MAX, general.replicas), ret->accurate);
    *ret_allocatable = estimator_available(least, q->spec->replicas);
    return 0;
}

int karmada_estimate(const struct karmada_question *q, struct karmada_filtered *filtered,
                     struct arena *arena, struct karmada_estimate **ret, struct err *err) {
    const struct binding_spec *spec = q->spec;
    const bool runs = spec->replicas > 0 || spec->component_count > 0;
    struct estimator_question question = {.models = MODELS_OFF};
    struct karmada_estimate *estimates =
        arena_array_unset(arena, filtered->count, sizeof *estimates);
    if (estimates == NULL)
        return estimate_failed(-ENOMEM, err);
    int r = runs ? estimator_question_init(&question, &spec->requirements, NULL, 0, arena) : 0;
    question.models = q->options->models;
    for (uint32_t i = 0; r == 0 && i < filtered->count; i++) {
        struct karmada_candidate *candidate = &filtered->candidates[i];
        estimates[i] =
            (struct karmada_estimate){ESTIMATE_UNKNOWN, ESTIMATE_UNKNOWN, ESTIMATE_UNKNOWN};
        candidate->allocatable = ESTIMATE_MAX;
        if (runs)
            r = estimate_one(q, &question, filtered->clusters[i], arena, &estimates[i],
                             &candidate->allocatable);
        candidate->available = candidate->allocatable + candidate->previous;
    }
    if (r != 0)
        return estimate_failed(r, err);
    *ret = estimates;
    return 0;
}

/* Does each cluster get all replicas? True without replicaScheduling, too. */
static bool is_duplicated(const struct binding_spec *spec) {
    return spec->placement.replicas.division == DIVISION_NONE ||
           spec->placement.replicas.division == DIVISION_DUPLICATED;
}

void karmada_filter_capacity(const struct karmada_question *q, struct karmada_filtered *filtered,
                             struct karmada_estimate *estimates) {
    uint32_t count = 0;
    if ((q->options->plugins & 1u << PLUGIN_CAPACITY) == 0 || !is_duplicated(q->spec))
        return;
    for (uint32_t i = 0; i < filtered->count; i++) {
        if (filtered->candidates[i].available < q->spec->replicas) {
            filtered->verdicts[filtered->clusters[i]] =
                (struct karmada_verdict){.pass = CLUSTER_REFUSED,
                                         .plugin = PLUGIN_CAPACITY,
                                         .reason = STR("cluster(s) cannot hold all replicas")};
            continue;
        }
        filtered->candidates[count] = filtered->candidates[i];
        filtered->clusters[count] = filtered->clusters[i];
        filtered->is_target[count] = filtered->is_target[i];
        estimates[count++] = estimates[i];
    }
    filtered->count = count;
}
