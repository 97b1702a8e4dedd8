/*
 * The thread that makes all requests to API servers: one loop around libcurl's multi interface,
 * with timers. Several clients (kube/client/client.h), one for each API server, can share a loop.
 *
 * To end, for example, a watch, another thread uses kube_loop_run(): the loop's thread ends the
 * watch, and the caller waits. After the return no callback of the watch is running, and no more
 * comes.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "kube/client/timers.h"

struct kube_loop;

/* `clock` (NULL: the real clock) is borrowed for the loop's life. Returns 0, -ENOMEM, or the error
 * of starting the thread. */
int kube_loop_new(struct clock *clock, struct kube_loop **ret, struct err *err) MUST_CHECK;
/* Ends the thread. All clients on the loop must be freed before. NULL is fine. */
void kube_loop_free(struct kube_loop *l);

/* Calls fn(ctx) on the loop's thread, between two callbacks, and waits until fn has returned. A
 * caller on the loop's thread calls fn at once. The caller must hold no lock that a callback takes.
 */
void kube_loop_run(struct kube_loop *l, void (*fn)(void *ctx), void *ctx);

/* ---- for clients only ---- */

/* Callbacks of a client on a loop. All come on the loop's thread. */
struct loop_client {
    /* Called once in each round. */
    void (*round)(void *ctx);
    /* Returns the latest time of the next round. */
    int64_t (*next_ms)(void *ctx);
    void *ctx;
    struct loop_client *next; /* for the loop only */
};

/* A transfer that libcurl works on; CURLOPT_PRIVATE of its handle points to it. */
struct loop_transfer {
    void *easy; /* libcurl's handle */
    /* The transfer has ended with this CURLcode, and the loop uses the handle no more. Called on
     * the loop's thread. */
    void (*on_end)(void *ctx, int code);
    void *ctx;
};

struct clock *loop_clock(const struct kube_loop *l);
/* Makes the loop do another round soon. Any thread. */
void loop_wake(struct kube_loop *l);
bool loop_is_current_thread(const struct kube_loop *l);
/* Is libcurl in a callback? Then no handle may be added or removed. The loop's thread only. */
bool loop_is_transferring(const struct kube_loop *l);

/* Call both on the loop's thread; loop_leave() only in a kube_loop_run(). */
void loop_join(struct kube_loop *l, struct loop_client *client);
void loop_leave(struct kube_loop *l, struct loop_client *client);
/* Call both on the loop's thread. loop_add() returns false without memory. */
bool loop_add(struct kube_loop *l, struct loop_transfer *transfer);
void loop_remove(struct kube_loop *l, struct loop_transfer *transfer);

/* Any thread. For a timer that waits already, the new time replaces the old one. */
void loop_timer_start(struct kube_loop *l, const void *client, struct kube_timer *timer,
                      int64_t delay_ms);
/* On another thread than the loop's, the timer may still be firing after the return. */
void loop_timer_cancel(struct kube_loop *l, struct kube_timer *timer);
/* Fires all timers of a client that starts no more timers. The loop's thread only. */
void loop_fire_all(struct kube_loop *l, const void *client);
