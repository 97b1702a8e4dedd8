/*
 * Notices that an API server does not answer, or cannot be asked, and that it answers again, for
 * all watches of one client. There is one log line for each of the two, not one for each watch.
 *
 * A request without an answer is part of an outage only if the server answered nothing else since
 * the request was sent. The first line comes when an outage has lasted for 3 seconds: the answer to
 * another request may still come, and then only this watch fails. Its next failure is logged by
 * itself.
 *
 * The first good answer after 10 seconds makes all watches of the outage try again; a random time
 * of up to a second keeps them from dialing at the same moment. This only shortens their wait: the
 * next failure waits for longer, as usual. A watch is woken at most once in 10 seconds, and in
 * twice that time after each wake without success, up to 80 seconds.
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
    unsigned wakes;   /* since its last success */
    bool alone;       /* the server answered others when it failed: it logs its next failure */
};

struct outage {
    const char *server, *role; /* borrowed, for logs; `role` may be NULL */
    struct list waiters;
    unsigned count;      /* of waiters */
    int64_t began_ms;    /* when the first request failed */
    int64_t logged_ms;   /* when the last line was logged; INT64_MIN: never */
    int64_t answered_ms; /* when the last good answer came; INT64_MIN: never */
    bool logged;         /* this outage has a line */
    uint64_t random;
};

void outage_init(struct outage *o, const char *server, const char *role);

struct outage_failure {
    const char *resource; /* of the watch */
    const char *error;    /* of the request */
    int64_t asked_ms;     /* when it was sent */
    bool unasked; /* we could not ask: no credentials, or a certificate that is not trusted */
};
/* Adds a watch to the outage; the first one begins the outage. A watch that is part of it stays.
 * Returns false if the failure is only the watch's own: then the caller logs it. */
bool outage_join(struct outage *o, struct outage_waiter *w, int64_t now_ms,
                 const struct outage_failure *failure);
/* Does nothing for a waiter that is not part of the outage. */
void outage_leave(struct outage *o, struct outage_waiter *w);
/* A good answer has come: ends the outage, logs its end and wakes all waiters. Cheap without an
 * outage. */
void outage_end(struct outage *o, int64_t now_ms);
/* The good answer is the watch's own: as outage_end(), and its wakes count anew. */
void outage_succeed(struct outage *o, struct outage_waiter *w, int64_t now_ms);
