/*
 * Which Placements a change can change, as Open Cluster Management's controller enqueues them
 * (upstream: pkg/placement/controllers/scheduling enqueue.go, cluster_event_handler.go), and what
 * spreading adds: groups of Placements that are spread together, policies that match by a
 * namespace's labels.
 *
 * The answer is of what is known now. A change is of what was known before it, too: ask before it
 * is applied and after it, and take both.
 *
 * Where comparing a Placement with the selectors of all spread groups of its namespace takes more
 * than LIMIT_GROUP_STEPS, all Placements of the namespace that have a group are answered, and only
 * once until fleet_placements_visit() has been asked for one of them: until then nobody has seen
 * what they were told of before.
 */
#pragma once

#include "fleet/fleet.h"

struct fleet_placement {
    struct str namespace, name; /* borrowed while the view is open */
    bool has_it; /* a cluster has changed that is decided for it; a quarter of the arena's steps are
                    for finding out, and when these are spent it is false */
};

/* Those that have the cluster first, for they may have to move; then by namespace and name, each
 * once; in the arena. Only Placements that are known. */
struct fleet_changed {
    struct fleet_placement *items;
    uint32_t count;
};

/*
 * Each returns 0, -E2BIG (the arena's steps are spent) or -ENOMEM. O(what may be affected), and for
 * a cluster O(sets with a selector).
 */

/* A Placement: itself, and those whose spread group has it. */
int fleet_changed_by_placement(const struct fleet_view *v, struct str namespace, struct str name,
                               struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* A PlacementDecision: the same for the Placement that its label names. */
int fleet_changed_by_decision(const struct fleet_view *v, struct str namespace, struct str name,
                              struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* A ManagedCluster: those that may use a set which has it. O(what is decided for them), too, unless
 * the cluster is decided for nobody. */
int fleet_changed_by_cluster(const struct fleet_view *v, struct str cluster, struct arena *arena,
                             struct fleet_changed *ret) MUST_CHECK;
/* A set: those in the namespaces that it is bound to, but for those that name other sets only. */
int fleet_changed_by_set(const struct fleet_view *v, struct str set, struct arena *arena,
                         struct fleet_changed *ret) MUST_CHECK;
/* A binding: the same in its namespace. */
int fleet_changed_by_binding(const struct fleet_view *v, struct str namespace, struct str set,
                             struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* An AddOnPlacementScore: those of which a prioritizer, whatever its weight, names the resource, in
 * namespaces to which a set is bound that has the cluster. */
int fleet_changed_by_score(const struct fleet_view *v, struct str cluster, struct str resource,
                           struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* A Namespace: all that are in it, because policies ask for its labels. */
int fleet_changed_by_namespace(const struct fleet_view *v, struct str name, struct arena *arena,
                               struct fleet_changed *ret) MUST_CHECK;
