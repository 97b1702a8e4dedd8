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

/* Prepares to read the configuration's state files or to watch an API server; reads nothing yet.
 * `client` is the API server's, borrowed until source_free(); NULL: use files, or nothing. */
int source_new(const struct configuration *configuration, struct cache *cache,
               struct kube_client *client, struct source **ret, struct err *err) MUST_CHECK;
/* Adds a follower of the state files, see file_source_follow(). Call before source_start(). Does
 * nothing if the source is an API server. */
void source_follow(struct source *s, struct file_follower *follower);
/* Reads files at once; a bad file is an error. With an API server, starts to watch it, and retries
 * until it answers. */
int source_start(struct source *s, struct err *err) MUST_CHECK;
/* Logs a warning if pods are served from files without any node. Call after source_start(); later
 * readings of files check this by themselves. */
void source_warn_of_no_nodes(const struct source *s);
/* Waits until the cache is ready; -ETIMEDOUT if it takes longer. Call after source_start(). */
int source_wait(struct source *s, int64_t timeout_ms, struct err *err) MUST_CHECK;
/* Updates the age of the cache's data. Call about once a second. */
void source_poll(struct source *s);
/* Reads changed files. Call every state.pollInterval. */
void source_poll_files(struct source *s);
/* For SIGHUP: reads files at once. */
void source_reload(struct source *s);
/* Stops all watches. NULL is fine. */
void source_free(struct source *s);
