/*
 * Notices, for all watches of one client, when an API server stops answering (or cannot be asked)
 * and when it answers again. Each of these two changes is logged once, not once for each watch.
 *
 * A request without an answer is part of an outage only if the server answered nothing else since
 * the request was sent. An outage is logged when it has lasted for 3 seconds: until then another
 * request may still be answered, and then only this watch has failed. The next failure of this
 * watch is logged by itself.
 *
 * The first good answer after an outage of at least 10 seconds makes all watches of the outage try
 * again, each after a random time of up to a second, so that they do not dial at the same moment.
 * This only shortens their present wait: after another failure a watch waits for longer, as usual.
 * A watch is woken at most once in 10 seconds; this time doubles with each wake without success, up
 * to 80 seconds.
 *
 * Threads: everything is called on the client's thread (kube/client/client.h).
 */
#pragma once

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

/* A watch that failed because the server did not answer. The owner sets `wake` and `ctx`, calls
 * list_init() for `link`, and calls outage_leave() before the struct ends. */
struct outage_waiter {
    struct list link;
    /* Called when the server answers again: try after delay_ms. The waiter has left the outage
     * already. */
    void (*wake)(void *ctx, int64_t delay_ms);
    void *ctx;
    int64_t woken_ms; /* when it was woken last; 0: never */
    unsigned wakes;   /* number of wakes since the watch's last success */
    bool alone;       /* the server answered other requests when this watch failed: log the watch's
                         next failure */
};

struct outage {
    const char *server, *role; /* borrowed, for logs; `role` may be NULL */
    struct list waiters;
    unsigned count;      /* number of waiters */
    int64_t began_ms;    /* when the first request failed */
    int64_t logged_ms;   /* when the last line was logged; INT64_MIN: never */
    int64_t answered_ms; /* when the last good answer came; INT64_MIN: never */
    bool logged;         /* this outage has been logged */
    uint64_t random;
};

void outage_init(struct outage *o, const char *server, const char *role);

struct outage_failure {
    const char *resource; /* resource of the watch */
    const char *error;    /* error of the request */
    int64_t asked_ms;     /* when the request was sent */
    bool unasked;         /* not sent: no credentials, or a certificate that is not trusted */
};
/* Adds a watch to the outage; the first one begins the outage. A watch that is part of the outage
 * already stays in it. Returns false if the failure is only the watch's own: then the caller logs
 * it. */
bool outage_join(struct outage *o, struct outage_waiter *w, int64_t now_ms,
                 const struct outage_failure *failure);
/* Does nothing for a waiter that is not part of the outage. */
void outage_leave(struct outage *o, struct outage_waiter *w);
/* A good answer has come: ends the outage, logs its end and wakes all waiters. Cheap without an
 * outage. */
void outage_end(struct outage *o, int64_t now_ms);
/* Call it if the good answer is this watch's own: does the same as outage_end(), and counts the
 * watch's wakes from 0 again. */
void outage_succeed(struct outage *o, struct outage_waiter *w, int64_t now_ms);
