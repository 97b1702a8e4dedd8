/*
 * Chooses among equally good nodes.
 *
 * kube-scheduler breaks ties by chance and does not report its choice, so the next pod,
 * milliseconds later, would be sent to the same domain. Therefore one domain is chosen here. If
 * pods are spread over nodes, too, only an eighth of the domain's nodes are chosen: the in-tree
 * plugins decide among these, as they do among the sample that percentageOfNodesToScore leaves
 * them. While other pods of the group are on their way and nodes are few, a single node is chosen.
 * The assumed pod then counts in the domain where it really goes.
 */
#pragma once

#include "engine/algorithm.h"

/*
 * Chooses some of the best candidates: marks them in `chosen` (per candidate, zeroed), and lists
 * their slots in *ret, at most LIMIT_ASSUMED_NODES. Chooses none if no constraint was applied or no
 * candidate is known. Candidates with a PreferNoSchedule taint that the pod does not tolerate are
 * left out as long as there are other candidates. Returns 0, -E2BIG or -ENOMEM.
 */
int choose(struct evaluation *e, const int64_t *scores, bool *chosen,
           struct cache_nodes *ret) MUST_CHECK;
