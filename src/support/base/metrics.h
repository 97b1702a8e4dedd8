/*
 * Metrics in the Prometheus text format. A metric is a variable of its owner, registered at
 * start-up and taken out again before the owner goes; updates are atomic adds and never wait.
 *
 * Threads: every function may be called from any thread. The registry has a mutex, which only
 * registering and rendering take; `read` functions are called under it and must not block.
 *
 * Label sets are fixed at registration (code, verb): no value that a user can choose ever becomes a
 * label.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { METRIC_BUCKETS = 14 };

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* One time series. Gauges that are cheap to compute give `read` instead of storing. */
struct metric {
    const char *name, *help; /* literals */
    const char *labels;      /* e.g. "verb=\"filter\",code=\"200\"", or ""; values escaped */
    enum metric_kind kind;
    bool hide_zero;            /* not rendered until it counted something: rare codes */
    double (*read)(void *ctx); /* gauges and counters; may be NULL */
    void *ctx;
    const struct metric *same_as; /* of the same kind: this is another name for what it measures,
                                     and stores nothing itself. NULL: it does. Borrowed as long as
                                     this is registered */
    _Atomic int64_t value;        /* counters and gauges */
    _Atomic uint64_t buckets[METRIC_BUCKETS + 1], sum_ns; /* histograms; the last bucket is +Inf */
    struct metric *next;                                  /* the registry's */
};

/*
 * Adds a series, right after the others of its name, which must agree on help and kind: their order
 * of registration does not matter. The metric and its strings are borrowed until
 * metric_unregister(). Bounds of histograms in seconds: 0.0005 0.001 0.002 0.005 0.01 0.025 0.05
 * 0.1 0.25 0.5 1 2.5 5 10.
 */
void metric_register(struct metric *m);
/* Takes a series out; nothing happens if it is not registered. */
void metric_unregister(struct metric *m);
void metric_add(struct metric *m, int64_t n);
void metric_set(struct metric *m, int64_t value);
void metric_observe_ns(struct metric *m, int64_t duration_ns);
/* Appends every registered series, names in order of their first registration. */
void metrics_render(struct strbuf *out);
/* Forgets every registration: tests start clean. */
void metrics_reset(void);
