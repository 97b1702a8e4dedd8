/*
 * Chooses among equally good nodes.
 *
 * kube-scheduler breaks ties by chance and does not report its choice, so the next pod, which is
 * asked about milliseconds later, would be sent to the same domain. Therefore one domain is chosen
 * here, and in it, where nodes are spread over as well, an eighth of its nodes: the in-tree plugins
 * decide among those, as they do among the sample that percentageOfNodesToScore leaves them. While
 * other pods of the group are on their way and nodes are few, it is a single one. The assumed pod
 * then counts in the domain where it really goes.
 */
#pragma once

#include "engine/algorithm.h"

/*
 * Marks the chosen ones of the best candidates in `chosen` (per candidate, zeroed), and lists their
 * slots in *ret, at most LIMIT_ASSUMED_NODES. Chooses none if no constraint was applied or no
 * candidate is known. Candidates with a PreferNoSchedule taint that the pod does not tolerate are
 * left out as long as there are others. 0, -E2BIG or -ENOMEM.
 */
int choose(struct evaluation *e, const int64_t *scores, bool *chosen,
           struct cache_nodes *ret) MUST_CHECK;
