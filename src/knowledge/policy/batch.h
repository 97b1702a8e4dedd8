/*
 * TopologyPolicies that were decoded together: the policies of all files, or one policy of an API
 * server. A batch does not change; several sets (policy/policies.h) may share it.
 *
 * Threads: policy_batch_hold() and policy_batch_release() from any.
 */
#pragma once

#include "base/err.h"
#include "model/policy.h"
#include "policy/status.h"

#include <stddef.h>

struct policy_batch;

/*
 * Reads all files below `paths`: TopologyPolicies and Lists of TopologyPolicies, nothing else; no
 * two policies may have the same name. *ret_seen is a fingerprint of the files, taken before
 * reading; 0 when they could not be listed. Returns 0 or -errno; the sentence names file and path.
 */
int policy_batch_read(const char *const *paths, size_t count, struct policy_batch **ret,
                      uint64_t *ret_seen, struct err *err) MUST_CHECK;
/*
 * Decodes a policy as an API server sends it; the text is copied. A policy that cannot be decoded,
 * for instance because it is newer or larger than LIMIT_POLICY_BYTES, becomes a policy that cannot
 * work. Returns 0, -EINVAL (the policy has not even a name) or -ENOMEM.
 */
int policy_batch_decode(struct str object, struct policy_batch **ret, struct err *err) MUST_CHECK;

struct policy_batch *policy_batch_hold(struct policy_batch *b);
/* NULL is fine. */
void policy_batch_release(struct policy_batch *b);

/* Returns the object's status, for a batch of policy_batch_decode(). Valid while held. */
const struct policy_status *policy_batch_status(const struct policy_batch *b);
/* Returns the policies, in no order; valid while held. A batch that is NULL has no items. */
const struct policy *policy_batch_items(const struct policy_batch *b, uint32_t *ret_count);
