/*
 * Choice: which of equally good nodes a pod is sent to.
 *
 * kube-scheduler breaks ties by chance and does not report its choice, so the next pod, which is
 * asked about milliseconds later, would be sent to the same domain. Therefore one domain is chosen
 * here, and in it, where nodes are spread over as well, an eighth of its nodes: the in-tree plugins
 * decide among those, as they do among the sample that percentageOfNodesToScore leaves them. What
 * is assumed of the pod then counts in the domain it really goes to.
 */
#pragma once

#include "engine/algorithm.h"

/*
 * Marks in `chosen` (per candidate, zeroed) those of the candidates with the best score that the
 * pod is sent to, and lists their slots in *ret. None, when no constraint was applied or no best
 * candidate is known. At most LIMIT_ASSUMED_NODES. 0, -EAGAIN or -ENOMEM.
 */
int choose(struct evaluation *e, const int64_t *scores, bool *chosen,
           struct cache_nodes *ret) MUST_CHECK;
