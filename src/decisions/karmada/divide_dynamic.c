/*
 * Divides replicas by the room of clusters. The result depends on the replicas of today. If more
 * replicas are needed, only the new replicas are divided, and the old replicas do not move. If
 * fewer are needed, each cluster keeps a part of its replicas. A rescheduled binding starts again,
 * and its running replicas count as free room.
 *
 * Aggregated sorts clusters by room, the most first (if replicas are added: clusters that have
 * replicas come first). It takes the first clusters that suffice, and divides among them as
 * DynamicWeight divides among all clusters.
 */
#include "karmada/divide.h"
#include "karmada/go_sort.h"

#include <inttypes.h>
#include <stdlib.h>

/* Clusters with their weights, and the number of replicas to divide among them. */
struct scale {
    struct share *shares;
    uint32_t count;
    int64_t replicas;
    const char *action; /* text for errors */
    bool keeps_previous;
};

static int64_t sum_of_previous(const struct assigner *a, const struct tier *tier) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < tier->count; i++)
        sum = divide_add(sum, a->previous[tier->members[i]]);
    return sum;
}

static void add_members(const struct assigner *a, const struct tier *tier, struct scale *s) {
    for (uint32_t i = 0; i < tier->count; i++) {
        const uint32_t candidate = tier->members[i];
        struct share *share = &s->shares[s->count++];
        *share =
            (struct share){.candidate = candidate, .weight = a->candidates[candidate].allocatable};
        if (s->keeps_previous)
            share->previous = a->previous[candidate];
        else
            share->weight = divide_add(share->weight, a->previous[candidate]);
    }
}

static int by_place(const void *a, const void *b, void *ctx) {
    const struct assigner *assigner = ctx;
    const uint32_t x = assigner->place[((const struct share *)a)->candidate];
    const uint32_t y = assigner->place[((const struct share *)b)->candidate];
    return (x > y) - (x < y);
}

/* Adds the members that are in spec.clusters, in the order of that list. The order decides between
 * equal weights. */
static bool add_scheduled(struct assigner *a, const struct tier *tier, struct scale *s) {
    for (uint32_t i = 0; i < tier->count; i++)
        if (a->place[tier->members[i]] != NO_PLACE)
            s->shares[s->count++] = (struct share){.candidate = tier->members[i],
                                                   .weight = a->previous[tier->members[i]]};
    if (!steps_take_sort(&a->arena->steps, s->count))
        return false;
    qsort_r(s->shares, s->count, sizeof *s->shares, by_place, a);
    return true;
}

/* ---- Aggregated ---- */

/* Sorts by weight, as Go does; if replicas of today stay, clusters that have replicas come
 * first. */
static bool sort_shares(const struct assigner *a, struct scale *s) {
    struct go_sorted *sorted = arena_array_unset(a->arena, s->count, sizeof *sorted);
    struct share *from = arena_array_unset(a->arena, s->count, sizeof *from);
    if (sorted == NULL || from == NULL || !steps_take_sort(&a->arena->steps, s->count))
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        from[i] = s->shares[i];
        sorted[i] = (struct go_sorted){from[i].weight, i};
    }
    go_sort_descending(sorted, s->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (from[sorted[i].id].previous > 0)
            s->shares[n++] = from[sorted[i].id];
    for (uint32_t i = 0; i < s->count; i++)
        if (from[sorted[i].id].previous <= 0)
            s->shares[n++] = from[sorted[i].id];
    return true;
}

/* Keeps the first clusters that suffice, at least one cluster. */
static void cut_shares(struct scale *s) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        sum = divide_add(sum, s->shares[i].weight);
        if (sum >= s->replicas) {
            s->count = i + 1;
            return;
        }
    }
}

/* ---- both ---- */

static int divide_scale(struct assigner *a, struct scale *s, struct err *err) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->count; i++)
        sum = divide_add(sum, s->shares[i].weight);
    if (sum < s->replicas) {
        a->kind = KARMADA_UNSCHEDULABLE;
        a->error = arena_printf(
            a->arena, "%s: Clusters available replicas %" PRId64 " are not enough to schedule.",
            s->action, sum);
        return arena_failed(a->arena) ? divide_fail(a, err) : 0;
    }
    if (a->spec->placement.replicas.division == DIVISION_AGGREGATED) {
        if (!sort_shares(a, s))
            return divide_fail(a, err);
        cut_shares(s);
    }
    return divide_by_weight(a, s->shares, s->count, s->replicas, err);
}

int divide_dynamically(struct assigner *a, const struct tier *tier, struct err *err) {
    const int64_t assigned = sum_of_previous(a, tier);
    const bool shrinks = !a->fresh && assigned > tier->replicas;
    struct scale s = {.shares = arena_array_unset(a->arena, tier->count, sizeof *s.shares),
                      .replicas = tier->replicas,
                      .action = a->fresh ? "failed to do fresh scale" : "failed to scale up",
                      .keeps_previous = !a->fresh && !shrinks};
    if (s.shares == NULL)
        return divide_fail(a, err);
    if (s.keeps_previous) {
        s.replicas -= assigned;
        for (uint32_t i = 0; i < tier->count; i++)
            a->given[tier->members[i]] = a->previous[tier->members[i]];
        if (s.replicas == 0)
            return 0;
    }
    if (!shrinks)
        add_members(a, tier, &s);
    else if (!add_scheduled(a, tier, &s))
        return divide_fail(a, err);
    return divide_scale(a, &s, err);
}
