/*
 * The time of an API server's clock, from the Date header of its answers: the server checks our
 * certificates by its own clock. This machine's wall clock may be wrong by any amount; a daemon
 * that trusted it would replace good certificates by certificates that nobody else accepts.
 *
 * Between answers a monotonic clock counts on. The error is at most a second and the time that an
 * answer takes.
 *
 * Metric: evenkeel_clock_ahead_seconds, the time by which this machine's clock is ahead of the API
 * server's.
 *
 * Threads: server_clock_us() from any thread; each other function from one thread at a time.
 */
#pragma once

#include "base/clock.h"
#include "base/metrics.h"
#include "base/str.h"

#include <stdbool.h>

enum { SERVER_CLOCK_APART_S = 60 }; /* a larger difference is logged */

struct server_clock {
    struct clock *clock;      /* borrowed; monotonic, also while the machine is suspended */
    _Atomic int64_t epoch_ms; /* the server's Unix time when `clock` was 0; or NOT_HEARD */
    bool said;                /* the difference has been logged */
    const char *role;         /* role of the server, borrowed; NULL: no role */
    char labels[40];          /* labels of the metric */
    struct metric ahead;
};

/* `role` becomes the metric's label `server`; NULL: no label. `unmeasured`: no metric. The struct
 * must not move until server_clock_done(). */
void server_clock_init(struct server_clock *s, struct clock *clock, const char *role,
                       bool unmeasured);
void server_clock_done(struct server_clock *s);

/* Takes the value of a Date header: "Sun, 06 Nov 1994 08:49:37 GMT". Ignores any other text. */
void server_clock_heard(struct server_clock *s, struct str date);

/* Logs when the clocks begin to differ by more than a minute, and when they agree again to half a
 * minute. Call it now and then: the machine's clock may jump while no answer comes. */
void server_clock_compare(struct server_clock *s);

/* Returns microseconds since 1970; from the machine's wall clock until the first answer. */
int64_t server_clock_us(const struct server_clock *s);
