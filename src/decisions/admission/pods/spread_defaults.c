#include "admission/pods/spread_defaults.h"

#include "base/limits.h"
#include "engine/engine.h"

#include <errno.h>

static bool has_key(const struct policy *policy, struct str key) {
    for (uint32_t i = 0; i < policy->spread_count; i++)
        if (str_eq(policy->spread[i].topology_key, key))
            return true;
    return false;
}

/* Sets *ret: does every node have the key? Returns 0, -E2BIG (the view's steps are spent) or
 * -ENOMEM. */
static int every_node_has(struct cache_view *view, struct str key, bool *ret) {
    const struct topology *t = view->nodes.topology;
    uint32_t slots = topology_slots(t);
    struct topology_column column;
    int r = topology_column(&view->nodes, key, &column);
    if (r != 0)
        return r;
    if (!steps_take(view->nodes.steps, slots))
        return -E2BIG;
    *ret = true;
    for (uint32_t slot = 0; *ret && slot < slots; slot++)
        *ret = column.domain_of[slot] != TOPOLOGY_NONE || !topology_is_known(t, slot);
    return 0;
}

static struct policy_spread as_policy(const struct spread_constraint *c) {
    return (struct policy_spread){
        .topology_key = c->topology_key, .max_skew = c->max_skew, .node_taints = POLICY_IGNORE};
}

/* Treats a key as absent from the nodes if its column cannot be built within the steps. */
static int keep_those_on_nodes(const struct pod_question *q, struct cache_view *view,
                               struct policy_spread *kept, uint32_t *ret_count) {
    for (uint32_t i = 0; i < ENGINE_SYSTEM_DEFAULTS; i++) {
        const struct spread_constraint *c = &engine_system_defaults[i];
        bool has = false;
        int r =
            has_key(q->policy, c->topology_key) ? 0 : every_node_has(view, c->topology_key, &has);
        if (r != 0 && r != -E2BIG)
            return r;
        if (has)
            kept[(*ret_count)++] = as_policy(c);
    }
    return 0;
}

int spread_defaults(const struct pod_question *q, const struct policy_spread **ret,
                    uint32_t *ret_count) {
    struct cache *cache = pod_options(q)->cache;
    struct steps steps = {.used = 0};
    struct cache_view view;
    *ret_count = 0;
    if (q->policy->replace_defaults || q->pod.constraint_count > 0 || !cache_ready(cache) ||
        cache_stats(cache).nodes == 0)
        return 0;
    struct policy_spread *kept = arena_array(q->head.arena, ENGINE_SYSTEM_DEFAULTS, sizeof *kept);
    if (kept == NULL)
        return -ENOMEM;
    *ret = kept;
    cache_view_open(cache, &view);
    view.nodes.asker = hash_str(q->pod.meta.namespace);
    steps.max = LIMIT_ENGINE_STEPS +
                (uint64_t)LIMIT_ENGINE_STEPS_A_NODE * topology_slots(view.nodes.topology);
    view.nodes.steps = &steps; /* not the review's steps: they depend on the cluster's size */
    int r = keep_those_on_nodes(q, &view, kept, ret_count);
    cache_view_close(&view);
    return r;
}

bool spread_is_default(const struct spread_constraint *c) {
    for (uint32_t i = 0; i < ENGINE_SYSTEM_DEFAULTS; i++)
        if (!c->hard && !c->honor_taints && c->max_skew == engine_system_defaults[i].max_skew &&
            str_eq(c->topology_key, engine_system_defaults[i].topology_key))
            return true;
    return false;
}
