/*
 * Where the daemon's cache gets its contents from: files, or an API server. One of them is running.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "cache/file_source.h"
#include "config/configuration.h"

struct kube_access;
struct kube_client;
struct source;

/* Prepares what the configuration names; nothing is read yet. */
int source_new(const struct configuration *configuration, struct cache *cache, struct source **ret,
               struct err *err) MUST_CHECK;
/* With files: hands them to somebody else, too; see file_source_follow(). Otherwise nothing. Before
 * source_start(). */
void source_follow(struct source *s, struct file_follower *follower);
/* Files are read now, and a bad one is an error. An API server is asked from now on, for as long as
 * it takes. */
int source_start(struct source *s, struct err *err) MUST_CHECK;
/* After source_start(): until the cache is ready. -ETIMEDOUT when that takes longer. */
int source_wait(struct source *s, int64_t timeout_ms, struct err *err) MUST_CHECK;
/* About once a second: reads files that changed, notes how old what is known is. */
void source_poll(struct source *s);
/* SIGHUP: reads files at once. */
void source_reload(struct source *s);
/* NULL is fine. */
void source_free(struct source *s);

/* What the API server is reached with; without meaning with files. Borrowed. */
const struct kube_access *source_access(const struct source *s);
/* The API server's client, NULL with files. Borrowed. */
struct kube_client *source_client(struct source *s);
