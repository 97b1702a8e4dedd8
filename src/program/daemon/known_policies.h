/*
 * The policies in force, for all parts that use one API server. They come from files and, if there
 * is an API server, also from a watch. If pods are admitted, this also writes the policies' status.
 *
 * Threads: all calls belong to the main thread, except where a comment says "Any thread".
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
    const struct informer_store *store; /* the watched kind, a store of policy/store.h */
    bool counted; /* the metrics about policies are about this instance; true for one instance only
                   */
    struct cache *cache;            /* borrowed until known_policies_free() */
    struct kube_client *client;     /* borrowed until known_policies_stop(); NULL: no API server */
    struct writer *writer;          /* the client's writer; NULL: no status is written */
    struct event_recorder *events;  /* the client's recorder; NULL: no Events */
    struct evenness_latest *latest; /* evenness of the policies' workloads; borrowed likewise */
    /* The leader writes the status of policies; NULL: every replica writes. Borrowed until
     * known_policies_stop(). */
    const struct elector *elector;
};

/* Reads the files and starts to watch. *ret is set also after a failure, and the caller stops and
 * frees it. The other functions accept NULL. */
int known_policies_start(const struct known_policies_options *options, struct known_policies **ret,
                         struct err *err) MUST_CHECK;
/* Returns the source of policies, borrowed until known_policies_free(). */
struct policy_source *known_policies_source(const struct known_policies *p);
/* Returns the recorder of Events about policies and workloads; NULL: no Events are written.
 * Borrowed until known_policies_stop(). */
struct event_recorder *known_policies_events(const struct known_policies *p);
/* Has the API server listed its policies, or failed at least once to do so? Any thread. */
bool known_policies_listed(const struct known_policies *p);
/* Has the API server listed its policies, and does it still have the kind? Any thread. */
bool known_policies_complete(const struct known_policies *p);
/* Call every state.pollInterval: reads changed files again. */
void known_policies_poll(struct known_policies *p);
/* For SIGHUP: reads files at once. */
void known_policies_reload(struct known_policies *p);
/* Stops the watch. The policies stay, because requests that are ending may still read them. */
void known_policies_stop(struct known_policies *p);
void known_policies_free(struct known_policies *p);
