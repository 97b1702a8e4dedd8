/*
 * Notices that an API server does not answer, and that it answers again, for all watches of one
 * client. There is one log line for each of the two, not one for each watch. The first good answer
 * wakes all watches that wait to try again; a random time of up to a second keeps them from dialing
 * at the same moment.
 *
 * A watch is woken at most once in ten seconds: with a server that answers some requests and no
 * watch, the usual back-off counts.
 *
 * A request without an answer is part of an outage only if the server answered nothing else since
 * the request was sent. Otherwise the server lives, and only this request fails, for example a
 * listing that is too slow: then nothing is woken and the usual back-off counts.
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
    /* The server answers again: try after delay_ms. The waiter has left the outage before. */
    void (*wake)(void *ctx, int64_t delay_ms);
    void *ctx;
    int64_t woken_ms; /* when it was woken last; 0: never */
};

struct outage {
    const char *server, *role; /* borrowed, for logs; `role` may be NULL */
    struct list waiters;
    unsigned count;      /* of waiters */
    int64_t began_ms;    /* when the first request failed */
    int64_t logged_ms;   /* when the last line was logged */
    int64_t answered_ms; /* when the last good answer came; INT64_MIN: never */
    uint64_t random;
};

void outage_init(struct outage *o, const char *server, const char *role);

struct outage_failure {
    const char *resource; /* of the watch */
    const char *error;    /* of the request */
    int64_t asked_ms;     /* when it was sent */
};
/* Adds a watch to the outage; the first one begins the outage, and logs it. A watch that is part of
 * it stays. Returns false if the server answers other requests: then the caller logs the failure.
 */
bool outage_join(struct outage *o, struct outage_waiter *w, int64_t now_ms,
                 const struct outage_failure *failure);
/* Does nothing for a waiter that is not part of the outage. */
void outage_leave(struct outage *o, struct outage_waiter *w);
/* A good answer has come: ends the outage, logs its end and wakes all waiters. Cheap without an
 * outage. */
void outage_end(struct outage *o, int64_t now_ms);
