/*
 * The TopologyPolicies that are in force, read from files: a set that is replaced as a whole. Who
 * works with one holds it, and it lives until the last holder is done.
 *
 * Threads: policies_hold() and policies_release() from any; the rest from one.
 */
#pragma once

#include "base/err.h"
#include "model/policy.h"

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
/* Does any file look different from the last load, or have files come or gone? */
bool policy_source_changed(struct policy_source *s);
/* NULL is fine. Sets that are held stay. */
void policy_source_free(struct policy_source *s);
