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
    struct clock *clock;        /* likewise; NULL: the real one */
    struct reflector_sink sink; /* called on the client's thread */
    uint64_t seed;              /* of jitter */
    bool unmeasured;            /* no metrics: one of many feeds of its kind */
    bool required;              /* an API server that does not know the kind is an error, even where
                                   the kind is optional otherwise */
};

/* Begins at once. Registers metrics with the kind's name as `resource`, unless unmeasured. 0 or
 * -ENOMEM; then the feed is not started. */
int feed_start(struct feed *f, const struct feed_options *options, struct err *err) MUST_CHECK;
/* Stops the watch as kube_watch_free() does, from the same threads, and unregisters the metrics.
 * The feed is not started then, and may be started again. One that is not started is fine. */
void feed_stop(struct feed *f);

bool feed_started(const struct feed *f);
/* False: it is not started. Any thread. */
bool feed_stats(const struct feed *f, struct reflector_stats *ret);
/* Has the kind been listed once, or found not to be installed, or has it at least been tried?
 * Waiting longer would not help then. A feed that is not started waits for nothing. Any thread. */
bool feed_listed(const struct feed *f);
/* The same, but one that has been tried and failed is not synced: what is known of the kind may be
 * less than there is. Any thread. */
bool feed_synced(const struct feed *f);
/* The same, but one that has been listed and is not installed any more is not complete: so says an
 * API server whose definition of it is gone, and a proxy in front of one that is away. Any thread.
 */
bool feed_complete(const struct feed *f);
