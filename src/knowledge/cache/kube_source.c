#include "cache/kube_source.h"

#include "base/log.h"
#include "informer/informer.h"

#include <errno.h>
#include <stdlib.h>

/* OBJECT_NODE is the first watched kind. */
enum { KINDS = OBJECT_KINDS - OBJECT_NODE };

struct kube_source {
    struct kube_source_options options;
    struct informer *informer;
    int64_t began_ms[KINDS]; /* begin of each running listing; only for the client's thread */
};

static int64_t now_ms(const struct kube_source *s) {
    return s->options.clock->now_ms(s->options.clock);
}

static enum object_kind object_kind_at(uint32_t row) {
    return (enum object_kind)(OBJECT_NODE + row);
}

/* ---- the store ---- */

/* The cache itself removes objects at the end of a listing, and lets others read in between. */
static void listed(void *contents, uint32_t row, enum informer_listing how) {
    struct kube_source *s = contents;
    struct cache *cache = s->options.cache;
    const bool was_ready = cache_ready(cache);
    if (how == LISTING_BEGINS)
        s->began_ms[row] = now_ms(s);
    cache_write_begin(cache);
    (how == LISTING_BEGINS ? cache_sync_begin
     : how == LISTING_ENDS ? cache_sync_end
                           : cache_sync_abort)(cache, CACHE_KIND(object_kind_at(row)));
    cache_write_end(cache);
    if (how != LISTING_ENDS)
        return;
    LOG_I("listed", LOG_CSTR("resource", kind_name(object_kind_row(object_kind_at(row)))),
          LOG_INT("duration_ms", now_ms(s) - s->began_ms[row]));
    if (was_ready || !cache_ready(cache))
        return;
    struct cache_stats stats = cache_stats(cache);
    LOG_I("in sync with the API server", LOG_INT("nodes", stats.nodes),
          LOG_INT("pods", stats.pods));
    if (s->options.on_ready != NULL)
        s->options.on_ready(s->options.ctx);
}

static uint64_t kept_bytes(const void *contents) {
    const struct kube_source *s = contents;
    return cache_kept_bytes(s->options.cache);
}

static void decode(struct json_reader *r, struct informer_object *ret) {
    struct object *object = arena_alloc(ret->arena, sizeof *object);
    if (object == NULL)
        return; /* the caller reports a failed arena */
    object_read(r, object_kind_at(ret->kind), POD_RUNNING, object);
    ret->meta = object->meta;
    ret->decoded = object;
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    const struct kube_source *s = contents;
    cache_write_begin(s->options.cache);
    int r = cache_apply(s->options.cache, object->decoded);
    cache_write_end(s->options.cache);
    return r == 0 ? 0 : err_set(err, r, "no memory for object '%.*s'", STR_ARG(object->meta.name));
}

static int remove_object(void *contents, const struct informer_object *gone, struct err *err) {
    const struct kube_source *s = contents;
    const struct object object = {.kind = object_kind_at(gone->kind), .meta = gone->meta};
    (void)err;
    cache_write_begin(s->options.cache);
    cache_remove(s->options.cache, &object);
    cache_write_end(s->options.cache);
    return 0;
}

#define ROW(kind)                                                                                  \
    { kind, decode, apply, remove_object, NULL }
/* In the order of enum object_kind, from OBJECT_NODE on. */
static const struct informer_kind kinds[KINDS] = {
    ROW(KIND_NODE),
    ROW(KIND_POD),
    ROW(KIND_NAMESPACE),
    ROW(KIND_SERVICE),
    ROW(KIND_REPLICATION_CONTROLLER),
    ROW(KIND_REPLICA_SET),
    ROW(KIND_STATEFUL_SET),
};
/* The cache has a lock of its own. */
static const struct informer_store store = {.what = "the API server's objects",
                                            .kinds = kinds,
                                            .kind_count = KINDS,
                                            .object_bytes = LIMIT_STATE_OBJECT_ARENA,
                                            .listed = listed,
                                            .kept_bytes = kept_bytes,
                                            .locks = true};

/* ---- life ---- */

static bool is_watched(const struct kube_source *s, uint32_t row) {
    return watched_kinds[kinds[row].row].need != KIND_FOR_DEFAULTS || s->options.workloads;
}

/* Marks a kind that is not watched as listed and empty. */
static void sync_unwatched(const struct kube_source *s, uint32_t row) {
    struct cache *cache = s->options.cache;
    cache_write_begin(cache);
    cache_sync_begin(cache, CACHE_KIND(object_kind_at(row)));
    cache_sync_end(cache, CACHE_KIND(object_kind_at(row)));
    cache_write_end(cache);
}

static int start(struct kube_source *s, struct err *err) {
    struct informer_watch watch = {
        .client = s->options.client, .clock = s->options.clock, .seed = s->options.seed};
    for (uint32_t row = 0; row < KINDS; row++)
        if (!is_watched(s, row)) {
            watch.without |= UINT64_C(1) << row;
            sync_unwatched(s, row);
        }
    int r = informer_new(&store, s, &s->informer, err);
    return r == 0 ? informer_watch(s->informer, &watch, err) : r;
}

int kube_source_new(const struct kube_source_options *options, struct kube_source **ret,
                    struct err *err) {
    struct kube_source *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory to watch the API server");
    s->options = *options;
    if (s->options.clock == NULL)
        s->options.clock = clock_real();
    int r = start(s, err);
    if (r == 0)
        *ret = s;
    else
        kube_source_free(s);
    return r;
}

void kube_source_free(struct kube_source *s) {
    if (s == NULL)
        return;
    informer_free(s->informer);
    free(s);
}

void kube_source_poll(struct kube_source *s) {
    for (uint32_t row = 0; row < KINDS; row++) {
        int64_t heard_ms;
        if (informer_heard(s->informer, row, &heard_ms))
            cache_heard(s->options.cache, object_kind_at(row), heard_ms);
    }
}
