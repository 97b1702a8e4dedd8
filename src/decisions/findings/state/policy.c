#include "findings/state/policy.h"

#include "findings/state/fleet.h"
#include "findings/state/keys.h"

#include <stdio.h>

enum { PATH_BYTES = 80 };

static int check_constraint(struct topology_view *v, const struct policy_spread *s, struct str path,
                            struct findings *f) {
    struct key_use use;
    const int r = key_use_find(v, s->topology_key, &use);
    if (r != 0)
        return r;
    if (use.domains == 0)
        findings_add_unknown_key(v, s->topology_key, path, "node",
                                 "the constraint is left out of pods", f);
    else if (use.domains == 1)
        findings_add(f, FINDING_SINGLE_DOMAIN, path, STR("Use a label that has several values"),
                     "all nodes with the label '%.*s' have the value '%.*s': the constraint "
                     "spreads over nothing",
                     STR_ARG(s->topology_key), STR_ARG(use.value));
    return 0;
}

int findings_of_policy_nodes(struct cache *cache, const struct policy *policy, struct findings *f) {
    struct cache_view view;
    char path[PATH_BYTES];
    int r = 0;
    cache_view_open(cache, &view);
    view.nodes.steps = &f->arena->steps;
    const bool any = topology_stats(view.nodes.topology).candidates > 0;
    for (uint32_t i = 0; any && r == 0 && i < policy->spread_count; i++) {
        (void)snprintf(path, sizeof path, "spec.pods.spread[%u].topologyKey", i);
        r = check_constraint(&view.nodes, &policy->spread[i], str_of(path), f);
    }
    cache_view_close(&view);
    return r;
}

int findings_of_policy_clusters(struct fleet *fleet, const struct policy *policy,
                                struct findings *f) {
    struct fleet_view view;
    char path[PATH_BYTES];
    int r = 0;
    fleet_view_open(fleet, &view);
    view.clusters.steps = &f->arena->steps;
    const bool any = topology_stats(view.clusters.topology).candidates > 0;
    for (uint32_t i = 0; any && r == 0 && i < policy->placement_term_count; i++) {
        (void)snprintf(path, sizeof path, "spec.placements.spread[%u].topologyKey", i);
        r = findings_of_term(&view, &policy->placement_terms[i], str_of(path), f);
    }
    fleet_view_close(&view);
    return r;
}
