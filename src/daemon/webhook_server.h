/*
 * The part of the daemon that API servers call: its listener, and what it works by, policies and
 * Fluid's objects. Both come from files or, with an API server as the source, from watches.
 *
 * Threads: all calls but webhook_server_settled() belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "config/configuration.h"
#include "handlers/webhook.h"
#include "kube/client/client.h"

struct elector;
struct webhook_server;

struct webhook_server_options {
    const struct configuration *configuration;
    struct cache *cache; /* borrowed until webhook_server_free() */
    /* NULL: there is no API server. Borrowed; free it between webhook_server_stop() and _free(). */
    struct kube_client *client;
    /* Who writes the status of policies; NULL: every replica. Borrowed until webhook_server_stop()
     */
    const struct elector *elector;
    struct ring *decisions; /* NULL: they are not recorded. Borrowed until webhook_server_free() */
};

/* Reads the files, begins to watch, and serves. *ret is NULL when the configuration turns the
 * webhook off, and set even after a failure otherwise. */
int webhook_server_start(const struct webhook_server_options *options, struct webhook_server **ret,
                         struct err *err) MUST_CHECK;
/* What its endpoints work with; NULL of NULL. Borrowed. */
const struct webhook *webhook_server_webhook(const struct webhook_server *w);
/* Has everything that is watched been listed once, or at least been tried? Any thread. */
bool webhook_server_settled(struct webhook_server *w);
/* Where it listens, or "off". Borrowed. */
const char *webhook_server_address(const struct webhook_server *w);
/* For http_listener_set_certificate(), until webhook_server_stop(); NULL for NULL. */
struct http_listener *webhook_server_listener(const struct webhook_server *w);
/* Where data is known to be, until webhook_server_stop(); NULL: not known. */
struct fluid_source *webhook_server_fluid(const struct webhook_server *w);
/* What is in force; NULL of NULL. Borrowed until webhook_server_free(). */
struct policy_source *webhook_server_policies(const struct webhook_server *w);
/* About once a second: policies, Fluid's objects and certificates that changed are read again. */
void webhook_server_poll(struct webhook_server *w);
/* SIGHUP: policies and Fluid's objects are read at once. */
void webhook_server_reload(struct webhook_server *w);
/* As http_listener_drain() and http_listener_stop(); may be stopped twice. NULL is fine,
 * everywhere. */
void webhook_server_drain(struct webhook_server *w);
void webhook_server_stop(struct webhook_server *w, unsigned drain_ms);
void webhook_server_free(struct webhook_server *w);
