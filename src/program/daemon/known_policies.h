/*
 * The policies in force, for all that asks one API server. They come from files and, if there is an
 * API server, from a watch too. Where pods are admitted, this also writes the status of each.
 *
 * Threads: all calls but those that say so belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "config/configuration.h"
#include "kube/client/client.h"

struct elector;
struct evenness_latest;
struct event_recorder;
struct informer_store;
struct known_policies;
struct policy_source;
struct writer;

struct known_policies_options {
    const struct configuration *configuration;
    const struct informer_store *store; /* of policy/store.h: what is watched */
    bool counted;                       /* in the metrics of policies; of one instance only */
    struct cache *cache;                /* borrowed until known_policies_free() */
    struct kube_client *client;     /* borrowed until known_policies_stop(); NULL: no API server */
    struct writer *writer;          /* of the client; NULL: no status is written */
    struct event_recorder *events;  /* likewise */
    struct evenness_latest *latest; /* of the policies' workloads; borrowed likewise */
    /* The leader writes the status of policies; NULL: every replica does. Borrowed likewise. */
    const struct elector *elector;
};

/* Reads the files and begins to watch. *ret is set also after a failure, and the caller stops and
 * frees it. NULL is fine in all other calls. */
int known_policies_start(const struct known_policies_options *options, struct known_policies **ret,
                         struct err *err) MUST_CHECK;
/* Borrowed until known_policies_free(). */
struct policy_source *known_policies_source(const struct known_policies *p);
/* Of Events about policies and workloads; NULL: none are written. Borrowed until
 * known_policies_stop(). */
struct event_recorder *known_policies_events(const struct known_policies *p);
/* Has the API server listed its policies, or failed to at least once? Any thread. */
bool known_policies_listed(const struct known_policies *p);
/* Has it listed them, and does it still know the kind? Any thread. */
bool known_policies_complete(const struct known_policies *p);
/* As often as state.pollInterval says: files that changed are read again. */
void known_policies_poll(struct known_policies *p);
/* SIGHUP: files are read at once. */
void known_policies_reload(struct known_policies *p);
/* The policies stay as they are: requests that are ending may still read them. */
void known_policies_stop(struct known_policies *p);
void known_policies_free(struct known_policies *p);
