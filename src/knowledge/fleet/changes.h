/*
 * Finds the Placements that a change may affect, as Open Cluster Management's controller enqueues
 * them (upstream: pkg/placement/controllers/scheduling enqueue.go, cluster_event_handler.go).
 * Spreading adds groups of Placements that are spread together, and policies that match a
 * namespace's labels.
 *
 * An answer is about the present store. Ask before and after applying a change, and use both
 * answers.
 *
 * If it takes more than LIMIT_GROUP_STEPS to compare a Placement with the selectors of all spread
 * groups in its namespace, the answer is all Placements of the namespace that have a group. After
 * such a report these Placements are not reported again until the next fleet_placements_visit():
 * only then does a plan read the changes.
 */
#pragma once

#include "fleet/fleet.h"

struct fleet_placement {
    struct str namespace, name; /* borrowed while the view is open */
    bool has_it; /* its decisions have the changed cluster; also false if the search for it takes
                    more than a quarter of the arena's steps */
};

/* The affected known Placements, each once, in the arena. Placements that have the cluster come
 * first, because they may have to move; then by namespace and name. */
struct fleet_changed {
    struct fleet_placement *items;
    uint32_t count;
};

/*
 * Each returns 0, -E2BIG (the arena's steps are spent) or -ENOMEM. O(possibly affected objects),
 * and for a cluster also O(sets with a selector).
 */

/* A Placement affects itself, and Placements whose spread group has it. */
int fleet_changed_by_placement(const struct fleet_view *v, struct str namespace, struct str name,
                               struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* A PlacementDecision affects the same Placements as the Placement that its label names. */
int fleet_changed_by_decision(const struct fleet_view *v, struct str namespace, struct str name,
                              struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* A ManagedCluster affects Placements that may use a set with this cluster. Also O(decisions of
 * these Placements), unless no decision names the cluster. */
int fleet_changed_by_cluster(const struct fleet_view *v, struct str cluster, struct arena *arena,
                             struct fleet_changed *ret) MUST_CHECK;
/* A set affects Placements in the namespaces to which it is bound, unless the Placements name only
 * other sets. */
int fleet_changed_by_set(const struct fleet_view *v, struct str set, struct arena *arena,
                         struct fleet_changed *ret) MUST_CHECK;
/* A binding affects the same Placements as its set, but only in its own namespace. */
int fleet_changed_by_binding(const struct fleet_view *v, struct str namespace, struct str set,
                             struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* An AddOnPlacementScore affects Placements with a prioritizer, of any weight, that names the
 * resource, in namespaces with a bound set that has the cluster. */
int fleet_changed_by_score(const struct fleet_view *v, struct str cluster, struct str resource,
                           struct arena *arena, struct fleet_changed *ret) MUST_CHECK;
/* A Namespace affects all its Placements, because policies ask for its labels. */
int fleet_changed_by_namespace(const struct fleet_view *v, struct str name, struct arena *arena,
                               struct fleet_changed *ret) MUST_CHECK;
