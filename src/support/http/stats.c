/*
 * All series exist from the start, in one block of memory. Codes that have not occurred yet are
 * hidden; otherwise a listener would show a hundred zeros.
 */
#include "http/stats.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last row stands for every other code. */
static const struct {
    int status;
    const char *text;
} codes[STATS_CODES] = {{200, "200"}, {400, "400"}, {401, "401"}, {403, "403"},
                        {404, "404"}, {405, "405"}, {413, "413"}, {415, "415"},
                        {429, "429"}, {500, "500"}, {503, "503"}, {0, "other"}};

static void add(struct stats_series *series, struct metric metric, const char *labels) {
    series->metric = metric;
    int n = snprintf(series->labels, sizeof series->labels, "%s", labels);
    assert(n > 0 && n < (int)sizeof series->labels);
    series->metric.labels = series->labels;
    metric_register(&series->metric);
}

static void add_verb(struct stats_verb *verb, const char *listener) {
    char labels[STATS_LABELS];
    (void)snprintf(labels, sizeof labels, "listener=\"%s\",verb=\"%s\"", listener, verb->name);
    add(&verb->duration,
        (struct metric){.name = "evenkeel_http_request_duration_seconds",
                        .help = "From the end of a request's headers to the last byte of its "
                                "answer.",
                        .kind = METRIC_HISTOGRAM},
        labels);
    for (size_t i = 0; i < STATS_CODES; i++) {
        (void)snprintf(labels, sizeof labels, "listener=\"%s\",verb=\"%s\",code=\"%s\"", listener,
                       verb->name, codes[i].text);
        add(&verb->requests[i],
            (struct metric){.name = "evenkeel_http_requests_total",
                            .help = "Requests answered, by status code.",
                            .hide_zero = codes[i].status != 200},
            labels);
    }
}

/* In controller-runtime the label `webhook` is also a path. */
static void add_familiar(struct stats_verb *verb) {
    char labels[STATS_LABELS];
    (void)snprintf(labels, sizeof labels, "webhook=\"%s\"", verb->path);
    add(&verb->latency,
        (struct metric){.name = "controller_runtime_webhook_latency_seconds",
                        .help = "The same as evenkeel_http_request_duration_seconds.",
                        .kind = METRIC_HISTOGRAM,
                        .same_as = &verb->duration.metric},
        labels);
    add(&verb->in_flight,
        (struct metric){.name = "controller_runtime_webhook_requests_in_flight",
                        .help = "Reviews whose headers have arrived and whose answer has not left.",
                        .kind = METRIC_GAUGE},
        labels);
    for (size_t i = 0; i < STATS_CODES; i++) {
        (void)snprintf(labels, sizeof labels, "webhook=\"%s\",code=\"%s\"", verb->path,
                       codes[i].text);
        add(&verb->reviews[i],
            (struct metric){.name = "controller_runtime_webhook_requests_total",
                            .help = "The same as evenkeel_http_requests_total.",
                            .hide_zero = codes[i].status != 200,
                            .same_as = &verb->requests[i].metric},
            labels);
    }
}

static void add_totals(struct stats *stats, const char *listener) {
    char labels[STATS_LABELS];
    (void)snprintf(labels, sizeof labels, "listener=\"%s\"", listener);
    add(&stats->in_flight,
        (struct metric){.name = "evenkeel_http_requests_in_flight",
                        .help = "Requests whose first line has arrived and whose answer has not "
                                "left.",
                        .kind = METRIC_GAUGE},
        labels);
    add(&stats->body_bytes,
        (struct metric){.name = "evenkeel_http_request_body_bytes_total",
                        .help = "Bytes of request bodies received."},
        labels);
}

static double read_held(void *ctx) {
    const struct byte_budget *budget = ctx;
    return (double)atomic_load_explicit(&budget->used, memory_order_relaxed);
}

static void add_held(struct stats *stats, const char *listener, struct byte_budget *budget) {
    char labels[STATS_LABELS];
    (void)snprintf(labels, sizeof labels, "listener=\"%s\"", listener);
    add(&stats->held,
        (struct metric){.name = "evenkeel_http_bytes_held",
                        .help = "Bytes of bodies, and of answers that have not left.",
                        .kind = METRIC_GAUGE,
                        .read = read_held,
                        .ctx = budget},
        labels);
}

static void add_slow(struct stats *stats, const char *listener) {
    char labels[STATS_LABELS];
    for (enum slow_cause cause = 0; cause < SLOW_CAUSES; cause++) {
        (void)snprintf(labels, sizeof labels, "listener=\"%s\",cause=\"%s\"", listener,
                       slow_cause_name(cause));
        add(&stats->slow[cause],
            (struct metric){
                .name = "evenkeel_http_slow_requests_total",
                .help =
                    "Requests that took half a second or more, by the cause of most of that time."},
            labels);
    }
}

static struct stats_verb *find(struct stats *stats, const char *name) {
    for (size_t i = 0; i < stats->verb_count; i++)
        if (strcmp(stats->verbs[i].name, name) == 0)
            return &stats->verbs[i];
    return NULL;
}

static void add_name(struct stats *stats, const char *name, const char *path) {
    if (find(stats, name) == NULL)
        stats->verbs[stats->verb_count++] = (struct stats_verb){.name = name, .path = path};
}

struct stats *stats_new(const char *listener, const struct http_service *services,
                        struct byte_budget *budget) {
    size_t most = 1; /* "other" */
    for (const struct http_service *s = services; s->routes != NULL; s++)
        most += s->routes->count;
    struct stats *stats = calloc(1, sizeof *stats + most * sizeof stats->verbs[0]);
    if (stats == NULL)
        return NULL;
    for (const struct http_service *s = services; s->routes != NULL; s++)
        for (size_t i = 0; i < s->routes->count; i++)
            add_name(stats, s->routes->rows[i].name, s->routes->rows[i].path);
    add_name(stats, "other", NULL);
    add_totals(stats, listener);
    add_slow(stats, listener);
    add_held(stats, listener, budget);
    bool webhook = strcmp(listener, "webhook") == 0;
    for (size_t i = 0; i < stats->verb_count; i++) {
        add_verb(&stats->verbs[i], listener);
        if (webhook && stats->verbs[i].path != NULL)
            add_familiar(&stats->verbs[i]);
    }
    return stats;
}

void stats_free(struct stats *stats) {
    if (stats == NULL)
        return;
    metric_unregister(&stats->in_flight.metric);
    metric_unregister(&stats->held.metric);
    for (size_t i = 0; i < SLOW_CAUSES; i++)
        metric_unregister(&stats->slow[i].metric);
    metric_unregister(&stats->body_bytes.metric);
    for (size_t i = 0; i < stats->verb_count; i++) {
        metric_unregister(&stats->verbs[i].duration.metric);
        metric_unregister(&stats->verbs[i].latency.metric);
        metric_unregister(&stats->verbs[i].in_flight.metric);
        for (size_t k = 0; k < STATS_CODES; k++) {
            metric_unregister(&stats->verbs[i].requests[k].metric);
            metric_unregister(&stats->verbs[i].reviews[k].metric);
        }
    }
    free(stats);
}

struct stats_verb *stats_verb(struct stats *stats, const struct http_route *route) {
    return find(stats, route != NULL ? route->name : "other");
}

/* Only the webhook's verbs have the metric of requests in flight. */
static void add_in_flight(struct stats_verb *verb, int64_t by) {
    if (verb->in_flight.metric.name != NULL)
        metric_add(&verb->in_flight.metric, by);
}

void stats_begin(struct stats_verb *verb) {
    add_in_flight(verb, 1);
}

void stats_end(struct stats_verb *verb) {
    add_in_flight(verb, -1);
}

void stats_count(struct stats_verb *verb, int status, int64_t duration_ns) {
    size_t i = 0;
    while (i < STATS_CODES - 1 && codes[i].status != status)
        i++;
    metric_add(&verb->requests[i].metric, 1);
    metric_observe_ns(&verb->duration.metric, duration_ns);
}
