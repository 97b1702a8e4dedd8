#include "admission/pods/spread_defaults.h"

#include <errno.h>

/* upstream: podtopologyspread/plugin.go systemDefaultConstraints. */
static const struct policy_spread defaults[] = {
    {.topology_key = {"kubernetes.io/hostname", 22}, .max_skew = 3, .node_taints = POLICY_IGNORE},
    {.topology_key = {"topology.kubernetes.io/zone", 27},
     .max_skew = 5,
     .node_taints = POLICY_IGNORE},
};
enum { DEFAULTS = sizeof defaults / sizeof defaults[0] };

static bool has_key(const struct policy *policy, struct str key) {
    for (uint32_t i = 0; i < policy->spread_count; i++)
        if (str_eq(policy->spread[i].topology_key, key))
            return true;
    return false;
}

/* 0 or -ENOMEM. A column that cannot be built is one that nodes do not have. */
static int every_node_has(struct cache_view *view, struct str key, bool *ret) {
    uint32_t slots = topology_slots(view->nodes.topology);
    struct topology_column column;
    const uint8_t *known;
    *ret = false;
    int r = topology_column(&view->nodes, key, &column);
    if (r == 0)
        r = topology_feasibility(&view->nodes, &(struct node_affinity){0}, (struct tolerations){0},
                                 &known);
    if (r != 0)
        return r == -ENOMEM ? r : 0;
    *ret = true;
    for (uint32_t slot = 0; *ret && slot < slots; slot++)
        *ret = (known[slot] & CANDIDATE_KNOWN) == 0 || column.domain_of[slot] != TOPOLOGY_NONE;
    return 0;
}

int spread_defaults(const struct pod_question *q, const struct policy_spread **ret,
                    uint32_t *ret_count) {
    struct cache *cache = q->head.options->cache;
    struct cache_view view;
    bool has = false;
    int r = 0;
    *ret_count = 0;
    if (q->policy->replace_defaults || q->pod.constraint_count > 0 || !cache_ready(cache) ||
        cache_stats(cache).nodes == 0)
        return 0;
    struct policy_spread *kept = arena_array(q->head.arena, DEFAULTS, sizeof *kept);
    if (kept == NULL)
        return -ENOMEM;
    *ret = kept;
    cache_view_open(cache, &view);
    for (uint32_t i = 0; r == 0 && i < DEFAULTS; i++) {
        if (has_key(q->policy, defaults[i].topology_key))
            continue;
        r = every_node_has(&view, defaults[i].topology_key, &has);
        if (r == 0 && has)
            kept[(*ret_count)++] = defaults[i];
    }
    cache_view_close(&view);
    return r;
}

bool spread_is_default(const struct spread_constraint *c) {
    for (uint32_t i = 0; i < DEFAULTS; i++)
        if (!c->hard && !c->honor_taints && c->max_skew == defaults[i].max_skew &&
            str_eq(c->topology_key, defaults[i].topology_key))
            return true;
    return false;
}
