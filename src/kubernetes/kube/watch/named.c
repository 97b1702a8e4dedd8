#include "kube/watch/named.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

int named_watch_start(struct named_watch *w, struct kube_client *client,
                      const struct named_watch_options *options, struct err *err) {
    int path = snprintf(w->path, sizeof w->path, "%s", options->path);
    int query =
        snprintf(w->query, sizeof w->query, "fieldSelector=metadata.name%%3D%s", options->name);
    if ((size_t)path >= sizeof w->path || (size_t)query >= sizeof w->query)
        return err_set(err, -EINVAL, "the name of one of the %s is too long", options->resource);
    const struct reflector_options reflector = {.resource = options->resource,
                                                .path = w->path,
                                                .query = w->query,
                                                .sink = options->sink,
                                                .seed = (uint64_t)clock_now_ns()};
    int r = kube_watch_start(client, NULL, &reflector, &w->watch, err);
    if (r != 0)
        return r;
    char resource[WATCH_RESOURCE_SIZE];
    (void)snprintf(resource, sizeof resource, "%s/%s", options->resource, options->name); /* fits */
    watch_metrics_register(&w->metrics, w->watch, clock_real(), resource);
    return 0;
}

void named_watch_done(struct named_watch *w) {
    watch_metrics_unregister(&w->metrics);
    kube_watch_free(w->watch);
    w->watch = NULL;
}
