/*
 * The metrics of one listener's requests, by verb. Verbs are the names of the routes, and "other"
 * for requests without a route. Codes outside the usual set count as "other". So no label depends
 * on what a client sends. Connections are counted by net/door.h.
 *
 * Threads: stats_new() and stats_free() from the owner's thread, the others from any.
 */
#pragma once

#include "base/metrics.h"
#include "http/body.h"
#include "http/http.h"
#include "http/slow.h"

enum { STATS_LABELS = 128, STATS_CODES = 12 };

struct stats_series {
    struct metric metric;
    char labels[STATS_LABELS];
};

struct stats_verb {
    const char *name;
    const char *path; /* path of a route with this name; NULL: the verb "other" */
    struct stats_series duration;
    struct stats_series requests[STATS_CODES];
    /* The same figures under the names of controller-runtime, which dashboards use; only for the
     * webhook's listener. For other listeners these series have no names and no values. */
    struct stats_series latency, in_flight;
    struct stats_series reviews[STATS_CODES];
};

struct stats {
    struct stats_series in_flight, body_bytes, held;
    struct stats_series slow[SLOW_CAUSES];
    size_t verb_count;
    struct stats_verb verbs[]; /* the last is "other" */
};

/* Registers the metrics. Names are literals without quotes or backslashes; the budget is borrowed.
 * NULL: no memory. */
struct stats *stats_new(const char *listener, const struct http_service *services,
                        struct byte_budget *budget);
/* Unregisters. NULL is fine. */
void stats_free(struct stats *stats);
/* Returns the verb of a route; `route` NULL: "other". */
struct stats_verb *stats_verb(struct stats *stats, const struct http_route *route);
/* Call stats_begin() when a request of the verb has begun, stats_end() when it has ended. */
void stats_begin(struct stats_verb *verb);
void stats_end(struct stats_verb *verb);
/* Counts a request that was answered. */
void stats_count(struct stats_verb *verb, int status, int64_t duration_ns);
