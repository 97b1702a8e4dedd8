#include "karmada/assign.h"

#include "karmada/divide.h"
#include "karmada/webster.h"

#include <stdlib.h>

/* A strategy is a row. NULL: there is none. */
static divide_fn *const strategies[] = {
    [DIVISION_NONE] = divide_duplicated,        [DIVISION_DUPLICATED] = divide_duplicated,
    [DIVISION_STATIC] = divide_statically,      [DIVISION_DYNAMIC] = divide_dynamically,
    [DIVISION_AGGREGATED] = divide_dynamically, [DIVISION_UNSUPPORTED] = NULL,
};

bool karmada_assign_overflows(const struct binding_spec *spec,
                              const struct binding_status *status) {
    const struct cluster_placement *placement = &spec->placement;
    if (placement->has_affinity || str_empty(status->observed_affinity))
        return false;
    for (uint32_t i = 0; i < placement->affinity_count; i++)
        if (placement->affinities[i].has_overflow &&
            str_eq(placement->affinities[i].affinity.name, status->observed_affinity))
            return true;
    return false;
}

/* ---- what is known of candidates ---- */

static int by_name(const void *a, const void *b, void *ctx) {
    const struct karmada_candidate *candidates = ctx;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order = str_cmp(candidates[x].cluster.name, candidates[y].cluster.name);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Of several with one name the first counts as the one. */
static int sort_names(struct assigner *a, struct err *err) {
    uint32_t *sorted = arena_array_unset(a->arena, a->candidate_count, sizeof *sorted);
    uint64_t bytes = 0;
    if (sorted == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++) {
        sorted[i] = i;
        bytes += a->candidates[i].cluster.name.n;
    }
    if (!divide_take_names(&a->arena->steps, a->candidate_count, bytes))
        return divide_fail(a, err);
    /* the candidates are not changed */
    qsort_r(sorted, a->candidate_count, sizeof *sorted, by_name, (void *)(uintptr_t)a->candidates);
    a->by_name = sorted;
    return 0;
}

/* The first candidate of a name, or NO_PLACE. */
static uint32_t find_candidate(const struct assigner *a, struct str name) {
    uint32_t low = 0, high = a->candidate_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (str_cmp(a->candidates[a->by_name[middle]].cluster.name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < a->candidate_count && str_eq(a->candidates[a->by_name[low]].cluster.name, name))
        return a->by_name[low];
    return NO_PLACE;
}

static int note_previous(struct assigner *a, struct err *err) {
    int64_t *previous = arena_array(a->arena, a->candidate_count, sizeof *previous);
    uint32_t *place = arena_array_unset(a->arena, a->candidate_count, sizeof *place);
    if (previous == NULL || place == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++)
        place[i] = NO_PLACE;
    for (uint32_t i = 0; i < a->spec->cluster_count; i++) {
        const struct target_cluster *target = &a->spec->clusters[i];
        if (!divide_take_names(&a->arena->steps, 32, target->name.n)) /* halvings */
            return divide_fail(a, err);
        const uint32_t candidate = find_candidate(a, target->name);
        if (candidate == NO_PLACE)
            continue;
        if (place[candidate] == NO_PLACE)
            place[candidate] = i;
        if (target->replicas > 0)
            previous[candidate] = divide_add(previous[candidate], target->replicas);
    }
    a->previous = previous;
    a->place = place;
    return 0;
}

/* ---- tiers ---- */

static int divide_tier(struct assigner *a, const struct tier *tier, struct err *err) {
    const struct replica_scheduling *replicas = &a->spec->placement.replicas;
    divide_fn *strategy = strategies[replicas->division];
    if (strategy != NULL)
        return strategy(a, tier, err);
    a->kind = KARMADA_ERROR;
    a->error = arena_printf(a->arena,
                            "unsupported replica scheduling strategy, replicaSchedulingType: %.*s, "
                            "replicaDivisionPreference: %.*s, please try another scheduling "
                            "strategy",
                            STR_ARG(replicas->type), STR_ARG(replicas->preference));
    return arena_failed(a->arena) ? divide_fail(a, err) : 0;
}

static int by_tier(const void *a, const void *b, void *ctx) {
    const struct karmada_candidate *candidates = ctx;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int32_t of_x = candidates[x].overflow_order, of_y = candidates[y].overflow_order;
    return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : (x > y) - (x < y);
}

/* Each tier in turn is filled. upstream: assignWorkloadReplicas() */
static int divide_tiers(struct assigner *a, uint32_t *members, struct err *err) {
    int64_t remaining = a->spec->replicas;
    if (!steps_take_sort(&a->arena->steps, a->candidate_count))
        return divide_fail(a, err);
    /* the candidates are not changed */
    qsort_r(members, a->candidate_count, sizeof *members, by_tier,
            (void *)(uintptr_t)a->candidates);
    for (uint32_t i = 0, end; i < a->candidate_count; i = end) {
        const int32_t order = a->candidates[members[i]].overflow_order;
        int64_t available = 0;
        for (end = i;
             end < a->candidate_count && a->candidates[members[end]].overflow_order == order; end++)
            available = divide_add(available, a->candidates[members[end]].available);
        const struct tier tier = {&members[i], end - i,
                                  remaining < available ? remaining
                                  : available > 0       ? available
                                                        : 0};
        const int r = divide_tier(a, &tier, err);
        remaining -= tier.replicas;
        if (r != 0 || a->kind != KARMADA_OK || remaining <= 0)
            return r;
    }
    a->kind = KARMADA_UNSCHEDULABLE;
    a->error = STR("Clusters available replicas are not enough to schedule.");
    return 0;
}

static int divide(struct assigner *a, bool overflow, struct err *err) {
    uint32_t *members = arena_array_unset(a->arena, a->candidate_count, sizeof *members);
    int r = note_previous(a, err);
    if (r == 0 && a->spec->placement.replicas.division == DIVISION_STATIC)
        r = divide_static_weights(a, &a->weights, err);
    if (r != 0)
        return r;
    if (members == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++)
        members[i] = i;
    if (overflow)
        return divide_tiers(a, members, err);
    return divide_tier(a, &(struct tier){members, a->candidate_count, a->spec->replicas}, err);
}

/* ---- the answer ---- */

static int collect(const struct assigner *a, bool with_empty, struct karmada_assignment *ret,
                   struct err *err) {
    struct target_cluster *clusters =
        arena_array_unset(a->arena, a->candidate_count, sizeof *clusters);
    if (clusters == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++) {
        const uint32_t candidate = a->by_name[i];
        if (with_empty || a->given[candidate] > 0)
            clusters[ret->count++] = (struct target_cluster){a->candidates[candidate].cluster.name,
                                                             (int32_t)a->given[candidate]};
    }
    ret->clusters = clusters;
    return 0;
}

int karmada_assign(const struct karmada_candidate *candidates, uint32_t count,
                   const struct binding_spec *spec, const struct binding_status *status,
                   bool overflow, const struct karmada_options *options, struct arena *arena,
                   struct karmada_assignment *ret, struct err *err) {
    const bool divides =
        (spec->replicas > 0 || spec->requirements.given) && spec->component_count <= 1;
    struct assigner a = {
        .candidates = candidates,
        .candidate_count = count,
        .spec = spec,
        .method = options->division,
        .fresh = spec->has_reschedule && status->has_scheduled &&
                 spec->reschedule_ms > status->scheduled_ms,
        .descending = webster_descending(spec->resource_uid),
        .arena = arena,
        .given = arena_array(arena, count, sizeof *a.given),
    };
    struct karmada_assignment answer = {0};
    if (a.given == NULL)
        return divide_fail(&a, err);
    if (count == 0) {
        a.kind = KARMADA_ERROR;
        a.error = STR("no clusters available to schedule");
    }
    int r = sort_names(&a, err);
    if (r == 0 && divides && a.kind == KARMADA_OK)
        r = divide(&a, overflow, err);
    answer.kind = a.kind;
    answer.error = a.error;
    if (r == 0 && a.kind == KARMADA_OK)
        r = collect(&a, !divides || options->empty_propagation, &answer, err);
    if (r == 0)
        *ret = answer;
    return r;
}
