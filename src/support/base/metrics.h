/*
 * Metrics in the Prometheus text format. A metric is a variable of its owner, registered at
 * start-up and unregistered before the owner ends; updates are atomic adds and never wait.
 *
 * Threads: any. Only registering and rendering take the registry's mutex; `read` functions are
 * called under it and must not block.
 *
 * Label sets are fixed at registration (code, verb): a value that a user can choose never becomes a
 * label.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { METRIC_BUCKETS = 14 };

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* One time series. A gauge that is cheap to compute has a function `read` and stores no value. */
struct metric {
    const char *name, *help; /* literals */
    const char *labels;      /* e.g. "verb=\"filter\",code=\"200\"", or ""; values escaped */
    enum metric_kind kind;
    bool hide_zero;            /* the series is not rendered while it is 0; for rare codes */
    double (*read)(void *ctx); /* gauges and counters; may be NULL */
    void *ctx;
    const struct metric *same_as; /* NULL, or a metric of the same kind: then this metric is only
                                     another name for it and stores nothing. Borrowed as long as
                                     this metric is registered */
    _Atomic int64_t value;        /* counters and gauges */
    _Atomic uint64_t buckets[METRIC_BUCKETS + 1], sum_ns; /* histograms; the last bucket is +Inf */
    struct metric *next;                                  /* for the registry */
};

/*
 * Adds a series after the other series with its name. All series with one name must have the same
 * help and kind; they may be registered in any order. The metric and its strings are borrowed until
 * metric_unregister(). Bounds of histograms in seconds: 0.0005 0.001 0.002 0.005 0.01 0.025 0.05
 * 0.1 0.25 0.5 1 2.5 5 10.
 */
void metric_register(struct metric *m);
/* Removes a series; does nothing if it is not registered. */
void metric_unregister(struct metric *m);
void metric_add(struct metric *m, int64_t n);
void metric_set(struct metric *m, int64_t value);
void metric_observe_ns(struct metric *m, int64_t duration_ns);
/* Appends all registered series, sorted by the first registration of their names. */
void metrics_render(struct strbuf *out);
/* Removes all registrations, for tests. */
void metrics_reset(void);
