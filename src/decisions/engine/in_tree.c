#include "engine/in_tree.h"

#include <errno.h>

/* The weight of one point of the extender's priority, with weight 1 in kube-scheduler's
 * configuration. upstream: schedule_one.go prioritizeNodes() */
enum { POINTS_OF_PRIORITY = 10 };

/* PodTopologySpread's scores are also a column of the extender's answer. */
static int score_spread(struct evaluation *e, int64_t *scores, struct err *err) {
    int64_t *raw = arena_array(e->arena, e->count, sizeof *raw);
    return raw == NULL ? -ENOMEM : spread_algorithm.score(e, raw, scores, err);
}

/* upstream: pkg/scheduler/apis/config/v1/default_plugins.go */
static const struct {
    const char *plugin;
    uint32_t weight;
    int (*score)(struct evaluation *e, int64_t *scores, struct err *err);
} plugins[ENGINE_IN_TREE] = {
    {"TaintToleration", 3, score_taints},
    {"NodeAffinity", 2, score_node_affinity},
    {"NodeResourcesFit", 1, score_resources_fit},
    {"PodTopologySpread", 2, score_spread},
    {"InterPodAffinity", 2, score_pod_affinity},
    {"NodeResourcesBalancedAllocation", 1, score_balanced_allocation},
    {"ImageLocality", 1, score_images},
};

int in_tree_prepare(struct evaluation *e) {
    const struct pod *pod = e->pod;
    struct str namespace = pod->meta.namespace;
    int r = pod_terms_add(&e->terms, POD_RATHER_BESIDE, &pod->beside, namespace, e->arena,
                          &e->terms_err);
    if (r == 0)
        r = pod_terms_add(&e->terms, POD_RATHER_APART, &pod->apart, namespace, e->arena,
                          &e->terms_err);
    e->terms_failed = r;
    return r == -ENOMEM ? r : 0;
}

/* Does the caller want this plugin's scores? If it selects filters, only those of the same plugins.
 */
static bool is_asked(const struct evaluation *e, const char *plugin) {
    uint32_t filters = e->options->filters;
    return filters == 0 || filters == FILTERS_ALL ||
           (filters & engine_filters_named(str_of(plugin))) != 0;
}

int in_tree_score(struct evaluation *e, struct score_result *out, struct err *err) {
    uint32_t applied = e->applied_count;
    out->totals = arena_array(e->arena, e->count, sizeof *out->totals);
    if (out->totals == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < e->count; i++)
        out->totals[i] = (int64_t)out->priorities[i] * POINTS_OF_PRIORITY;
    for (size_t p = 0; p < ENGINE_IN_TREE; p++) {
        if (!is_asked(e, plugins[p].plugin))
            continue;
        struct in_tree_column *column = &out->in_tree[out->in_tree_count];
        *column = (struct in_tree_column){plugins[p].plugin, plugins[p].weight,
                                          arena_array(e->arena, e->count, sizeof(int64_t))};
        if (column->scores == NULL)
            return -ENOMEM;
        int r = e->count == 0 ? ALGORITHM_SKIP : plugins[p].score(e, column->scores, err);
        e->applied_count = applied; /* constraints have been noted for the extender's own column */
        if (r == ALGORITHM_SKIP)
            continue;
        if (r != 0)
            return r;
        for (uint32_t i = 0; i < e->count; i++)
            out->totals[i] += column->weight * column->scores[i];
        out->in_tree_count++;
    }
    return 0;
}
