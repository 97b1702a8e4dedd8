/*
 * The candidates of one kind, kept right from state files or by a watch of an API server, in a
 * topology of their own. For nodes with their pods there is the cache.
 *
 * Threads: candidate_store_hold() and _release() from any; a watch writes on its client's thread;
 * everything else belongs to one thread.
 */
#pragma once

#include "candidates/kinds.h"
#include "kube/client/client.h"
#include "state/file_source.h"

struct candidate_store;

/* `kind` is static. 0 or -ENOMEM. */
int candidate_store_new(const struct candidate_kind *kind, struct candidate_store **ret,
                        struct err *err) MUST_CHECK;
/* Stops it, too. NULL is fine. */
void candidate_store_free(struct candidate_store *s);

/* Takes its objects out of the files of a file_source: what they have is all there is. Registers a
 * metric. Borrowed until candidate_store_free(). */
struct file_follower *candidate_store_follower(struct candidate_store *s);
/* The same by itself. `paths` are files or folders. 0, or -errno with the file and the place in it
 * named; then it has what it had. */
int candidate_store_load(struct candidate_store *s, const char *const *paths, size_t count,
                         struct err *err) MUST_CHECK;

/* Or lists and watches them, with metrics: begins at once. `seed` is of jitter; `client` is
 * borrowed until candidate_store_stop(). 0 or -ENOMEM. */
int candidate_store_watch(struct candidate_store *s, struct kube_client *client, uint64_t seed,
                          struct err *err) MUST_CHECK;
/* Asks nothing any more, and unregisters the metrics; what is known stays. From any thread but the
 * client's. NULL is fine. */
void candidate_store_stop(struct candidate_store *s);
/* Have all been listed once, or found not to be installed, or has it at least been tried? True
 * where nothing is watched. Any thread. */
bool candidate_store_listed(const struct candidate_store *s);
/* The same, but a listing that has only been tried is none. */
bool candidate_store_synced(const struct candidate_store *s);
/* Since the API server was last heard on them; INT64_MAX: never; 0 where nothing is watched. Any
 * thread. */
int64_t candidate_store_age_ms(const struct candidate_store *s);
/* Waits until they are listed. False: no listing has ended, within `timeout_ms` or at all. From
 * any thread but the client's. */
bool candidate_store_wait(struct candidate_store *s, int64_t timeout_ms);

/* What is known now; it stands still until it is released by the same thread. */
const struct topology *candidate_store_hold(struct candidate_store *s);
void candidate_store_release(struct candidate_store *s);
