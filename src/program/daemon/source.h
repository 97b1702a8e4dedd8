/*
 * The source of the daemon's cache: state files or an API server, never both, or nothing.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "config/configuration.h"
#include "state/file_source.h"

struct kube_client;
struct source;

/* Prepares the state files of the configuration, or to watch an API server, and reads nothing yet.
 * `client` is the API server's, borrowed until source_free(); NULL: there are files, or nothing is
 * to be known. */
int source_new(const struct configuration *configuration, struct cache *cache,
               struct kube_client *client, struct source **ret, struct err *err) MUST_CHECK;
/* Before source_start(): gives the state files to `follower`, too; see file_source_follow(). Does
 * nothing if the source is an API server. */
void source_follow(struct source *s, struct file_follower *follower);
/* Reads files at once; a bad file is an error. An API server is asked from now on, again and again
 * until it answers. */
int source_start(struct source *s, struct err *err) MUST_CHECK;
/* After source_start(): logs a warning if files were read for pods that have not one node in them.
 * Those that are read later are looked at, too. */
void source_warn_of_no_nodes(const struct source *s);
/* After source_start(): waits until the cache is ready. -ETIMEDOUT if that takes longer. */
int source_wait(struct source *s, int64_t timeout_ms, struct err *err) MUST_CHECK;
/* About once a second: updates the age of the cache's data. */
void source_poll(struct source *s);
/* As often as state.pollInterval says: reads files that changed. */
void source_poll_files(struct source *s);
/* SIGHUP: reads files at once. */
void source_reload(struct source *s);
/* Watches nothing any more. NULL is fine. */
void source_free(struct source *s);
