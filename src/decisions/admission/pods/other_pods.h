/*
 * Finds the nodes that running pods of other groups keep a pod from: by their required
 * podAntiAffinity that matches the pod, or by the pod's own that matches them. kube-scheduler
 * ignores both when it counts domains, so a domain wholly out of reach would hold the fewest pods
 * while the others run.
 *
 * Terms of other pods do not count in a domain with pods of the pod's own group, if the pod's own
 * podAntiAffinity keeps the group apart by that key.
 */
#pragma once

#include "admission/pods/pod_nodes.h"

/* By slot, in the arena; NULL: no node is kept away, or the search is too large
 * (LIMIT_OTHERS_STEPS). Takes none of the view's steps. 0 or -ENOMEM. */
int other_pods_keep_away(const struct pod_nodes_question *question, struct cache_view *view,
                         struct arena *arena, const bool **ret) MUST_CHECK;
