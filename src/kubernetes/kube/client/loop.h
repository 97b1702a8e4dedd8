/*
 * The thread that all requests to API servers are made on: one loop around libcurl's multi
 * interface, with timers. Several clients (kube/client/client.h), one for each API server, can
 * share a loop.
 *
 * A thread that ends something that the loop serves, such as a watch, lets the loop's thread do so
 * and waits: kube_loop_run(). After that has returned, no callback is running and none comes any
 * more.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "kube/client/timers.h"

struct kube_loop;

/* `clock` (NULL: the real one) is borrowed for the loop's life. 0, -ENOMEM, or why there is no
 * thread. */
int kube_loop_new(struct clock *clock, struct kube_loop **ret, struct err *err) MUST_CHECK;
/* All clients on it have been freed. Ends the thread. NULL is fine. */
void kube_loop_free(struct kube_loop *l);

/* Calls fn(ctx) on the loop's thread, between two callbacks, and returns when it has returned. From
 * the loop's thread: calls it at once. The caller must hold no lock that a callback takes. */
void kube_loop_run(struct kube_loop *l, void (*fn)(void *ctx), void *ctx);

/* ---- for clients only ---- */

/* Callbacks of a client on a loop. All come on the loop's thread. */
struct loop_client {
    /* Once in each round. */
    void (*round)(void *ctx);
    /* Returns the latest time of the next round. */
    int64_t (*next_ms)(void *ctx);
    void *ctx;
    struct loop_client *next; /* the loop's */
};

/* A transfer that libcurl works on; CURLOPT_PRIVATE of its handle points to it. */
struct loop_transfer {
    void *easy; /* libcurl's handle */
    /* It has ended with this CURLcode. The handle is the caller's again. On the loop's thread. */
    void (*on_end)(void *ctx, int code);
    void *ctx;
};

struct clock *loop_clock(const struct kube_loop *l);
/* Another round, soon. Any thread. */
void loop_wake(struct kube_loop *l);
bool loop_is_current_thread(const struct kube_loop *l);
/* Is libcurl calling us? Then handles must stay where they are. The loop's thread only. */
bool loop_is_transferring(const struct kube_loop *l);

/* On the loop's thread; a client leaves only in a kube_loop_run() of another one. */
void loop_join(struct kube_loop *l, struct loop_client *client);
void loop_leave(struct kube_loop *l, struct loop_client *client);
/* Call both on the loop's thread. loop_add() returns false without memory. */
bool loop_add(struct kube_loop *l, struct loop_transfer *transfer);
void loop_remove(struct kube_loop *l, struct loop_transfer *transfer);

/* Any thread. A timer that waits already forgets its first time. */
void loop_timer_start(struct kube_loop *l, const void *client, struct kube_timer *timer,
                      int64_t delay_ms);
/* The timer may be firing unless this is the loop's thread. */
void loop_timer_cancel(struct kube_loop *l, struct kube_timer *timer);
/* Fires all timers of a client, which starts no more. The loop's thread only. */
void loop_fire_all(struct kube_loop *l, const void *client);
