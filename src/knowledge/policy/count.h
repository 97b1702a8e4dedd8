/*
 * Counts each policy's pods: running pods that would get a part of the policy from the webhook if
 * they were created now (policy_of_group()), without pods that may use only one node. The count
 * ignores for which namespaces API servers call the webhook. Replicas with the same pods get the
 * same numbers.
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

/* Makes one step. Returns true at the end of a round; the next call begins another one. Gives up a
 * round without memory. */
bool policy_count_step(struct policy_count *c);
/* Returns the policy's pods in the last round; -1: the round did not have the policy, or had
 * another generation of it. */
int64_t policy_count_of(const struct policy_count *c, const struct policy *policy);
