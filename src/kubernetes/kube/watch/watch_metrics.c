#include "kube/watch/watch_metrics.h"

#include <stddef.h>
#include <stdio.h>

static struct reflector_stats stats_of(const struct watch_metrics *m) {
    struct reflector_stats stats;
    kube_watch_stats(m->watch, &stats);
    return stats;
}

#define READ_STAT(field)                                                                           \
    static double read_##field(void *ctx) {                                                        \
        return (double)stats_of(ctx).field;                                                        \
    }
READ_STAT(listings)
READ_STAT(watches)
READ_STAT(events)
READ_STAT(bookmarks)
READ_STAT(errors)
READ_STAT(refused)
READ_STAT(absent)

static double read_age(void *ctx) {
    const struct watch_metrics *m = ctx;
    int64_t heard_ms = stats_of(m).heard_ms;
    return heard_ms == INT64_MIN ? -1 : (double)(m->clock->now_ms(m->clock) - heard_ms) / 1000;
}

static const struct {
    const char *name, *help;
    enum metric_kind kind;
    double (*read)(void *ctx);
} series[WATCH_SERIES] = {
    {"evenkeel_watch_age_seconds",
     "Seconds since the API server last sent data on this resource; -1: never.", METRIC_GAUGE,
     read_age},
    {"evenkeel_watch_listings_total", "Full listings begun.", METRIC_COUNTER, read_listings},
    {"evenkeel_watch_opened_total", "Watches opened.", METRIC_COUNTER, read_watches},
    {"evenkeel_watch_events_total", "Objects and events received.", METRIC_COUNTER, read_events},
    {"evenkeel_watch_bookmarks_total", "Bookmarks received.", METRIC_COUNTER, read_bookmarks},
    {"evenkeel_watch_errors_total", "Requests that failed.", METRIC_COUNTER, read_errors},
    {"evenkeel_watch_refused_objects_total", "Objects passed over because they break a limit.",
     METRIC_COUNTER, read_refused},
    {"evenkeel_watch_absent", "1: the API server does not know this resource.", METRIC_GAUGE,
     read_absent},
};

void watch_metrics_register(struct watch_metrics *m, struct kube_watch *watch, struct clock *clock,
                            const char *resource) {
    m->watch = watch;
    m->clock = clock;
    (void)snprintf(m->labels, sizeof m->labels, "resource=\"%s\"", resource); /* it fits */
    for (size_t i = 0; i < WATCH_SERIES; i++) {
        m->series[i] = (struct metric){.name = series[i].name,
                                       .help = series[i].help,
                                       .labels = m->labels,
                                       .kind = series[i].kind,
                                       .read = series[i].read,
                                       .ctx = m};
        metric_register(&m->series[i]);
    }
}

void watch_metrics_unregister(struct watch_metrics *m) {
    if (m->watch == NULL)
        return;
    for (size_t i = 0; i < WATCH_SERIES; i++)
        metric_unregister(&m->series[i]);
    m->watch = NULL;
}
