/*
 * Counts each policy's pods: the running pods that would get a part of the policy from the webhook
 * if they were created now (policy_of_group()). Pods that may use only one node do not count. The
 * count assumes that API servers call the webhook for all namespaces. Replicas with the same pods
 * get the same numbers.
 *
 * A round over all pods is split into steps of about a millisecond, so that the caller can work on
 * other things in between. A change during a round counts in this round or in the next.
 *
 * Not thread-safe.
 */
#pragma once

#include "cache/cache.h"
#include "policy/policies.h"

struct policy_count;

/* Borrows both. Returns NULL without memory; free accepts NULL. */
struct policy_count *policy_count_new(struct policy_source *policies, struct cache *cache);
void policy_count_free(struct policy_count *c);

/* Makes one step. Returns true at the end of a round; the next call begins another round. Gives up
 * the round if memory runs out. */
bool policy_count_step(struct policy_count *c);
/* Returns the number of the policy's pods in the last round; -1: the round did not have this
 * generation of the policy. */
int64_t policy_count_of(const struct policy_count *c, const struct policy *policy);
