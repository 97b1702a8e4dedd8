/*
 * Computes the room by a cluster's resource models. The models count the cluster's nodes by grade
 * of size; each node is taken as the smallest node of its grade. Three generations of Karmada read
 * them in three ways.
 *
 * From v1.18 on, Karmada makes a node for each counted node and places replica by replica. The sum
 * over grades of (nodes x replicas per node) is the same number, in a time that does not depend on
 * the nodes; nodes of a grade differ only after assumed workloads have been placed. upstream:
 * karmada pkg/estimator/client general.go of v1.18.1, v1.17.1 and v1.11.
 */
#include "base/sorted.h"
#include "estimator/first_fit.h"
#include "estimator/internal.h"

#include <errno.h>

/* Number of pods that fit a node made from a model. upstream: maxPodsCountPerNode */
enum { PODS_PER_NODE = 110 };

/* ---- from v1.18 on ---- */

/* Returns the number of replicas that a node of the model holds. Resources and demands are sorted
 * by name. */
static int64_t divide_model(const struct karmada_model *model, const struct demands *demands) {
    int64_t least = PODS_PER_NODE;
    uint32_t at = 0;
    for (uint32_t d = 0; d < demands->count && least > 0; d++) {
        const struct demand *demand = &demands->items[d];
        if (!demand->scheduled)
            continue; /* not a resource of nodes */
        int order = 1;
        while (at < model->range_count &&
               (order = str_cmp(demand->name, model->ranges[at].name)) > 0)
            at++;
        if (at == model->range_count || order != 0)
            return 0;
        const int64_t fits = model->ranges[at].amount / demand->amount;
        least = fits < least ? fits : least;
    }
    return least > 0 ? least : 0;
}

static int64_t third_replicas(const struct karmada_models *models, const struct demands *demands) {
    int64_t total = 0;
    for (uint32_t i = 0; i < models->count && total < ESTIMATE_MAX; i++) {
        const struct karmada_model *model = &models->items[i];
        const int64_t fits = model->nodes > 0 ? divide_model(model, demands) : 0;
        if (fits > 0 && model->nodes > (uint64_t)(ESTIMATE_MAX / fits))
            return ESTIMATE_MAX;
        total += (int64_t)model->nodes * fits;
    }
    return total < ESTIMATE_MAX ? total : ESTIMATE_MAX;
}

/* Makes a group of the nodes of each grade, by grade. */
static int make_groups(const struct karmada_models *models, struct first_fit *fit) {
    struct node_group *groups = arena_array(fit->arena, models->count, sizeof *groups);
    if (groups == NULL)
        return -ENOMEM;
    fit->groups = groups;
    for (uint32_t i = 0; i < models->count; i++) {
        const struct karmada_model *model = &models->items[models->by_grade[i]];
        if (model->nodes == 0)
            continue;
        if (!steps_take(&fit->arena->steps, (uint64_t)fit->width + model->range_count * 4))
            return -E2BIG;
        int64_t *fresh = arena_array(fit->arena, fit->width, sizeof *fresh);
        if (fresh == NULL)
            return -ENOMEM;
        fresh[0] = PODS_PER_NODE;
        for (uint32_t k = 0; k < model->range_count; k++) {
            const struct karmada_range *range = &model->ranges[k];
            const uint32_t column = first_fit_column(fit, range->name);
            if (column != UINT32_MAX)
                fresh[column] = range->amount > 0 ? range->amount : 0;
        }
        groups[fit->group_count++] = (struct node_group){.count = model->nodes, .fresh = fresh};
    }
    return 0;
}

/* Places up to `bound` sets on the nodes. */
static int place_sets(struct first_fit *fit, const struct component_set *set, int64_t bound,
                      int64_t *ret) {
    struct placed_component *components = arena_array(fit->arena, set->count, sizeof *components);
    int r = components == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < set->count; i++) {
        components[i].replicas = set->items[i].replicas;
        r = first_fit_needs(fit, &set->items[i].demands, &components[i]);
    }
    return r == 0 ? first_fit_place(fit, components, set->count, bound, ret) : r;
}

/* Makes the nodes, and places the assumed workloads on them. */
static int fill_nodes(const struct karmada_models *models, const struct estimator_question *q,
                      bool replica, struct first_fit *fit) {
    int64_t placed;
    int r = first_fit_columns(fit, q, replica);
    if (r == 0)
        r = make_groups(models, fit);
    for (uint32_t i = 0; r == 0 && i < q->assumed_count; i++)
        r = place_sets(fit, &q->assumed[i], 1, &placed);
    return r;
}

static int replicas_beside_assumed(const struct karmada_models *models,
                                   const struct estimator_question *q, struct arena *arena,
                                   int64_t *ret) {
    struct first_fit fit = {.arena = arena};
    struct placed_component replica = {.replicas = 1};
    int r = fill_nodes(models, q, true, &fit);
    if (r == 0)
        r = first_fit_needs(&fit, &q->demands, &replica);
    return r == 0 ? first_fit_count(&fit, &replica, ret) : r;
}

/* ---- before v1.18 ---- */

static struct str range_name(const void *items, size_t i) {
    return ((const struct karmada_range *)items)[i].name;
}

static const struct karmada_range *range_of(const struct karmada_model *model, struct str name) {
    bool found;
    const size_t at = sorted_place(model->ranges, model->range_count, range_name, name, &found);
    return found ? &model->ranges[at] : NULL;
}

/* Returns the first model whose minimum is above the demand (at least the demand, if `equal`);
 * models->count if no model has such a minimum. A model without the resource counts as 0 of the
 * resource; sets *ret_known to false if no model has the resource. */
static uint32_t first_model_above(const struct karmada_models *models, const struct demand *demand,
                                  bool equal, bool *ret_known) {
    uint32_t found = models->count;
    *ret_known = false;
    for (uint32_t i = 0; i < models->count; i++) {
        const struct karmada_range *range = range_of(&models->items[i], demand->name);
        *ret_known = *ret_known || range != NULL;
        if (range != NULL && found == models->count &&
            (range->nano > demand->nano || (equal && range->nano == demand->nano)))
            found = i;
    }
    return found;
}

/* Returns the first model whose nodes count: upstream's index of the least compliant model. Its
 * nodes may be a little too small in the first generation. Returns models->count if no node is
 * large enough, and -1 if a demanded resource is in no model. */
static int64_t least_model(const struct karmada_models *models, const struct demands *demands,
                           bool second) {
    int64_t least = 0;
    for (uint32_t d = 0; d < demands->count; d++) {
        bool known;
        int64_t above = first_model_above(models, &demands->items[d], second, &known);
        if (!known)
            return -1;
        if (!second)
            above--; /* the model before it, or the last model if none is above */
        least = above > least ? above : least;
    }
    return least;
}

/* Returns the number of replicas that one node of the model holds: at least 1, as in upstream.
 * upstream: getNodeAvailableReplicas() */
static int64_t divide_old_model(const struct karmada_model *model, const struct demands *demands) {
    int64_t least = INT64_MAX;
    for (uint32_t d = 0; d < demands->count; d++) {
        const struct karmada_range *range = range_of(model, demands->items[d].name);
        const int64_t fits = range == NULL ? 0 : range->amount / demands->items[d].amount;
        least = fits < least ? fits : least;
    }
    return least > 1 ? least : 1;
}

/* Models and counts are matched by their index in the lists, not by grade. */
static int64_t old_replicas(const struct karmada_models *models, const struct demands *demands,
                            bool second) {
    const int64_t from = least_model(models, demands, second);
    int64_t total = 0;
    if (from < 0)
        return ESTIMATE_UNKNOWN;
    for (uint32_t i = (uint32_t)from; i < models->count && i < models->modeling_count; i++) {
        const int64_t nodes = models->modelings[i].count;
        int64_t replicas;
        if (nodes <= 0)
            continue;
        if (__builtin_mul_overflow(nodes, divide_old_model(&models->items[i], demands),
                                   &replicas) ||
            __builtin_add_overflow(total, replicas, &total))
            return ESTIMATE_MAX;
    }
    return total < ESTIMATE_MAX ? total : ESTIMATE_MAX;
}

/* ---- all versions ---- */

int estimator_models_replicas(const struct karmada_models *models,
                              const struct estimator_question *q, struct arena *arena,
                              int64_t *ret) {
    *ret = ESTIMATE_UNKNOWN;
    if (q->models != MODELS_THIRD) {
        *ret = old_replicas(models, &q->demands, q->models == MODELS_SECOND);
        return 0;
    }
    if (models->count == 0 || models->negative)
        return 0;
    if (q->assumed_count > 0)
        return replicas_beside_assumed(models, q, arena, ret);
    *ret = third_replicas(models, &q->demands);
    return 0;
}

int estimator_models_sets(const struct karmada_models *models, const struct estimator_question *q,
                          int64_t bound, struct arena *arena, int64_t *ret) {
    struct first_fit fit = {.arena = arena};
    *ret = ESTIMATE_UNKNOWN;
    if (models->count == 0 || models->negative)
        return 0;
    const int r = fill_nodes(models, q, false, &fit);
    return r == 0 ? place_sets(&fit, &q->set, bound, ret) : r;
}
