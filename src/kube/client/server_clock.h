/*
 * What time it is for an API server, by the Date of its answers: it judges our certificates by its
 * own clock, and so do all others whose clocks are right. The machine's wall clock may be wrong by
 * any amount; a daemon that believed it would replace certificates that are good, by ones that
 * nobody else takes.
 *
 * Between answers it goes on with the monotonic clock that it was given. Precise to a second and
 * the time an answer takes.
 *
 * Metric: evenkeel_clock_ahead_seconds, this machine's clock against the API server's.
 *
 * Threads: server_clock_us() from any, each of the others from one at a time.
 */
#pragma once

#include "base/clock.h"
#include "base/metrics.h"
#include "base/str.h"

#include <stdbool.h>

enum { SERVER_CLOCK_APART_S = 60 }; /* seconds that are worth telling of */

struct server_clock {
    struct clock *clock;      /* borrowed; monotonic, also while the machine is suspended */
    _Atomic int64_t epoch_ms; /* when `clock` was 0, in Unix time by the server; NOT_HEARD */
    bool said;                /* that the clocks disagree */
    const char *role;         /* of the server, borrowed; NULL: nothing is said of it */
    char labels[40];          /* of the metric */
    struct metric ahead;
};

/* `role` becomes the metric's label `server`; NULL: without. Unmeasured: no metric. Stays where it
 * is until server_clock_done(). */
void server_clock_init(struct server_clock *s, struct clock *clock, const char *role,
                       bool unmeasured);
void server_clock_done(struct server_clock *s);

/* The value of a Date header: "Sun, 06 Nov 1994 08:49:37 GMT". What is none is ignored. */
void server_clock_heard(struct server_clock *s, struct str date);

/* Says in the log when the clocks begin to differ by more than a minute, and when they agree again,
 * to half a minute. To be called now and then: a machine's clock may jump while no answer comes. */
void server_clock_compare(struct server_clock *s);

/* Microseconds since 1970; by the machine's wall clock as long as no server has been heard. */
int64_t server_clock_us(const struct server_clock *s);
