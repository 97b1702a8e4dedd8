/*
 * Finds the nodes that a pod cannot use because of running pods of other groups: their required
 * podAntiAffinity matches the pod, or the pod's own matches them. kube-scheduler ignores both when
 * it counts domains. So a domain that the pod cannot use at all would have the fewest pods as long
 * as the other pods run.
 *
 * Terms of other pods do not count in a domain with pods of the pod's own group, if the pod's own
 * podAntiAffinity keeps the group apart by that key.
 */
#pragma once

#include "admission/pods/pod_nodes.h"

/* Sets *ret to one mark per slot, in the arena; NULL: no node is kept away, or the search is too
 * large (LIMIT_OTHERS_STEPS). Takes no steps of the view. Returns 0 or -ENOMEM. */
int other_pods_keep_away(const struct pod_nodes_question *question, struct cache_view *view,
                         struct arena *arena, const bool **ret) MUST_CHECK;
