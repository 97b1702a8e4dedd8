/*
 * Findings about a pod's node affinity and constraints together with the nodes of a cluster: labels
 * and keys that no node has, keys with a single domain, domains that keep other domains from
 * getting pods, volumes that leave only full domains.
 *
 * Threads: any; takes the cache's read lock.
 */
#pragma once

#include "engine/engine.h"
#include "findings/findings.h"

/* `filter` is the filter's result for the pod, made with options.reports; NULL: none. `spec` is the
 * path of the pod's spec. Without nodes there are no findings. Returns 0, -E2BIG (out of steps) or
 * -ENOMEM; the findings so far stay. */
int findings_of_nodes(struct cache *cache, const struct pod *pod,
                      const struct filter_result *filter, struct str spec, struct findings *f);
