#include "karmada/assign.h"

#include "karmada/divide.h"
#include "karmada/webster.h"

#include <stdlib.h>

/* The strategies, one function for each. NULL: not supported. */
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

/* ---- data of candidates ---- */

static int note_previous(struct assigner *a, struct err *err) {
    int64_t *previous = arena_array(a->arena, a->candidate_count, sizeof *previous);
    uint32_t *place = arena_array_unset(a->arena, a->candidate_count, sizeof *place);
    if (previous == NULL || place == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++)
        place[i] = NO_PLACE;
    for (uint32_t i = 0; i < a->spec->cluster_count; i++) {
        const struct target_cluster *target = &a->spec->clusters[i];
        const uint32_t candidate = divide_find(a, target->name);
        if (steps_spent(&a->arena->steps))
            return divide_fail(a, err);
        if (candidate == HASHMAP_NONE)
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

static int64_t available_of(const struct assigner *a, uint32_t candidate) {
    const struct karmada_candidate *c = &a->candidates[candidate];
    return c->available != KARMADA_NOT_GIVEN ? c->available
                                             : divide_add(c->allocatable, a->previous[candidate]);
}

/* Fills one tier after the other. upstream: assignWorkloadReplicas() */
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
            available = divide_add(available, available_of(a, members[end]));
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
    int r = divide_index_names(a, err);
    if (r == 0)
        r = note_previous(a, err);
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

/* A cluster of the answer. `key` holds the first bytes of its name that differ in some names. */
struct row {
    uint64_t key;
    struct target_cluster cluster;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return str_cmp(x->cluster.name, y->cluster.name);
}

/* Sorts by name. Most names of a fleet have a common beginning. So a number made of the first bytes
 * after this beginning decides nearly all comparisons. */
static bool sort_rows(struct row *rows, uint32_t count, struct steps *steps) {
    const struct str some = count > 0 ? rows[0].cluster.name : (struct str){0};
    size_t common = some.n;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct str name = rows[i].cluster.name;
        size_t n = 0;
        while (n < common && n < name.n && name.p[n] == some.p[n])
            n++;
        common = n;
        bytes += name.n;
    }
    if (!divide_take_names(steps, count, bytes))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct str name = rows[i].cluster.name;
        for (size_t n = common; n < common + sizeof rows->key; n++)
            rows[i].key = rows[i].key << 8 | (n < name.n ? (unsigned char)name.p[n] : 0);
    }
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_rows);
    return true;
}

static int collect(const struct assigner *a, bool with_empty, struct karmada_assignment *ret,
                   struct err *err) {
    struct row *rows = arena_array_unset(a->arena, a->candidate_count, sizeof *rows);
    struct target_cluster *clusters =
        arena_array_unset(a->arena, a->candidate_count, sizeof *clusters);
    if (rows == NULL || clusters == NULL)
        return divide_fail(a, err);
    for (uint32_t i = 0; i < a->candidate_count; i++)
        if (with_empty || a->given[i] > 0)
            rows[ret->count++] =
                (struct row){.cluster = {a->candidates[i].cluster.name, (int32_t)a->given[i]}};
    if (!sort_rows(rows, ret->count, &a->arena->steps))
        return divide_fail(a, err);
    for (uint32_t i = 0; i < ret->count; i++)
        clusters[i] = rows[i].cluster;
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
    int r = 0;
    if (divides && a.kind == KARMADA_OK)
        r = divide(&a, overflow, err);
    hashmap_done(&a.names);
    answer.kind = a.kind;
    answer.error = a.error;
    if (r == 0 && a.kind == KARMADA_OK)
        r = collect(&a, !divides || options->empty_propagation, &answer, err);
    if (r == 0)
        *ret = answer;
    return r;
}
