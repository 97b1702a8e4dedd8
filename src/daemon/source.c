#include "daemon/source.h"

#include "base/log.h"
#include "base/mutex.h"
#include "cache/file_source.h"
#include "cache/kube_source.h"
#include "daemon/process_metrics.h"

#include <errno.h>
#include <stdlib.h>

struct source {
    const struct configuration *configuration;
    struct cache *cache;
    struct file_source *files; /* or these: */
    struct arena arena;        /* of access */
    struct kube_access access;
    struct kube_client *client;
    struct kube_source *kube;
    struct mutex lock; /* of the condition that the cache is ready */
    struct condition ready;
};

static bool reads_files(const struct source *s) {
    return s->configuration->state.path_count > 0;
}

static void init_condition(struct source *s) {
    condition_init(&s->ready);
    mutex_init(&s->lock);
}

static void on_ready(void *ctx) {
    struct source *s = ctx;
    mutex_lock(&s->lock);
    condition_broadcast(&s->ready);
    mutex_unlock(&s->lock);
}

int source_wait(struct source *s, int64_t timeout_ms, struct err *err) {
    int64_t until_ms = clock_real()->now_ms(clock_real()) + timeout_ms;
    mutex_lock(&s->lock);
    while (!cache_ready(s->cache) && condition_wait_until(&s->ready, &s->lock, until_ms))
        ;
    mutex_unlock(&s->lock);
    return cache_ready(s->cache)
               ? 0
               : err_set(err, -ETIMEDOUT, "the API server did not list everything within %lld s",
                         (long long)(timeout_ms / 1000));
}

static int open_access(struct source *s, struct err *err) {
    const struct configuration *c = s->configuration;
    arena_init(&s->arena, 4u * LIMIT_CONFIG_BYTES);
    if (c->kubernetes.in_cluster)
        return kube_access_in_cluster(&s->arena, &s->access, err);
    return kube_access_from_kubeconfig(c->kubernetes.kubeconfig, c->kubernetes.context, &s->arena,
                                       &s->access, err);
}

int source_new(const struct configuration *configuration, struct cache *cache, struct source **ret,
               struct err *err) {
    struct source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for the source of the state");
    s->configuration = configuration;
    s->cache = cache;
    init_condition(s);
    int r;
    if (reads_files(s)) {
        r = file_source_new(configuration->state.paths, configuration->state.path_count, cache,
                            &s->files, err);
    } else {
        r = open_access(s, err);
        if (r == 0)
            r = kube_client_new(&s->access, NULL, &s->client, err);
    }
    if (r != 0) {
        source_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

/* Reads the files; the cache keeps what it had if one is bad. */
static int load_files(struct source *s, struct err *err) {
    struct file_source_result result;
    int r = file_source_load(s->files, &result, err);
    process_metrics_state_read(r == 0);
    if (r != 0)
        return r;
    struct cache_stats stats = cache_stats(s->cache);
    LOG_I("state read", LOG_INT("files", result.files), LOG_INT("objects", result.objects),
          LOG_INT("nodes", stats.nodes), LOG_INT("pods", stats.pods),
          LOG_INT("duration_ms", result.duration_ms));
    return 0;
}

int source_start(struct source *s, struct err *err) {
    if (reads_files(s))
        return load_files(s, err);
    const struct engine_options *engine = &s->configuration->engine;
    const struct kube_source_options options = {.cache = s->cache,
                                                .client = s->client,
                                                .workloads = engine->system_defaults ||
                                                             engine->default_constraint_count > 0,
                                                .seed = clock_seed(),
                                                .on_ready = on_ready,
                                                .ctx = s};
    LOG_I("watching an API server", LOG_CSTR("server", s->access.server),
          LOG_CSTR("source", s->access.source));
    return kube_source_new(&options, &s->kube, err);
}

void source_follow(struct source *s, struct file_follower *follower) {
    if (s->files != NULL)
        file_source_follow(s->files, follower);
}

void source_reload(struct source *s) {
    struct err err;
    if (!reads_files(s))
        return; /* a watch has nothing to read again */
    if (load_files(s, &err) != 0)
        LOG_E("state refused; serving what was read before", LOG_ERRTEXT(&err));
}

void source_poll(struct source *s) {
    if (s->client != NULL)
        kube_compare_clocks(s->client);
    if (s->kube != NULL)
        kube_source_poll(s->kube);
    else if (s->files != NULL && file_source_changed(s->files))
        source_reload(s);
}

void source_free(struct source *s) {
    if (s == NULL)
        return;
    kube_source_free(s->kube);
    kube_client_free(s->client);
    file_source_free(s->files);
    arena_done(&s->arena);
    condition_done(&s->ready);
    mutex_done(&s->lock);
    free(s);
}

struct kube_client *source_client(struct source *s) {
    return s->client;
}

const struct kube_access *source_access(const struct source *s) {
    return &s->access;
}
