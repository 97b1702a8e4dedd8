/*
 * TopologyPolicies as they were decoded together: those of all files, or one of an API server. A
 * batch does not change and is shared by the sets (policy/policies.h) that it is part of.
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
 * All files below `paths`: TopologyPolicies and Lists of them, nothing else, no two with one name.
 * *ret_seen is a fingerprint of the files, set before they are read; 0 when they could not be
 * listed. 0, or -errno with a sentence that names file and path.
 */
int policy_batch_read(const char *const *paths, size_t count, struct policy_batch **ret,
                      uint64_t *ret_seen, struct err *err) MUST_CHECK;
/*
 * One policy as an API server sends it; the text is copied. One that cannot be decoded, for
 * instance because it is of a newer version, or is larger than LIMIT_POLICY_BYTES, is a policy that
 * cannot work. 0, -EINVAL (not even a name) or -ENOMEM.
 */
int policy_batch_decode(struct str object, struct policy_batch **ret, struct err *err) MUST_CHECK;

struct policy_batch *policy_batch_hold(struct policy_batch *b);
/* NULL is fine. */
void policy_batch_release(struct policy_batch *b);

/* What the object said of itself, for one that policy_batch_decode() made. Valid while held. */
const struct policy_status *policy_batch_status(const struct policy_batch *b);
/* In no order; valid while held. None of NULL. */
const struct policy *policy_batch_items(const struct policy_batch *b, uint32_t *ret_count);
