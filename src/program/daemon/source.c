#include "daemon/source.h"

#include "base/log.h"
#include "base/mutex.h"
#include "cache/file_target.h"
#include "cache/kube_source.h"
#include "daemon/process_metrics.h"

#include <errno.h>
#include <stdlib.h>

struct source {
    const struct configuration *configuration;
    struct cache *cache;
    struct file_source *files;  /* NULL: the next two members are used instead */
    struct kube_client *client; /* borrowed */
    struct kube_source *kube;
    struct mutex lock; /* guards `ready`: the cache is ready */
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
    return cache_ready(s->cache) ? 0
                                 : err_set(err, -ETIMEDOUT,
                                           "the API server did not list everything within %lld s; "
                                           "'evenkeel check cluster' says why",
                                           (long long)(timeout_ms / 1000));
}

int source_new(const struct configuration *configuration, struct cache *cache,
               struct kube_client *client, struct source **ret, struct err *err) {
    struct source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for the source of the state");
    s->configuration = configuration;
    s->cache = cache;
    s->client = client;
    init_condition(s);
    int r = 0;
    if (reads_files(s))
        r = file_source_new(configuration->state.paths, configuration->state.path_count,
                            cache_file_target(cache), &s->files, err);
    if (r != 0) {
        source_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

/* Reads the files. If one is bad, the cache keeps its old objects. */
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
    if (s->client == NULL)
        return 0;
    const struct engine_options *engine = &s->configuration->engine;
    const struct kube_source_options options = {.cache = s->cache,
                                                .client = s->client,
                                                .workloads = engine->system_defaults ||
                                                             engine->default_constraint_count > 0,
                                                .seed = clock_seed(),
                                                .on_ready = on_ready,
                                                .ctx = s};
    return kube_source_new(&options, &s->kube, err);
}

void source_warn_of_no_nodes(const struct source *s) {
    if (reads_files(s) && configuration_serves_pods(s->configuration) &&
        cache_stats(s->cache).nodes == 0)
        LOG_W("the state has no nodes",
              LOG_CSTR("advice", "no object of kind Node is in the files: look whether they are "
                                 "from the right cluster, and from a user who may list nodes"));
}

void source_follow(struct source *s, struct file_follower *follower) {
    if (s->files != NULL)
        file_source_follow(s->files, follower);
}

void source_reload(struct source *s) {
    struct err err;
    if (!reads_files(s))
        return; /* a watch needs no reload */
    if (load_files(s, &err) != 0)
        LOG_E("state refused; serving what was read before", LOG_ERRTEXT(&err));
    else
        source_warn_of_no_nodes(s);
}

void source_poll(struct source *s) {
    if (s->kube != NULL)
        kube_source_poll(s->kube);
}

void source_poll_files(struct source *s) {
    if (s->kube == NULL && s->files != NULL && file_source_changed(s->files))
        source_reload(s);
}

void source_free(struct source *s) {
    if (s == NULL)
        return;
    kube_source_free(s->kube);
    file_source_free(s->files);
    condition_done(&s->ready);
    mutex_done(&s->lock);
    free(s);
}
