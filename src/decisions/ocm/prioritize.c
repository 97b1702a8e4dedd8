/*
 * Runs the prioritizers, which score the clusters that pass OCM's own filters. Doubles are used
 * where upstream uses them, in the same order of operations, because exact arithmetic gives other
 * integers in some cases. upstream: plugins/{balance,steady,resource,addon}.
 */
#include "ocm/internal.h"

#include "model/selector_problem.h"

#include <stdlib.h>

enum { BEST = 100 };

/* A score object that does not count, because it has expired or is too large. */
struct uncounted {
    uint32_t rank; /* rank of the cluster's name */
    uint32_t slot;
    bool too_large;
    struct str resource;
};

struct scoring {
    struct deciding *x;
    const struct weighed *of;
    int32_t *scores; /* [slots]; initially 0 */
    uint8_t *lacks;  /* made by the prioritizer, or NULL */
    struct uncounted *uncounted;
    uint32_t uncounted_count, uncounted_cap;
    struct str named; /* the last resource whose objects were checked for their end */
};

/* ---- Balance ---- */

/* Finds the stranger that other Placements' decisions name most often, and counts how often they
 * name it. */
static int count_strangers(struct deciding *x, uint32_t *ret) {
    const struct object_meta *meta = &x->placement->meta;
    uint32_t count, *left;
    const uint32_t *named = fleet_strangers(x->view, &count);
    *ret = 0;
    if (named == NULL)
        return 0;
    left = arena_array_unset(x->arena, count, sizeof *left);
    if (left == NULL)
        return -ENOMEM;
    if (deciding_steps(x, count / 4) != 0)
        return -E2BIG;
    memcpy(left, named, count * sizeof *left);
    for (const struct fleet_decision *d = fleet_decisions(x->view, meta->namespace, meta->name);
         d != NULL; d = d->next)
        for (uint32_t i = 0; i < d->stranger_count; i++)
            left[d->strangers[i].id]--;
    for (uint32_t i = 0; i < count; i++)
        *ret = left[i] > *ret ? left[i] : *ret;
    return 0;
}

/* Scores a cluster the lower, the more decisions of other Placements name it. Clusters that are no
 * candidates count for the maximum, too. */
static int score_balance(struct scoring *s) {
    struct deciding *x = s->x;
    const uint32_t *decided = fleet_decided(x->view);
    uint32_t most;
    int r = count_strangers(x, &most);
    if (r != 0)
        return r;
    for (uint32_t slot = 0; slot < x->slots; slot++) {
        const uint32_t count = decided[slot] - x->decided[slot];
        most = count > most ? count : most;
    }
    for (uint32_t i = 0; i < x->left_count; i++) {
        const uint32_t slot = x->left[i], count = decided[slot] - x->decided[slot];
        const double usage = count == 0 ? 0 : (double)count / (double)most;
        s->scores[slot] = 2 * (int32_t)((double)BEST * (0.5 - usage));
    }
    return 0;
}

/* ---- Steady ---- */

/* Scores clusters of today's decision. Upstream finds its decisions by a label with the Placement's
 * name as value; the name may be too long for a label. */
static int score_steady(struct scoring *s) {
    struct deciding *x = s->x;
    const struct str problem =
        selector_problem_equals(STR(PLACEMENT_LABEL), x->placement->meta.name, x->arena);
    if (problem.n > 0)
        deciding_stop(x, OCM_ERROR, s->of->name, problem);
    for (uint32_t i = 0; i < x->left_count; i++)
        s->scores[x->left[i]] = x->members[x->left[i]] != 0 ? BEST : 0;
    return 0;
}

/* ---- ResourceAllocatableCPU, ResourceAllocatableMemory ---- */

/* Gets the cluster's allocatable amount; returns false if upstream has no score of the cluster. */
static bool amount_of(const struct scoring *s, uint32_t slot, double *ret) {
    const struct fleet_cluster *c = fleet_cluster(s->x->view, slot);
    const bool cpu = s->of->kind == PRIORITIZE_CPU;
    const struct cluster_amount *allocatable = cpu ? &c->cpu_allocatable : &c->memory_allocatable;
    const struct cluster_amount *capacity = cpu ? &c->cpu_capacity : &c->memory_capacity;
    *ret = allocatable->value;
    return allocatable->given && capacity->given;
}

static int score_resource(struct scoring *s) {
    const struct deciding *x = s->x;
    double least = 0, most = 0, amount;
    bool any = false;
    s->lacks = arena_alloc(x->arena, x->slots);
    if (s->lacks == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < x->left_count; i++) {
        if (!amount_of(s, x->left[i], &amount))
            continue;
        least = !any || amount < least ? amount : least;
        most = !any || amount > most ? amount : most;
        any = true;
    }
    for (uint32_t i = 0; i < x->left_count; i++) {
        const uint32_t slot = x->left[i];
        if (!amount_of(s, slot, &amount))
            s->lacks[slot] = 1;
        else if (most - least != 0)
            s->scores[slot] = (int32_t)(((amount - least) / (most - least) - 0.5) * 2.0 * BEST);
        else
            s->scores[slot] = BEST;
    }
    return 0;
}

/* ---- AddOn ---- */

static int add_uncounted(struct scoring *s, uint32_t slot, bool too_large) {
    struct uncounted *items = arena_push(s->x->arena, s->uncounted, s->uncounted_count,
                                         &s->uncounted_cap, sizeof *s->uncounted);
    if (items == NULL)
        return -ENOMEM;
    s->uncounted = items;
    items[s->uncounted_count++] =
        (struct uncounted){s->x->order.rank_of[slot], slot, too_large, s->of->resource};
    return 0;
}

static int score_add_on(struct scoring *s) {
    const struct deciding *x = s->x;
    const struct fleet_scores *scores = fleet_scores_find(x->view, s->of->resource);
    const uint32_t item = fleet_score_name(x->view, s->of->score);
    const bool is_new = !str_eq(s->named, s->of->resource); /* prioritizers come by name */
    enum { LOOK_UP = 8 }; /* number of steps for finding a cluster's score */
    int r = scores != NULL ? deciding_steps(s->x, (uint64_t)LOOK_UP * x->left_count) : 0;
    s->named = s->of->resource;
    for (uint32_t i = 0; scores != NULL && r == 0 && i < x->left_count; i++) {
        const uint32_t slot = x->left[i];
        const struct fleet_score score = fleet_score_of(scores, slot, item);
        const bool over =
            score.has_object && score.has_end && x->question->now_ms > score.valid_until_ms;
        if ((over || score.too_large) && is_new)
            r = add_uncounted(s, slot, !over);
        if (!over && score.has_object && score.has_item)
            s->scores[slot] = score.value;
    }
    return r;
}

/* ---- all of them ---- */

static const struct {
    struct str name; /* name that a Placement writes */
    int (*score)(struct scoring *s);
} prioritizers[PRIORITIZER_KINDS] = {
    [PRIORITIZE_BALANCE] = {{"Balance", 7}, score_balance},
    [PRIORITIZE_STEADY] = {{"Steady", 6}, score_steady},
    [PRIORITIZE_CPU] = {{"ResourceAllocatableCPU", 22}, score_resource},
    [PRIORITIZE_MEMORY] = {{"ResourceAllocatableMemory", 25}, score_resource},
    [PRIORITIZE_ADD_ON] = {{"", 0}, score_add_on}, /* type AddOn has no name */
};

bool prioritizer_find(struct str name, enum prioritizer_kind *ret) {
    for (int kind = 0; kind < PRIORITIZER_KINDS; kind++)
        if (prioritizers[kind].name.n > 0 && str_eq(prioritizers[kind].name, name)) {
            *ret = (enum prioritizer_kind)kind;
            return true;
        }
    return false;
}

static int compare_uncounted(const void *a, const void *b) {
    const struct uncounted *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return str_cmp(left->resource, right->resource);
}

static int warn_of_uncounted(struct scoring *s) {
    struct deciding *x = s->x;
    int r = 0;
    if (s->uncounted_count == 0)
        return 0;
    if (!steps_take_sort(&x->arena->steps, s->uncounted_count))
        return -E2BIG;
    qsort(s->uncounted, s->uncounted_count, sizeof *s->uncounted, compare_uncounted);
    for (uint32_t i = 0; r == 0 && i < s->uncounted_count; i++) {
        const struct uncounted *u = &s->uncounted[i];
        const struct str cluster = topology_name(x->topology, u->slot);
        const struct str expired[] = {STR("AddOnPlacementScores "), cluster, STR("/"), u->resource,
                                      STR(" expired")},
                         large[] = {STR("scores of cluster "), cluster, STR(": object '"),
                                    u->resource, STR("' is too large: none of them counts")};
        r = deciding_warn(x, deciding_join(x, u->too_large ? large : expired, 5));
    }
    return r;
}

static int score_one(struct scoring *s, int64_t *sums, struct ocm_scores *ret) {
    struct deciding *x = s->x;
    s->scores = arena_array(x->arena, x->slots, sizeof *s->scores);
    s->lacks = NULL;
    if (s->scores == NULL)
        return -ENOMEM;
    int r = deciding_steps(x, x->left_count + x->slots / 4);
    if (r == 0)
        r = prioritizers[s->of->kind].score(s);
    for (uint32_t i = 0; r == 0 && i < x->left_count; i++)
        sums[x->left[i]] += (int64_t)s->of->weight * s->scores[x->left[i]];
    *ret = (struct ocm_scores){s->of->name, s->of->weight, s->scores, s->lacks};
    return r;
}

int decide_scores(struct deciding *x, const struct weighed *weighed, uint32_t count) {
    struct scoring s = {.x = x};
    struct ocm_scores *scores = arena_array(x->arena, count, sizeof *scores);
    int64_t *sums = arena_array(x->arena, x->slots, sizeof *sums);
    int r = scores == NULL || sums == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && x->d->outcome == OCM_DECIDED && i < count; i++) {
        s.of = &weighed[i];
        r = score_one(&s, sums, &scores[i]);
    }
    if (r != 0 || x->d->outcome != OCM_DECIDED)
        return r;
    x->d->prioritizers = scores;
    x->d->prioritizer_count = count;
    x->d->sums = sums;
    x->d->summed = true;
    return warn_of_uncounted(&s);
}
