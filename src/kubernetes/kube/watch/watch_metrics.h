/*
 * The figures of one watch as metrics: evenkeel_watch_*{resource="..."}.
 */
#pragma once

#include "base/metrics.h"
#include "kube/watch/watch.h"

enum {
    WATCH_SERIES = 8,
    WATCH_RESOURCE_SIZE = 320 /* bytes for a resource, an object's name, and NUL */
};

/* All zero: not registered. The struct must not move while registered. */
struct watch_metrics {
    struct kube_watch *watch;
    struct clock *clock;
    char labels[WATCH_RESOURCE_SIZE + 16];
    struct metric series[WATCH_SERIES];
};

/* `watch` and `clock` are borrowed until watch_metrics_unregister(). `resource` is the
 * name of a kind, or "secrets/NAME"; different for every watch, and shorter than
 * WATCH_RESOURCE_SIZE. */
void watch_metrics_register(struct watch_metrics *m, struct kube_watch *watch, struct clock *clock,
                            const char *resource);
/* Does nothing if the metrics are not registered. */
void watch_metrics_unregister(struct watch_metrics *m);
