#include "kube/watch/feed.h"

int feed_start(struct feed *f, const struct feed_options *options, struct err *err) {
    const struct watched_kind *kind = options->kind;
    struct clock *clock = options->clock != NULL ? options->clock : clock_real();
    kind_path(kind, f->path);
    const struct reflector_options reflector = {
        .resource = kind_name(kind),
        .path = f->path,
        .query = kind->query,
        .optional = kind->optional && !options->required,
        .max_objects = kind->most,
        .sink = options->sink,
        .seed = options->seed,
    };
    int r = kube_watch_start(options->client, clock, &reflector, &f->watch, err);
    if (r == 0 && !options->unmeasured)
        watch_metrics_register(&f->metrics, f->watch, clock, kind_name(kind));
    return r;
}

void feed_stop(struct feed *f) {
    if (f->watch == NULL)
        return;
    watch_metrics_unregister(&f->metrics);
    kube_watch_free(f->watch);
    f->watch = NULL;
}

bool feed_started(const struct feed *f) {
    return f->watch != NULL;
}

bool feed_stats(const struct feed *f, struct reflector_stats *ret) {
    if (f->watch == NULL)
        return false;
    kube_watch_stats(f->watch, ret);
    return true;
}

bool feed_listed(const struct feed *f) {
    struct reflector_stats stats;
    return !feed_stats(f, &stats) || stats.synced || stats.errors > 0;
}

bool feed_synced(const struct feed *f) {
    struct reflector_stats stats;
    return !feed_stats(f, &stats) || stats.synced;
}

bool feed_complete(const struct feed *f) {
    struct reflector_stats stats;
    return !feed_stats(f, &stats) || (stats.synced && !(stats.known && stats.absent));
}
