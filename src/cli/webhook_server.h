/*
 * The part of the daemon that API servers call: its listener, and the policies it works by.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "cli/configuration.h"

struct webhook_server;

/* Reads the policies and, from state files, Fluid's objects, and serves. *ret is NULL when the
 * configuration turns it off. `cache` is borrowed. */
int webhook_server_start(const struct configuration *configuration, struct cache *cache,
                         struct webhook_server **ret, struct err *err) MUST_CHECK;
/* Where it listens, or "off". Borrowed. */
const char *webhook_server_address(const struct webhook_server *w);
/* For http_listener_set_certificate(), until webhook_server_stop(); NULL for NULL. */
struct http_listener *webhook_server_listener(const struct webhook_server *w);
/* Where data is known to be, until webhook_server_stop(); NULL: not known. */
struct fluid_source *webhook_server_fluid(const struct webhook_server *w);
/* About once a second: policies, Fluid's objects and certificates that changed are read again. */
void webhook_server_poll(struct webhook_server *w);
/* SIGHUP: policies and Fluid's objects are read at once. */
void webhook_server_reload(struct webhook_server *w);
/* As http_listener_drain() and http_listener_stop(); the latter frees it. NULL is fine, everywhere.
 */
void webhook_server_drain(struct webhook_server *w);
void webhook_server_stop(struct webhook_server *w, unsigned drain_ms);
