/*
 * The policies in force, which every door works by: those of files and, with an API server as the
 * source, those of a watch; and, where pods are admitted, what is said of each in its status.
 *
 * Threads: all calls but known_policies_listed() belong to the main thread.
 */
#pragma once

#include "base/err.h"
#include "cache/cache.h"
#include "config/configuration.h"
#include "kube/client/client.h"

struct elector;
struct known_policies;
struct policy_source;
struct writer;

struct known_policies_options {
    const struct configuration *configuration;
    struct cache *cache;        /* borrowed until known_policies_free() */
    struct kube_client *client; /* borrowed until known_policies_stop(); NULL: no API server */
    struct writer *writer;      /* the client's; NULL likewise */
    /* Who writes the status of policies; NULL: every replica. Borrowed likewise. */
    const struct elector *elector;
};

/* Reads the files and begins to watch. *ret is set also after a failure, for the caller to stop and
 * free. NULL is fine in all other calls. */
int known_policies_start(const struct known_policies_options *options, struct known_policies **ret,
                         struct err *err) MUST_CHECK;
/* Borrowed until known_policies_free(). */
struct policy_source *known_policies_source(const struct known_policies *p);
/* Have those of the API server been listed, or has it at least been tried? Any thread. */
bool known_policies_listed(const struct known_policies *p);
/* About once a second: files that changed are read again. */
void known_policies_poll(struct known_policies *p);
/* SIGHUP: files are read at once. */
void known_policies_reload(struct known_policies *p);
/* The policies stay as they are, and may still be looked at by requests that are ending. */
void known_policies_stop(struct known_policies *p);
void known_policies_free(struct known_policies *p);
