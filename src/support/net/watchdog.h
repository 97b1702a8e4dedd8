/*
 * Absolute deadlines for connections. libmicrohttpd's own timeout starts anew with every byte, so a
 * client that sends one byte a second keeps a connection for ever. A deadline of the watchdog is a
 * point in time: a connection that is open then is shut down, whatever it does.
 *
 * Threads: every function may be called from any thread. The watchdog has a thread that sleeps
 * until the earliest deadline. Only an earlier new deadline wakes it, so idle and busy connections
 * cost it nothing.
 *
 * Closing: the watchdog calls shutdown(2), never close(2). The owner of the descriptor then sees
 * the end of the stream and closes as usual. The owner calls watchdog_forget() before it closes.
 * One mutex guards that call and the shutdown, so a descriptor number that has been used again for
 * another file is never shut down.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* One for each connection, inside the owner's struct. All members belong to the watchdog. */
struct watchdog_entry {
    struct watchdog_entry *next, **link; /* link: the pointer that points here; NULL: not watched */
    int fd;
    int64_t deadline_ms; /* of the watchdog's clock */
};

struct watchdog;

/* Starts the thread. `on_close` (may be NULL) is called for every connection that is shut down. The
 * watchdog's mutex is held then, so it must do no more than count. Returns 0, -ENOMEM, or the errno
 * of starting a thread. */
int watchdog_start(struct clock *clock, void (*on_close)(void *ctx), void *ctx,
                   struct watchdog **ret, struct err *err) MUST_CHECK;
/* No connection may be watched any more. Stops the thread and frees everything. NULL is fine. */
void watchdog_stop(struct watchdog *w);

/* Shuts the descriptor down unless watchdog_rearm() or watchdog_forget() is called within after_ms.
 * The entry is borrowed until watchdog_forget(). */
void watchdog_watch(struct watchdog *w, struct watchdog_entry *entry, int fd, unsigned after_ms);
/* Sets a new deadline, after_ms from now. A connection that was shut down stays shut down. */
void watchdog_rearm(struct watchdog *w, struct watchdog_entry *entry, unsigned after_ms);
void watchdog_forget(struct watchdog *w, struct watchdog_entry *entry);

/* Shuts down the connections that are overdue by the clock, and returns their number. The thread
 * does the same when it wakes up; this is for tests that own the clock. */
unsigned watchdog_check(struct watchdog *w);
