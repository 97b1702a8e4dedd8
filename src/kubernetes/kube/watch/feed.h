/*
 * One watched kind: a row of the table of kinds (model/kinds.h) that is listed and watched, with
 * its metrics. The sink is the caller's.
 */
#pragma once

#include "kube/watch/watch.h"
#include "kube/watch/watch_metrics.h"
#include "model/kinds.h"

/* Zeroed: not started. Stays where it is from feed_start() to feed_stop(). */
struct feed {
    struct kube_watch *watch; /* owned; NULL: not started */
    struct watch_metrics metrics;
    char path[KIND_PATH_SIZE]; /* the watch borrows it */
};

struct feed_options {
    const struct watched_kind *kind;
    struct kube_client *client; /* borrowed until feed_stop() */
    struct clock *clock;        /* borrowed likewise; NULL: the real clock */
    struct reflector_sink sink; /* called on the client's thread */
    uint64_t seed;              /* of jitter */
    bool unmeasured;            /* no metrics: one of many feeds of its kind */
    bool required;              /* an API server that does not know the kind is an error, even where
                                   the kind is optional otherwise */
};

/* Begins at once. Registers metrics with the kind's name as `resource`, unless unmeasured. Returns
 * 0; or -ENOMEM, and then the feed is not started. */
int feed_start(struct feed *f, const struct feed_options *options, struct err *err) MUST_CHECK;
/* Stops the watch as kube_watch_free() does, from the same threads, and unregisters the metrics.
 * The feed may be started again. Does nothing for a feed that is not started. */
void feed_stop(struct feed *f);

bool feed_started(const struct feed *f);
/* Returns false if the feed is not started. Any thread. */
bool feed_stats(const struct feed *f, struct reflector_stats *ret);
/* Has the kind been listed once, or found not to be installed, or has a listing failed? Then
 * waiting longer does not help. True, too, for a feed that is not started. Any thread. */
bool feed_listed(const struct feed *f);
/* The same, but false after a failed listing: we may not know all objects of the kind. Any thread.
 */
bool feed_synced(const struct feed *f);
/* The same, but false if the kind was listed and is not installed any more: its definition may be
 * gone, or a proxy may answer 404 while the API server is away. Any thread. */
bool feed_complete(const struct feed *f);
