/*
 * The TopologyPolicies in force, of files and of an API server. They are a set that is replaced as
 * a whole. Users hold a set, and it lives until the last holder releases it.
 *
 * If a file and the API server have policies of the same name, the API server's policy counts; the
 * file's policy cannot work, and its `problem` has the reason.
 *
 * Threads: policies_hold() and policies_release() from any; one thread uses the functions about
 * files, and one thread, perhaps another, policy_live_*().
 */
#pragma once

#include "base/err.h"
#include "model/policy.h"
#include "policy/status.h"
#include "policy/tallies.h"

#include <stddef.h>

struct policies;
struct policy_source;

/* Returns a set, never NULL; it is empty before the first load and without files. The caller must
 * release it. */
struct policies *policies_hold(struct policy_source *s);
void policies_release(struct policies *held);
/* Returns the policies, sorted; valid while `held` is held. */
const struct policy *policies_items(const struct policies *held, uint32_t *ret_count);

/* `paths` are files or folders, and are copied; the list may be empty. Returns 0 or -ENOMEM. */
int policy_source_new(const char *const *paths, size_t count, struct policy_source **ret,
                      struct err *err) MUST_CHECK;
/*
 * Reads all files again. Documents must be TopologyPolicies and Lists of TopologyPolicies, and no
 * two policies may have the same name. Policies that cannot work (policy->problem) are part of the
 * set. Returns 0, or -errno, which leaves the set as it was; the sentence names file and path.
 */
int policy_source_load(struct policy_source *s, struct err *err) MUST_CHECK;
/* Returns the notes about evasions, by policy; they live as long as the source. Any thread. */
struct policy_tallies *policy_source_tallies(struct policy_source *s);
/* Has any file changed, appeared or gone since the last load? */
bool policy_source_changed(struct policy_source *s);
/* NULL is fine. Sets that are held stay. */
void policy_source_free(struct policy_source *s);

/*
 * Policies of an API server, as JSON. During a listing the set in force stays as it was: if some
 * policies were missing, a pod could get the wrong one; the end of the listing removes policies
 * that it did not apply. Outside of listings every change is in force at once.
 *
 * A policy that cannot be decoded cannot work, see policy_batch_decode(). Each returns 0, -EINVAL
 * (no name), -E2BIG (LIMIT_POLICIES) or -ENOMEM, which leave the set in force as it was. An
 * informer calls them (policy/store.h).
 */
void policy_live_begin(struct policy_source *s);
int policy_live_apply(struct policy_source *s, struct str object, struct err *err) MUST_CHECK;
/* An unknown name is no error. */
int policy_live_remove(struct policy_source *s, struct str name, struct err *err) MUST_CHECK;
int policy_live_end(struct policy_source *s, struct err *err) MUST_CHECK;
/* Call it if the listing failed. Forgets policies that only this listing has shown. The set in
 * force stays until a listing ends. */
void policy_live_abort(struct policy_source *s);
/* Call it before the functions above: they call `fn`, on their thread, whenever they put another
 * set in force. */
void policy_live_on_change(struct policy_source *s, void (*fn)(void *ctx), void *ctx);

/* Notes about a policy that are not in its status; they stay with the policy's name until the
 * policy is removed. */
struct policy_note {
    int64_t written_ms;  /* when its status was written last; INT64_MIN at first */
    unsigned unresolved; /* bits of the conditions that were bad and have not been good since; 0 at
                            first */
};

/* Calls `fn` for each policy of the API server, ordered by name, until it returns false. Policies
 * do not change meanwhile, so it must be quick. Any thread. */
typedef bool policy_live_fn(void *ctx, const struct policy *policy,
                            const struct policy_status *status, struct policy_note *note);
void policy_live_each(struct policy_source *s, policy_live_fn *fn, void *ctx);
