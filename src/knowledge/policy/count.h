/*
 * How many pods each policy is for: those that run now and that the webhook would give a part of it
 * if they were created now: policy_of_group(), less pods that may use one node only. Which
 * namespaces API servers ask the webhook about is not known here. Every replica that knows the same
 * pods counts the same.
 *
 * A round over all pods is cut into steps of a millisecond or so, so that who makes them can do
 * other things in between. What changes during a round may be counted before or after it.
 *
 * Not thread-safe.
 */
#pragma once

#include "cache/cache.h"
#include "policy/policies.h"

struct policy_count;

/* Both are borrowed. NULL when out of memory; free takes NULL. */
struct policy_count *policy_count_new(struct policy_source *policies, struct cache *cache);
void policy_count_free(struct policy_count *c);

/* One step. True: a round has ended, and the next call begins another one. A round for which there
 * is no memory is given up. */
bool policy_count_step(struct policy_count *c);
/* Pods of the policy with this name, as of the last round; -1: it was not part of one. */
int64_t policy_count_of(const struct policy_count *c, struct str name);
