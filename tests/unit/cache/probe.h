/*
 * Questions to a cache in one line: each function opens its own view. A refusal fails the test.
 */
#pragma once

#include "unit/cluster_builder.h"

/* Returns the count of a counter at a known node; TOPOLOGY_NONE if the node is not known. */
uint32_t probe_count(struct cache *cache, const char *namespace, const struct selector *selector,
                     const char *node);
/* Returns the assumed pods that the counter counts at the node, in parts; CACHE_POD parts are one
 * pod. */
int64_t probe_assumed(struct cache *cache, const char *namespace, const struct selector *selector,
                      const char *node);
/* Returns the sum of the counter over all slots, also over the slots of unknown nodes. */
uint64_t probe_total(struct cache *cache, const char *namespace, const struct selector *selector);

/* Returns the node's domain for a topology key; TOPOLOGY_NONE if the label or the node is missing.
 */
uint32_t probe_domain(struct cache *cache, const char *topology_key, const char *node);

/* Returns the node's CANDIDATE_* flags for this pod; 0 if the node is not known. */
uint8_t probe_flags(struct cache *cache, const struct pod *pod, const char *node);

/* Calls cache_pod_find(). Returns false if the pod is not known. */
bool probe_pod(struct cache *cache, const struct object_meta *meta, struct cache_pod *ret);
