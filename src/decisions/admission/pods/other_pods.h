/*
 * The nodes that pods of other groups keep a pod from while they run: by their required
 * podAntiAffinity that means the pod, or by the pod's own that means them. kube-scheduler does not
 * look at either when it counts domains, so one that is wholly out of reach would hold the fewest
 * pods for as long as the others run.
 *
 * The pod's own group is no other: what pods of others say does not count in a domain where pods of
 * the group are, if the pod's own podAntiAffinity keeps them apart by that key.
 */
#pragma once

#include "admission/pods/pod_nodes.h"

/* By slot, in the arena; NULL: from none, or there is too much to look at (LIMIT_OTHERS_STEPS).
 * Takes none of the view's steps. 0 or -ENOMEM. */
int other_pods_keep_away(const struct pod_nodes_question *question, struct cache_view *view,
                         struct arena *arena, const bool **ret) MUST_CHECK;
