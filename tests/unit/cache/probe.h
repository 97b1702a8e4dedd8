/*
 * One-line questions to a cache: each opens a view of its own. A refusal fails the test.
 */
#pragma once

#include "unit/cluster_builder.h"

/* The count of a counter at a known node; TOPOLOGY_NONE when the node is not known. */
uint32_t probe_count(struct cache *cache, const char *namespace, const struct selector *selector,
                     const char *node);
/* The parts of assumed pods that it counts there, CACHE_POD a whole one. */
int64_t probe_assumed(struct cache *cache, const char *namespace, const struct selector *selector,
                      const char *node);
/* The counter summed over all slots, those of unknown nodes included. */
uint64_t probe_total(struct cache *cache, const char *namespace, const struct selector *selector);

/* The node's domain under a topology key; TOPOLOGY_NONE: no label, or no such node. */
uint32_t probe_domain(struct cache *cache, const char *topology_key, const char *node);

/* The node's CANDIDATE_* flags for this pod; 0 when it is not known. */
uint8_t probe_flags(struct cache *cache, const struct pod *pod, const char *node);

/* cache_pod_find(); false: not known. */
bool probe_pod(struct cache *cache, const struct object_meta *meta, struct cache_pod *ret);
