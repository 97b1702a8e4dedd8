/*
 * The TopologyPolicies that are in force: those of files together with those of an API server. They
 * are a set that is replaced as a whole. Who works with one holds it, and it lives until the last
 * holder is done.
 *
 * Where a file and the API server have a policy of one name, the API server's counts; the other is
 * one that cannot work, and says why.
 *
 * Threads: policies_hold() and policies_release() from any; files belong to one thread, and
 * policy_live_*() to one, perhaps another.
 */
#pragma once

#include "base/err.h"
#include "model/policy.h"
#include "policy/status.h"
#include "policy/tallies.h"

#include <stddef.h>

struct policies;
struct policy_source;

/* Never NULL; empty before the first load and without files. Owned until released. */
struct policies *policies_hold(struct policy_source *s);
void policies_release(struct policies *held);
/* Sorted; valid while held. */
const struct policy *policies_items(const struct policies *held, uint32_t *ret_count);

/* `paths`, files or folders, are copied; none is fine. 0 or -ENOMEM. */
int policy_source_new(const char *const *paths, size_t count, struct policy_source **ret,
                      struct err *err) MUST_CHECK;
/*
 * Reads all files anew. Documents are TopologyPolicies and Lists of them, nothing else, and no two
 * have one name. Policies that cannot work (policy->problem) are part of the set. 0, or -errno with
 * a sentence that names file and path: then the set stays what it was.
 */
int policy_source_load(struct policy_source *s, struct err *err) MUST_CHECK;
/* What became of reviews, by policy. Lives as long as the source; any thread. */
struct policy_tallies *policy_source_tallies(struct policy_source *s);
/* Does any file look different from the last load, or have files come or gone? */
bool policy_source_changed(struct policy_source *s);
/* NULL is fine. Sets that are held stay. */
void policy_source_free(struct policy_source *s);

/*
 * Policies of an API server, as its JSON. Between the beginning and the end of a listing the set in
 * force stays what it was, for of several policies that match a pod only one is right; what was not
 * applied in between is gone then. Outside of listings every change is in force at once.
 *
 * One that cannot be decoded is a policy that cannot work, see policy_batch_decode(). 0, -EINVAL
 * (no name), -E2BIG (LIMIT_POLICIES) or -ENOMEM; then the set in force stays what it was. An
 * informer does this (policy/store.h).
 */
void policy_live_begin(struct policy_source *s);
int policy_live_apply(struct policy_source *s, struct str object, struct err *err) MUST_CHECK;
/* One that is not there is no error. */
int policy_live_remove(struct policy_source *s, struct str name, struct err *err) MUST_CHECK;
int policy_live_end(struct policy_source *s, struct err *err) MUST_CHECK;
/* The listing has no end: what no other has shown is forgotten. The set in force stays what it was
 * until one ends. */
void policy_live_abort(struct policy_source *s);
/* Before any of these: `fn` is called whenever they put another set into force, on their thread. */
void policy_live_on_change(struct policy_source *s, void (*fn)(void *ctx), void *ctx);

/* Calls `fn` for each policy of the API server, ordered by name, until it says false. Policies do
 * not change meanwhile, so it must be quick. `*note` is a number that it may keep for each name,
 * INT64_MIN at first. Any thread. */
typedef bool policy_live_fn(void *ctx, const struct policy *policy,
                            const struct policy_status *status, int64_t *note);
void policy_live_each(struct policy_source *s, policy_live_fn *fn, void *ctx);
