/*
 * Selects as Karmada v1.18.1 does: by region and cluster, or by cluster alone. Groups of providers
 * and zones are scored, but never chosen. upstream: karmada pkg/scheduler/core/spreadconstraint
 * group_clusters.go (scores), select_clusters_by_region.go, select_clusters_by_cluster.go.
 */
#include "karmada/select_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { FIELDS = 3, SCORE_UNIT = 1000 };

/* Returns minGroups, but 1 instead of 0, because upstream divides by it. */
static int64_t least_groups(const struct cluster_spread *spread) {
    return spread == NULL || spread->min == 0 ? 1 : spread->min;
}

static int64_t most_groups(const struct select_work *w, const struct cluster_spread *spread) {
    if (spread != NULL && spread->max != 0)
        return spread->max;
    return w->options->max_unset_is_unlimited ? INT64_MAX : 0;
}

static const struct cluster_spread *find_spread(const struct select_work *w,
                                                enum spread_field field) {
    for (uint32_t i = 0; i < w->spread_count; i++)
        if (w->spread[i].field == field)
            return &w->spread[i];
    return NULL;
}

/* ---- scores of groups ---- */

static int64_t clamp(__int128 value) {
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* Duplicated: scores a group by the number of clusters that hold all replicas, then by the mean
 * score of these clusters. */
static int64_t score_duplicated(const struct select_work *w, const struct level_group *group) {
    __int128 score = 0;
    int64_t valid = 0;
    for (uint32_t i = 0; i < group->shown.cluster_count; i++) {
        const struct karmada_candidate *c = ranked(w, group->ranks[i]);
        if (c->available < w->replicas)
            continue;
        valid++;
        score += c->score;
    }
    return valid == 0 ? 0 : clamp((__int128)valid * SCORE_UNIT + score / valid);
}

/* Divided: scores a group by the part of its share of the replicas that it can hold with the
 * clusters that it needs, then by the mean score of these clusters. */
static int64_t score_divided(const struct select_work *w, const struct level_group *group,
                             int64_t least) {
    const int64_t of_clusters = least_groups(find_spread(w, SPREAD_CLUSTER));
    const int64_t clusters = of_clusters > least ? of_clusters : least;
    const int64_t share = w->replicas / least + (w->replicas % least != 0);
    __int128 available = 0, score = 0;
    uint32_t n = 0;
    assert(group->shown.cluster_count > 0);
    while (n < group->shown.cluster_count && (n == 0 || n < clusters || available < share)) {
        const struct karmada_candidate *c = ranked(w, group->ranks[n]);
        available += c->available;
        score += c->score;
        n++;
    }
    if (available < share)
        return clamp(available * SCORE_UNIT + score / group->shown.cluster_count);
    return clamp((__int128)share * SCORE_UNIT + score / n);
}

static int score_level(struct select_work *w, struct level_groups *level) {
    const enum division division = w->placement->replicas.division;
    const int64_t least = least_groups(&level->spread);
    if (!steps_take(&w->arena->steps, level->pairs))
        return -E2BIG;
    for (uint32_t g = 0; g < level->count; g++) {
        struct level_group *group = &level->groups[g];
        if (level_group_is_default(w, level, group))
            group->shown.score = 0;
        else if (division == DIVISION_NONE || division == DIVISION_DUPLICATED)
            group->shown.score = score_duplicated(w, group);
        else
            group->shown.score = score_divided(w, group, least);
    }
    return 0;
}

/* ---- by cluster ---- */

/* A heap of the clusters that are not selected. On top is the cluster with the most available
 * replicas; among equal clusters, the first place. */
struct spare {
    int64_t available;
    uint32_t place;
};

static bool before(const struct spare *a, const struct spare *b) {
    return a->available != b->available ? a->available > b->available : a->place < b->place;
}

static void sift_down(struct spare *heap, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t first = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (before(&heap[child], &heap[first]))
                first = child;
        if (first == at)
            return;
        const struct spare moved = heap[at];
        heap[at] = heap[first];
        heap[first] = moved;
        at = first;
    }
}

/* Exchanges selected clusters, the last first, for spare clusters with more available replicas,
 * until the selected clusters hold the replicas. `ranks` has all clusters; the first `take` of them
 * are selected. */
static int exchange(struct select_work *w, uint32_t *ranks, uint32_t take, bool *ret_enough) {
    const uint32_t rest = w->count - take;
    __int128 sum = 0;
    struct spare *heap = arena_array_unset(w->arena, rest, sizeof *heap);
    if (heap == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&w->arena->steps, w->count))
        return -E2BIG;
    for (uint32_t i = 0; i < take; i++)
        sum += ranked(w, ranks[i])->available;
    for (uint32_t i = 0; i < rest; i++)
        heap[i] = (struct spare){ranked(w, ranks[take + i])->available, take + i};
    for (uint32_t i = rest / 2; i-- > 0;)
        sift_down(heap, rest, i);
    for (uint32_t u = take; sum < w->replicas && u-- > 0;) {
        const int64_t available = ranked(w, ranks[u])->available;
        if (rest == 0 || heap[0].available <= available)
            continue;
        const uint32_t place = heap[0].place, rank = ranks[place];
        sum += heap[0].available - available;
        ranks[place] = ranks[u];
        ranks[u] = rank;
        heap[0].available = available;
        sift_down(heap, rest, 0);
    }
    *ret_enough = sum >= w->replicas && take > 0;
    return 0;
}

static int select_by_cluster(struct select_work *w, const struct cluster_spread *spread) {
    const enum division division = w->placement->replicas.division;
    const int64_t most = most_groups(w, spread);
    const uint32_t take = most < w->count ? (uint32_t)most : w->count;
    bool enough = true;
    if (w->count < least_groups(spread))
        return select_fail(
            w, "the number of feasible clusters is less than spreadConstraint.MinGroups");
    uint32_t *ranks = arena_array_unset(w->arena, w->count, sizeof *ranks);
    if (ranks == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->count; i++)
        ranks[i] = i;
    if (division != DIVISION_NONE && division != DIVISION_DUPLICATED) {
        const int r = exchange(w, ranks, take, &enough);
        if (r != 0)
            return r;
    }
    if (!enough)
        return select_fail(w, "no enough resource when selecting %u clusters", take);
    for (uint32_t i = 0; i < take; i++)
        ranks[i] = w->order[ranks[i]];
    w->ret->clusters = ranks;
    w->ret->count = take;
    return 0;
}

/* ---- by region ---- */

static int compare_ranks(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Takes the best cluster of each region, then the best of the other clusters. */
static int take_clusters(struct select_work *w, const struct level_groups *regions,
                         const uint32_t *chosen, uint32_t count, int64_t most) {
    uint32_t all = 0, at = count;
    for (uint32_t i = 0; i < count; i++)
        all += regions->groups[chosen[i]].shown.cluster_count;
    uint32_t *ranks = arena_array_unset(w->arena, all, sizeof *ranks);
    if (ranks == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&w->arena->steps, all))
        return -E2BIG;
    for (uint32_t i = 0; i < count; i++) {
        const struct level_group *region = &regions->groups[chosen[i]];
        const uint32_t others = region->shown.cluster_count - 1;
        ranks[i] = region->ranks[0];
        memcpy(ranks + at, region->ranks + 1, others * sizeof *ranks);
        at += others;
    }
    qsort(ranks + count, all - count, sizeof *ranks, compare_ranks);
    const uint32_t need = most < all ? (uint32_t)most : all;
    w->ret->count = need > count ? need : count;
    for (uint32_t i = 0; i < w->ret->count; i++)
        ranks[i] = w->order[ranks[i]];
    w->ret->clusters = ranks;
    return 0;
}

static int select_by_region(struct select_work *w, const struct level_groups *regions,
                            struct err *err) {
    const struct cluster_spread *of_clusters = find_spread(w, SPREAD_CLUSTER);
    const uint32_t *chosen;
    uint32_t count;
    if (regions->count < least_groups(&regions->spread))
        return select_fail(w,
                           "the number of feasible region is less than spreadConstraint.MinGroups");
    struct group_item *items = arena_array_unset(w->arena, regions->count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    for (uint32_t g = 0; g < regions->count; g++) {
        const struct karmada_group *group = &regions->groups[g].shown;
        items[g] = (struct group_item){group->path[0], group->cluster_count, group->score};
    }
    const int r = karmada_groups_choose(items, regions->count, least_groups(&regions->spread),
                                        most_groups(w, &regions->spread), least_groups(of_clusters),
                                        w->arena, &chosen, &count, err);
    if (r != 0)
        return r;
    if (count == 0)
        return select_fail(
            w, "the number of clusters is less than the cluster spreadConstraint.MinGroups");
    return take_clusters(w, regions, chosen, count, most_groups(w, of_clusters));
}

/* ---- the whole ---- */

int select_as_upstream(struct select_work *w, struct err *err) {
    static const enum spread_field fields[FIELDS] = {SPREAD_PROVIDER, SPREAD_REGION, SPREAD_ZONE};
    const struct cluster_spread *of_clusters = find_spread(w, SPREAD_CLUSTER);
    struct level_groups levels[FIELDS];
    const struct level_groups *regions = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < FIELDS; i++) {
        const struct cluster_spread *spread = find_spread(w, fields[i]);
        if (spread == NULL)
            continue;
        int r = level_build(w, NULL, spread, &levels[count]);
        if (r == 0)
            r = score_level(w, &levels[count]);
        if (r == 0)
            r = level_sort(w, &levels[count]);
        if (r != 0)
            return r;
        regions = fields[i] == SPREAD_REGION ? &levels[count] : regions;
        count++;
    }
    const int r = levels_show(w, levels, count);
    if (r != 0)
        return r;
    if (regions != NULL)
        return select_by_region(w, regions, err);
    if (of_clusters != NULL)
        return select_by_cluster(w, of_clusters);
    return select_fail(w, "just support cluster and region spread constraint");
}
