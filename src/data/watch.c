#include "data/watch.h"

#include "base/mutex.h"
#include "kube/watch/feed.h"

#include <errno.h>
#include <stdlib.h>

/* The kind whose first object makes another one worth watching; itself: always. */
static enum fluid_kind worth_after(enum fluid_kind kind) {
    return kind == FLUID_STATEFUL_SET ? FLUID_EFC : FLUID_DATASET;
}

/* One kind, with what its sink needs. */
struct fluid_feed {
    struct fluid_watch *owner;
    enum fluid_kind kind;
    struct feed feed; /* not started: not watched (yet) */
};

struct fluid_watch {
    struct fluid_watch_options options;
    struct mutex mutex; /* of which feeds are started, and what follows */
    bool stopped;
    struct fluid_feed feeds[FLUID_KINDS];
};

static int start_after(struct fluid_watch *w, enum fluid_kind kind, struct err *err);

/* ---- the sink ---- */

static void sync_begin(void *ctx) {
    const struct fluid_feed *f = ctx;
    fluid_live_sync_begin(f->owner->options.objects, f->kind);
}

static void sync_end(void *ctx) {
    const struct fluid_feed *f = ctx;
    fluid_live_sync_end(f->owner->options.objects, f->kind);
}

static int apply(void *ctx, struct str object, struct err *err) {
    const struct fluid_feed *f = ctx;
    int r = fluid_live_apply(f->owner->options.objects, f->kind, object, err);
    return r == 0 ? start_after(f->owner, f->kind, err) : r;
}

static int remove_object(void *ctx, struct str object, struct err *err) {
    const struct fluid_feed *f = ctx;
    return fluid_live_remove(f->owner->options.objects, f->kind, object, err);
}

/* ---- life ---- */

static int start_feed(struct fluid_watch *w, enum fluid_kind kind, struct err *err)
    REQUIRES(w->mutex) {
    struct fluid_feed *f = &w->feeds[kind];
    const struct feed_options options = {
        .kind = fluid_kind_row(kind),
        .client = w->options.client,
        .clock = w->options.clock,
        .sink = {f, sync_begin, sync_end, apply, remove_object},
        .seed = w->options.seed + kind,
    };
    return feed_start(&f->feed, &options, err);
}

/* Starts what is worth watching now that there is an object of this kind, or for eagerness. */
static int start_after(struct fluid_watch *w, enum fluid_kind kind, struct err *err) {
    int r = 0;
    if (kind != FLUID_DATASET && kind != FLUID_EFC)
        return 0;
    mutex_lock(&w->mutex);
    for (enum fluid_kind k = 0; r == 0 && !w->stopped && k < FLUID_KINDS; k++)
        if (worth_after(k) == kind && !feed_started(&w->feeds[k].feed))
            r = start_feed(w, k, err);
    mutex_unlock(&w->mutex);
    return r;
}

int fluid_watch_start(const struct fluid_watch_options *options, struct fluid_watch **ret,
                      struct err *err) {
    struct fluid_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory to watch Fluid's objects");
    w->options = *options;
    mutex_init(&w->mutex);
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++)
        w->feeds[k] = (struct fluid_feed){.owner = w, .kind = k};
    int r;
    if (options->eager) {
        r = start_after(w, FLUID_DATASET, err);
    } else {
        mutex_lock(&w->mutex);
        r = start_feed(w, FLUID_DATASET, err);
        mutex_unlock(&w->mutex);
    }
    if (r == 0)
        *ret = w;
    else
        fluid_watch_free(w);
    return r;
}

/* Feeds are stopped without the mutex, because that waits for sinks, which take it. */
void fluid_watch_free(struct fluid_watch *w) {
    if (w == NULL)
        return;
    mutex_lock(&w->mutex);
    w->stopped = true; /* no other feed starts */
    mutex_unlock(&w->mutex);
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++)
        feed_stop(&w->feeds[k].feed);
    mutex_done(&w->mutex);
    free(w);
}

static bool all_are(struct fluid_watch *w, bool (*is)(const struct feed *f)) {
    bool all = true;
    mutex_lock(&w->mutex);
    for (enum fluid_kind k = 0; k < FLUID_KINDS; k++)
        all = all && is(&w->feeds[k].feed);
    mutex_unlock(&w->mutex);
    return all;
}

bool fluid_watch_listed(struct fluid_watch *w) {
    return all_are(w, feed_listed);
}

bool fluid_watch_synced(struct fluid_watch *w) {
    return all_are(w, feed_synced);
}
