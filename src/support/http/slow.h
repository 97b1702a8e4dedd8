/*
 * Finds the cause of a slow request. A stopwatch adds up the time of each part of a request; when a
 * request has taken LIMIT_HTTP_SLOW_MS or more, its cause is counted and logged, with its client.
 *
 * Threads: a stopwatch belongs to the thread of its exchange; for a large request, to the thread
 * that handles it. slow_report() from any thread.
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lap {
    LAP_RECEIVING, /* from the end of the headers to the end of the body */
    LAP_QUEUED,    /* waiting for a thread for large requests */
    LAP_HANDLING,  /* in the handler */
    LAP_WAITING,   /* deferred: for an API server, or for another binding */
    LAP_SENDING,   /* from the answer to its last byte */
    LAPS
};

struct stopwatch {
    struct clock *clock; /* borrowed */
    enum lap now;
    int64_t began_ns, lap_ns; /* lap_ns: when the lap `now` began */
    int64_t spent_ns[LAPS];
};

/* Starts with LAP_RECEIVING. */
void stopwatch_start(struct stopwatch *s, struct clock *clock);
/* Begins another part. */
void stopwatch_lap(struct stopwatch *s, enum lap next);
/* Returns the nanoseconds from the start until now. */
int64_t stopwatch_stop(struct stopwatch *s);

/* The causes: lack of processor time, which can make any part long; then the parts. */
enum slow_cause {
    SLOW_STARVED,   /* a thread had no processor for at least half of the request's time */
    SLOW_THROTTLED, /* the same as SLOW_STARVED, and mostly because of the container's CPU limit */
    SLOW_LAPS,      /* from this number on: SLOW_LAPS + the longest lap */
    SLOW_CAUSES = SLOW_LAPS + LAPS
};

/* A literal: "throttled", "receiving". */
const char *slow_cause_name(enum slow_cause cause);

struct slow_request { /* everything is borrowed for the call */
    const char *listener, *verb, *peer;
    size_t length;                 /* announced length of the body */
    bool answered;                 /* false: the client did not wait, or the deadline passed */
    const struct stopwatch *times; /* stopped */
};

/* Finds the cause, logs it, and returns it. */
enum slow_cause slow_report(const struct slow_request *request);
