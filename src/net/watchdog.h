/*
 * Absolute deadlines for connections. libmicrohttpd's own timeout starts anew with every byte, so a
 * client that sends one byte a second keeps a connection for ever; here a deadline is a point in
 * time, and a connection that is overdue is shut down whatever it does.
 *
 * Threads: every function may be called from any thread. One thread of its own sleeps until the
 * earliest deadline; it is woken only when a deadline before that one appears, so neither idle
 * connections nor busy ones cost it anything.
 *
 * Closing: the watchdog calls shutdown(2), never close(2); the owner of the descriptor then sees
 * the end of the stream and closes as usual. The owner calls watchdog_forget() before it closes,
 * and both happen under one mutex, so a descriptor number that was given to somebody else is never
 * shut down.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* One per connection, inside the owner's struct. All fields belong to the watchdog. */
struct watchdog_entry {
    struct watchdog_entry *next, **link; /* link: what points here; NULL: not watched */
    int fd;
    int64_t deadline_ms; /* of the watchdog's clock */
};

struct watchdog;

/* Starts the thread. `on_close` (may be NULL) is called for every connection shut down, under the
 * watchdog's mutex: it must only count. 0, -ENOMEM, or the errno of starting a thread. */
int watchdog_start(struct clock *clock, void (*on_close)(void *ctx), void *ctx,
                   struct watchdog **ret, struct err *err) MUST_CHECK;
/* Nobody is watched any more; stops the thread and frees. NULL is fine. */
void watchdog_stop(struct watchdog *w);

/* The descriptor is shut down unless watchdog_rearm() or watchdog_forget() comes within after_ms.
 * The entry is borrowed until watchdog_forget(). */
void watchdog_watch(struct watchdog *w, struct watchdog_entry *entry, int fd, unsigned after_ms);
/* A new deadline, after_ms from now. One that was shut down stays so. */
void watchdog_rearm(struct watchdog *w, struct watchdog_entry *entry, unsigned after_ms);
void watchdog_forget(struct watchdog *w, struct watchdog_entry *entry);

/* Shuts down what is overdue by the clock and returns how many those were: what the thread does
 * when it wakes up. For tests that own the clock. */
unsigned watchdog_check(struct watchdog *w);
