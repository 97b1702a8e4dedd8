/*
 * Sorts the candidates, selects without spread constraints, and chooses the algorithm for spread
 * constraints.
 */
#include "base/hash.h"
#include "base/hashmap.h"
#include "karmada/select_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int select_fail(struct select_work *w, const char *fmt, ...) {
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* may be cut: people read it */
    va_end(args);
    w->ret->kind = KARMADA_ERROR;
    w->ret->error = arena_str(w->arena, str_of(text));
    w->ret->count = 0;
    w->ret->proven = true;
    return arena_failed(w->arena) ? -ENOMEM : 0;
}

/* ---- the order of candidates ---- */

static int compare_candidates(const void *left, const void *right) {
    const struct karmada_candidate *a = *(const struct karmada_candidate *const *)left;
    const struct karmada_candidate *b = *(const struct karmada_candidate *const *)right;
    if (a->overflow_order != b->overflow_order)
        return a->overflow_order < b->overflow_order ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->available != b->available)
        return a->available > b->available ? -1 : 1;
    const int by_name = str_cmp(a->cluster.name, b->cluster.name);
    return by_name != 0 ? by_name : (a > b) - (a < b);
}

static int sort_candidates(struct select_work *w) {
    const struct karmada_candidate **sorted = arena_array_unset(w->arena, w->count, sizeof(void *));
    w->order = arena_array_unset(w->arena, w->count, sizeof *w->order);
    if (arena_failed(w->arena))
        return -ENOMEM;
    if (!steps_take_sort(&w->arena->steps, w->count))
        return -E2BIG;
    for (uint32_t i = 0; i < w->count; i++)
        sorted[i] = &w->candidates[i];
    if (w->count > 1)
        qsort(sorted, w->count, sizeof(void *), compare_candidates);
    for (uint32_t i = 0; i < w->count; i++)
        w->order[i] = (uint32_t)(sorted[i] - w->candidates);
    w->ret->order = w->order;
    return 0;
}

/* ---- declared constraints ---- */

static bool is_spread(const void *ctx, uint32_t id, const void *key) {
    const struct cluster_spread *a = (const struct cluster_spread *)ctx + id, *b = key;
    return a->field == b->field && str_eq(a->label, b->label);
}

/* Lists each field and label once: of repeated entries the last counts, in the place of the first.
 * Skips entries without field and label, as upstream does. */
static int find_spread(struct select_work *w) {
    CLEANUP(hashmap_done) struct hashmap index = {0};
    const struct cluster_placement *p = w->placement;
    w->spread = arena_array_unset(w->arena, p->spread_count, sizeof *w->spread);
    if (w->spread == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < p->spread_count; i++) {
        const struct cluster_spread *spread = &p->spread[i];
        if (spread->field == SPREAD_LABEL && str_empty(spread->label))
            continue;
        if (!steps_take_bytes(&w->arena->steps, spread->label.n + 16))
            return -E2BIG;
        const uint64_t hash = hash_mix(hash_str(spread->label), spread->field);
        uint32_t at = hashmap_find(&index, hash, is_spread, w->spread, spread);
        if (at == HASHMAP_NONE) {
            if (hashmap_reserve(&index) != 0)
                return -ENOMEM;
            at = w->spread_count++;
            hashmap_insert(&index, hash, at);
        }
        w->spread[at] = *spread;
    }
    return 0;
}

/* Static weights choose the clusters themselves, so spread constraints are ignored.
 * upstream: shouldIgnoreSpreadConstraint(). */
static bool ignores_spread(const struct select_work *w) {
    const struct replica_scheduling *r = &w->placement->replicas;
    return r->division == DIVISION_STATIC && (!r->has_weights || r->weight_count > 0) &&
           !w->options->static_keeps_spread;
}

/* Upstream's algorithm selects for {cluster}, {region, cluster}, and without any level. */
static bool is_as_upstream(const struct select_work *w) {
    bool region = false, cluster = false;
    if (w->options->compat == COMPAT_1_18_1 || w->spread_count == 0)
        return true;
    for (uint32_t i = 0; i < w->spread_count; i++) {
        region |= w->spread[i].field == SPREAD_REGION;
        cluster |= w->spread[i].field == SPREAD_CLUSTER;
    }
    return cluster && w->spread_count == 1 + (uint32_t)region;
}

/* ---- nothing to spread ---- */

/* Selects all candidates, or the shortest prefix that holds the replicas. */
static void select_unspread(struct select_work *w) {
    const enum division division = w->placement->replicas.division;
    const bool by_capacity = division == DIVISION_DYNAMIC || division == DIVISION_AGGREGATED;
    __int128 sum = 0;
    w->ret->clusters = w->order;
    w->ret->count = w->count;
    if (w->options->no_constraint != NO_CONSTRAINT_UNTIL_ENOUGH || !by_capacity ||
        w->placement->spread_count > 0)
        return;
    for (uint32_t i = 0; i < w->count; i++) {
        sum += ranked(w, i)->available;
        if (sum >= w->replicas) {
            w->ret->count = i + 1;
            return;
        }
    }
}

/* ---- the whole ---- */

static int select_clusters(struct select_work *w, struct err *err) {
    int r = sort_candidates(w);
    if (r != 0)
        return r;
    if (w->placement->spread_count == 0 || ignores_spread(w)) {
        select_unspread(w);
        return 0;
    }
    r = find_spread(w);
    if (r != 0)
        return r;
    return is_as_upstream(w) ? select_as_upstream(w, err) : select_by_levels(w);
}

int karmada_select(const struct karmada_candidate *candidates, uint32_t count,
                   const struct cluster_placement *placement, int32_t replicas,
                   const struct karmada_options *options, struct arena *arena,
                   struct karmada_selection *ret, struct err *err) {
    struct err cause = {0};
    struct karmada_selection selection = {.proven = true};
    struct select_work w = {.candidates = candidates,
                            .count = count,
                            .placement = placement,
                            .replicas = replicas,
                            .options = options,
                            .arena = arena,
                            .ret = &selection};
    const int r = select_clusters(&w, &cause);
    if (r == 0) {
        *ret = selection;
        return 0;
    }
    if (cause.code != 0)
        return err_set(err, r, "%s", cause.text);
    return err_set(err, r, "selection: %s",
                   r == -ENOMEM ? "out of memory" : "too large to be searched");
}
