#include "cache/kube_source.h"

#include "base/log.h"
#include "kube/watch/watch.h"
#include "kube/watch/watch_metrics.h"

#include <errno.h>
#include <stdlib.h>

struct resource {
    enum object_kind kind;
    const char *name, *path, *query;
    bool workload;
};

/* Finished pods do not exist for spreading: not even sending them is kube-scheduler's way too. */
#define UNFINISHED "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

static const struct resource resources[] = {
    {OBJECT_NODE, "nodes", "/api/v1/nodes", NULL, false},
    {OBJECT_POD, "pods", "/api/v1/pods", UNFINISHED, false},
    {OBJECT_NAMESPACE, "namespaces", "/api/v1/namespaces", NULL, false},
    {OBJECT_SERVICE, "services", "/api/v1/services", NULL, true},
    {OBJECT_REPLICATION_CONTROLLER, "replicationcontrollers", "/api/v1/replicationcontrollers",
     NULL, true},
    {OBJECT_REPLICA_SET, "replicasets", "/apis/apps/v1/replicasets", NULL, true},
    {OBJECT_STATEFUL_SET, "statefulsets", "/apis/apps/v1/statefulsets", NULL, true},
};
enum { RESOURCES = sizeof resources / sizeof resources[0] };

/* One resource's watch, with what its sink needs. */
struct feed {
    struct kube_source *source;
    const struct resource *resource;
    struct kube_watch *watch; /* NULL: not watched */
    struct arena arena;       /* of the object that is applied; the client's thread's */
    int64_t began_ms;         /* of the listing under way */
    struct watch_metrics metrics;
};

struct kube_source {
    struct kube_source_options options;
    struct feed feeds[RESOURCES];
};

static int64_t now_ms(const struct kube_source *s) {
    return s->options.clock->now_ms(s->options.clock);
}

/* ---- the sink ---- */

static void sync_begin(void *ctx) {
    struct feed *f = ctx;
    struct cache *cache = f->source->options.cache;
    f->began_ms = now_ms(f->source);
    cache_write_begin(cache);
    cache_sync_begin(cache, CACHE_KIND(f->resource->kind));
    cache_write_end(cache);
}

static void sync_end(void *ctx) {
    const struct feed *f = ctx;
    struct cache *cache = f->source->options.cache;
    bool was_ready = cache_ready(cache);
    cache_write_begin(cache);
    cache_sync_end(cache, CACHE_KIND(f->resource->kind));
    cache_write_end(cache);
    LOG_I("listed", LOG_CSTR("resource", f->resource->name),
          LOG_INT("duration_ms", now_ms(f->source) - f->began_ms));
    if (was_ready || !cache_ready(cache))
        return;
    struct cache_stats stats = cache_stats(cache);
    LOG_I("in sync with the API server", LOG_INT("nodes", stats.nodes),
          LOG_INT("pods", stats.pods));
    if (f->source->options.on_ready != NULL)
        f->source->options.on_ready(f->source->options.ctx);
}

static int change(struct feed *f, struct str json, bool exists, struct err *err) {
    struct cache *cache = f->source->options.cache;
    struct object object;
    int r = object_decode(json, f->resource->kind, POD_PLACEMENT, &f->arena, &object, err);
    if (r == 0) {
        cache_write_begin(cache);
        if (exists)
            r = cache_apply(cache, &object);
        else
            cache_remove(cache, &object);
        cache_write_end(cache);
    }
    arena_reset(&f->arena);
    return r;
}

static int apply(void *ctx, struct str json, struct err *err) {
    return change(ctx, json, true, err);
}

static int remove_object(void *ctx, struct str json, struct err *err) {
    return change(ctx, json, false, err);
}

/* ---- life ---- */

static int start_feed(struct kube_source *s, struct feed *f, struct err *err) {
    const struct reflector_options options = {
        .resource = f->resource->name,
        .path = f->resource->path,
        .query = f->resource->query,
        .sink = {f, sync_begin, sync_end, apply, remove_object},
        .seed = s->options.seed + f->resource->kind,
    };
    return kube_watch_start(s->options.client, s->options.clock, &options, &f->watch, err);
}

/* What nobody watches is empty, and known to be. */
static void sync_unwatched(struct kube_source *s, enum object_kind kind) {
    cache_write_begin(s->options.cache);
    cache_sync_begin(s->options.cache, CACHE_KIND(kind));
    cache_sync_end(s->options.cache, CACHE_KIND(kind));
    cache_write_end(s->options.cache);
}

int kube_source_new(const struct kube_source_options *options, struct kube_source **ret,
                    struct err *err) {
    struct kube_source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory to watch the API server");
    s->options = *options;
    if (s->options.clock == NULL)
        s->options.clock = clock_real();
    for (size_t i = 0; i < RESOURCES; i++) {
        struct feed *f = &s->feeds[i];
        f->source = s;
        f->resource = &resources[i];
        arena_init(&f->arena, LIMIT_STATE_OBJECT_ARENA);
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < RESOURCES; i++) {
        if (resources[i].workload && !options->workloads)
            sync_unwatched(s, resources[i].kind);
        else
            r = start_feed(s, &s->feeds[i], err);
    }
    *ret = s; /* also after a failure: the client must end before its watches are freed */
    for (size_t i = 0; r == 0 && i < RESOURCES; i++)
        if (s->feeds[i].watch != NULL)
            watch_metrics_register(&s->feeds[i].metrics, s->feeds[i].watch, s->options.clock,
                                   resources[i].name);
    return r;
}

void kube_source_stop(struct kube_source *s) {
    for (size_t i = 0; i < RESOURCES; i++) {
        struct feed *f = &s->feeds[i];
        if (f->watch == NULL)
            continue;
        watch_metrics_unregister(&f->metrics);
        kube_watch_stop(f->watch);
    }
}

void kube_source_free(struct kube_source *s) {
    if (s == NULL)
        return;
    for (size_t i = 0; i < RESOURCES; i++) {
        kube_watch_free(s->feeds[i].watch);
        arena_done(&s->feeds[i].arena);
    }
    free(s);
}

void kube_source_poll(struct kube_source *s) {
    for (size_t i = 0; i < RESOURCES; i++) {
        struct reflector_stats stats;
        if (s->feeds[i].watch == NULL)
            continue;
        kube_watch_stats(s->feeds[i].watch, &stats);
        if (stats.heard_ms != INT64_MIN)
            cache_heard(s->options.cache, resources[i].kind, stats.heard_ms);
    }
}
