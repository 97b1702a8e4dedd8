#include "cache/kube_source.h"

#include "base/log.h"
#include "kube/watch/feed.h"

#include <errno.h>
#include <stdlib.h>

/* One kind's watch, with what its sink needs. */
struct cache_feed {
    struct kube_source *source;
    enum object_kind kind;
    struct feed feed;   /* not started: not watched */
    struct arena arena; /* of the object that is applied; the client's thread's */
    int64_t began_ms;   /* of the listing under way */
};

struct kube_source {
    struct kube_source_options options;
    struct cache_feed feeds[OBJECT_KINDS]; /* by kind; OBJECT_OTHER is none */
};

static int64_t now_ms(const struct kube_source *s) {
    return s->options.clock->now_ms(s->options.clock);
}

/* ---- the sink ---- */

static void sync_begin(void *ctx) {
    struct cache_feed *f = ctx;
    struct cache *cache = f->source->options.cache;
    f->began_ms = now_ms(f->source);
    cache_write_begin(cache);
    cache_sync_begin(cache, CACHE_KIND(f->kind));
    cache_write_end(cache);
}

static void sync_end(void *ctx) {
    const struct cache_feed *f = ctx;
    struct cache *cache = f->source->options.cache;
    bool was_ready = cache_ready(cache);
    cache_write_begin(cache);
    cache_sync_end(cache, CACHE_KIND(f->kind));
    cache_write_end(cache);
    LOG_I("listed", LOG_CSTR("resource", kind_name(object_kind_row(f->kind))),
          LOG_INT("duration_ms", now_ms(f->source) - f->began_ms));
    if (was_ready || !cache_ready(cache))
        return;
    struct cache_stats stats = cache_stats(cache);
    LOG_I("in sync with the API server", LOG_INT("nodes", stats.nodes),
          LOG_INT("pods", stats.pods));
    if (f->source->options.on_ready != NULL)
        f->source->options.on_ready(f->source->options.ctx);
}

static int apply(void *ctx, struct str json, struct err *err) {
    struct cache_feed *f = ctx;
    struct cache *cache = f->source->options.cache;
    struct object object;
    int r = object_decode(json, f->kind, POD_PLACEMENT, &f->arena, &object, err);
    if (r == 0) {
        cache_write_begin(cache);
        r = cache_apply(cache, &object);
        cache_write_end(cache);
    }
    arena_reset(&f->arena);
    return r;
}

static int remove_object(void *ctx, struct str json, struct err *err) {
    struct cache_feed *f = ctx;
    struct cache *cache = f->source->options.cache;
    struct object object = {.kind = f->kind};
    int r = object_key_decode(json, &f->arena, &object.meta, err);
    if (r == 0) {
        cache_write_begin(cache);
        cache_remove(cache, &object);
        cache_write_end(cache);
    }
    arena_reset(&f->arena);
    return r;
}

/* ---- life ---- */

static int start_feed(struct cache_feed *f, struct err *err) {
    const struct kube_source_options *o = &f->source->options;
    const struct feed_options options = {
        .kind = object_kind_row(f->kind),
        .client = o->client,
        .clock = o->clock,
        .sink = {f, sync_begin, sync_end, apply, remove_object},
        .seed = o->seed + f->kind,
    };
    return feed_start(&f->feed, &options, err);
}

static bool is_watched(const struct cache_feed *f) {
    return object_kind_row(f->kind)->need != KIND_FOR_DEFAULTS || f->source->options.workloads;
}

/* What nobody watches is empty, and known to be. */
static void sync_unwatched(const struct cache_feed *f) {
    struct cache *cache = f->source->options.cache;
    cache_write_begin(cache);
    cache_sync_begin(cache, CACHE_KIND(f->kind));
    cache_sync_end(cache, CACHE_KIND(f->kind));
    cache_write_end(cache);
}

int kube_source_new(const struct kube_source_options *options, struct kube_source **ret,
                    struct err *err) {
    struct kube_source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory to watch the API server");
    s->options = *options;
    if (s->options.clock == NULL)
        s->options.clock = clock_real();
    for (size_t k = OBJECT_NODE; k < OBJECT_KINDS; k++) {
        s->feeds[k].source = s;
        s->feeds[k].kind = (enum object_kind)k;
        arena_init(&s->feeds[k].arena, LIMIT_STATE_OBJECT_ARENA);
    }
    int r = 0;
    for (size_t k = OBJECT_NODE; r == 0 && k < OBJECT_KINDS; k++) {
        if (is_watched(&s->feeds[k]))
            r = start_feed(&s->feeds[k], err);
        else
            sync_unwatched(&s->feeds[k]);
    }
    if (r == 0)
        *ret = s;
    else
        kube_source_free(s);
    return r;
}

void kube_source_free(struct kube_source *s) {
    if (s == NULL)
        return;
    for (size_t k = OBJECT_NODE; k < OBJECT_KINDS; k++) {
        feed_stop(&s->feeds[k].feed);
        arena_done(&s->feeds[k].arena);
    }
    free(s);
}

void kube_source_poll(struct kube_source *s) {
    for (size_t k = OBJECT_NODE; k < OBJECT_KINDS; k++) {
        struct reflector_stats stats;
        if (feed_stats(&s->feeds[k].feed, &stats) && stats.heard_ms != INT64_MIN)
            cache_heard(s->options.cache, s->feeds[k].kind, stats.heard_ms);
    }
}
