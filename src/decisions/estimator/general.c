/*
 * The general estimator: computes the room by a Cluster's summary, and decides between summary and
 * models. upstream: karmada pkg/estimator/client general.go (v1.18.1).
 */
#include "estimator/internal.h"

#include <errno.h>

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- lists by name, side by side ---- */

/* A walk over the summary's resources, for look-ups of names in ascending order. */
struct summary_walk {
    const struct karmada_resource *resources;
    uint32_t count, at;
};

/* Returns the resource with this name, or NULL if the cluster offers none of it. */
static const struct karmada_resource *walk_to(struct summary_walk *walk, struct str name) {
    int order = 1;
    while (walk->at < walk->count && (order = str_cmp(name, walk->resources[walk->at].name)) > 0)
        walk->at++;
    if (walk->at == walk->count || order != 0)
        return NULL;
    const struct karmada_resource *found = &walk->resources[walk->at];
    return (found->given & 1u << KARMADA_ALLOCATABLE) != 0 ? found : NULL;
}

/* Does the same for the demands of assumed workloads; returns NULL if no demand has this name. */
static const struct set_demand *assumed_of(const struct component_set *assumed, uint32_t *at,
                                           struct str name) {
    int order = 1;
    while (*at < assumed->demand_count && (order = str_cmp(name, assumed->demands[*at].name)) > 0)
        (*at)++;
    return *at < assumed->demand_count && order == 0 ? &assumed->demands[*at] : NULL;
}

/* ---- replicas ---- */

/* Returns a - b, saturating; b is not below 0. */
static int64_t less(int64_t a, int64_t b) {
    int64_t left;
    return __builtin_sub_overflow(a, b, &left) ? INT64_MIN : left;
}

/* Returns the number of replicas that fit by the summary; INT64_MAX without demands. upstream:
 * getMaximumReplicasBasedOnClusterSummary() */
static int64_t summary_replicas(const struct karmada_cluster *cluster,
                                const struct demands *demands,
                                const struct component_set *assumed) {
    struct summary_walk walk = {cluster->resources, cluster->resource_count, 0};
    int64_t least = INT64_MAX;
    uint32_t at = 0;
    for (uint32_t d = 0; d < demands->count; d++) {
        const struct demand *demand = &demands->items[d];
        const struct karmada_resource *resource = walk_to(&walk, demand->name);
        if (resource == NULL)
            return 0;
        const struct set_demand *taken = assumed_of(assumed, &at, demand->name);
        const int64_t free = taken == NULL ? resource->free : less(resource->free, taken->amount);
        if (free <= 0)
            return 0;
        least = least_of(least, free / demand->amount);
    }
    return least;
}

/* Sums the assumed workloads, and computes how many pods are left. */
static int take_assumed(const struct karmada_cluster *cluster, const struct estimator_question *q,
                        struct arena *arena, struct component_set *ret_assumed, int64_t *ret_pods) {
    *ret_assumed = (struct component_set){0};
    *ret_pods = 0;
    if (!cluster->has_summary)
        return 0;
    int r = 0;
    if (q->assumed_total != NULL)
        *ret_assumed = *q->assumed_total;
    else if (q->assumed_count > 0)
        r = component_sets_sum(q->assumed, q->assumed_count, arena, ret_assumed);
    const int64_t pods = less(cluster->free_pods, ret_assumed->pods);
    *ret_pods = pods > 0 ? pods : 0;
    return r;
}

int estimator_general_replicas(const struct karmada_cluster *cluster,
                               const struct estimator_question *q, struct arena *arena,
                               struct general_estimate *ret) {
    struct component_set assumed;
    int64_t pods;
    *ret = (struct general_estimate){.summary = 0, .models = ESTIMATE_UNKNOWN};
    int r = take_assumed(cluster, q, arena, &assumed, &pods);
    if (r != 0 || pods == 0)
        return r;
    pods = least_of(pods, ESTIMATE_MAX);
    if (q->demands.given && estimator_has_models(cluster, q))
        r = estimator_models_replicas(&cluster->models, q, arena, &ret->models);
    if (r != 0)
        return r;
    if (ret->models != ESTIMATE_UNKNOWN) {
        ret->summary = ESTIMATE_UNKNOWN;
        ret->models = ret->replicas = least_of(ret->models, pods);
        return 0;
    }
    ret->replicas =
        q->demands.given ? least_of(pods, summary_replicas(cluster, &q->demands, &assumed)) : pods;
    ret->summary = ret->replicas;
    return 0;
}

/* ---- sets ---- */

/* Returns the free amount of a resource, in units of its own suffix. */
static int64_t free_by_family(const struct karmada_resource *resource) {
    const struct quantity left = {.nano = resource->nano[KARMADA_ALLOCATABLE] -
                                          resource->nano[KARMADA_ALLOCATED] -
                                          resource->nano[KARMADA_ALLOCATING]};
    return resource->format == QUANTITY_BINARY_SI ? quantity_value(&left)
                                                  : quantity_milli_value(&left);
}

/* Returns the number of sets that fit by the summary, at most `bound`. upstream:
 * resourceBoundedSets(), which compares thousandths with whole units if the suffixes of a quantity
 * and a request are of different families. */
static int64_t summary_sets(const struct karmada_cluster *cluster,
                            const struct estimator_question *q, const struct component_set *assumed,
                            int64_t bound) {
    struct summary_walk walk = {cluster->resources, cluster->resource_count, 0};
    uint32_t at = 0;
    for (uint32_t d = 0; d < q->set.demand_count; d++) {
        const struct set_demand *demand = &q->set.demands[d];
        const struct karmada_resource *resource = walk_to(&walk, demand->name);
        if (resource == NULL)
            return 0;
        const struct set_demand *taken = assumed_of(assumed, &at, demand->name);
        int64_t free = q->sets_by_name ? resource->free : free_by_family(resource);
        if (taken != NULL)
            free = less(free, q->sets_by_name ? taken->amount : taken->by_family);
        if (free <= 0)
            return 0;
        bound = least_of(bound, free / (q->sets_by_name ? demand->amount : demand->by_family));
    }
    return bound;
}

int estimator_general_sets(const struct karmada_cluster *cluster,
                           const struct estimator_question *q, struct arena *arena, int64_t *ret) {
    struct component_set assumed;
    int64_t pods, by_models = ESTIMATE_UNKNOWN;
    *ret = 0;
    int r = take_assumed(cluster, q, arena, &assumed, &pods);
    if (r != 0 || pods == 0)
        return r;
    if (q->set.pods == 0) {
        *ret = least_of(pods, ESTIMATE_MAX);
        return 0;
    }
    const int64_t bound = least_of(pods / q->set.pods, ESTIMATE_MAX);
    const int64_t sets = summary_sets(cluster, q, &assumed, bound);
    /* Karmada's estimator until v1.17 asked the models only for components with demands */
    if (sets > 0 && estimator_has_models(cluster, q) &&
        (q->models == MODELS_THIRD || q->set.demand_count > 0))
        r = estimator_models_sets(&cluster->models, q, sets, arena, &by_models);
    *ret = by_models != ESTIMATE_UNKNOWN ? least_of(sets, by_models) : sets;
    return r;
}
