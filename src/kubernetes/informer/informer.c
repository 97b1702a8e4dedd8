#include "informer/informer.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/watch/feed.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* One kind that an informer watches. */
struct kind_feed {
    struct informer *informer;
    uint32_t kind;
    struct feed feed;   /* not started: the kind is not watched (yet) */
    bool syncing;       /* a listing is under way, or will go on; for the client's thread */
    uint64_t kept;      /* bytes of all kinds when the listing began or ended; same thread */
    uint64_t unchecked; /* bytes of objects that came since the last kept_bytes(); same thread */
    struct metric metric;
    char labels[64];
};

struct informer {
    const struct informer_store *store;
    struct rwlock lock;
    void *now; /* the contents, guarded by the lock; owned if the store opens them */
    _Atomic uint64_t changes;
    void *next; /* owned: contents for files that are being read, or NULL */
    struct file_follower follower;
    struct arena arena; /* for the object of a watch event; the client's thread uses it */
    uint64_t most_kept; /* most kept bytes since memory was last given back; same thread */
    struct mutex mutex; /* held while a feed is started; guards `stopped` */
    bool stopped;
    struct mutex waiting; /* for informer_wait() */
    struct condition listed;
    struct informer_watch watch;
    struct kind_feed feeds[]; /* [store->kind_count] */
};

/* ---- life ---- */

static int open_contents(const struct informer *i, void **ret, struct err *err) {
    *ret = NULL;
    return i->store->open(ret, err);
}

static void close_contents(const struct informer *i, void *contents) {
    if (i->store->close != NULL)
        i->store->close(contents);
}

int informer_new(const struct informer_store *store, void *contents, struct informer **ret,
                 struct err *err) {
    struct informer *i = calloc(1, sizeof *i + store->kind_count * sizeof i->feeds[0]);
    if (i == NULL)
        return err_set(err, -ENOMEM, "no memory for %s", store->what);
    i->store = store;
    i->now = contents;
    int r = contents == NULL ? open_contents(i, &i->now, err) : 0;
    if (r != 0) {
        free(i);
        return r;
    }
    for (uint32_t k = 0; k < store->kind_count; k++) {
        i->feeds[k].informer = i;
        i->feeds[k].kind = k;
    }
    rwlock_init(&i->lock);
    mutex_init(&i->mutex);
    mutex_init(&i->waiting);
    condition_init(&i->listed);
    arena_init(&i->arena, store->object_bytes != 0 ? store->object_bytes : LIMIT_KUBE_EVENT);
    *ret = i;
    return 0;
}

void informer_free(struct informer *i) {
    if (i == NULL)
        return;
    informer_stop(i);
    close_contents(i, i->now);
    close_contents(i, i->next);
    arena_done(&i->arena);
    condition_done(&i->listed);
    mutex_done(&i->waiting);
    mutex_done(&i->mutex);
    rwlock_done(&i->lock);
    free(i);
}

static const struct watched_kind *row_of(const struct informer *i, uint32_t kind) {
    return &watched_kinds[i->store->kinds[kind].row];
}

/* ---- the lock ---- */

void *informer_read(struct informer *i) NOT_ANALYSED {
    rwlock_read(&i->lock);
    return i->now;
}

void informer_read_done(struct informer *i) NOT_ANALYSED {
    rwlock_read_done(&i->lock);
}

void *informer_write(struct informer *i) NOT_ANALYSED {
    rwlock_write(&i->lock);
    return i->now;
}

void informer_write_done(struct informer *i) NOT_ANALYSED {
    rwlock_write_done(&i->lock);
}

/* Begins a change of contents by a watch. */
static void change_begin(struct informer *i) NOT_ANALYSED {
    if (!i->store->locks)
        rwlock_write(&i->lock);
}

static void change_end(struct informer *i) NOT_ANALYSED {
    if (!i->store->locks)
        rwlock_write_done(&i->lock);
}

static void count_change(struct informer *i) {
    (void)atomic_fetch_add(&i->changes, 1); /* the old number does not matter */
}

uint64_t informer_changes(const struct informer *i) {
    return i != NULL ? atomic_load(&i->changes) : 0;
}

/* ---- the metric ---- */

static double count(void *ctx) {
    const struct kind_feed *f = ctx;
    struct informer *i = f->informer;
    const struct informer_kind *kind = &i->store->kinds[f->kind];
    if (i->store->locks)
        return kind->count(i->now);
    uint32_t objects = kind->count(informer_read(i));
    informer_read_done(i);
    return objects;
}

static void count_in_metrics(struct informer *i) {
    for (uint32_t k = 0; i->store->metric != NULL && k < i->store->kind_count; k++) {
        struct kind_feed *f = &i->feeds[k];
        if (i->store->kinds[k].count == NULL)
            continue;
        (void)snprintf(f->labels, sizeof f->labels, "resource=\"%s\"",
                       row_of(i, k)->resource); /* fits */
        f->metric = (struct metric){.name = i->store->metric,
                                    .help = i->store->metric_help,
                                    .labels = f->labels,
                                    .kind = METRIC_GAUGE,
                                    .read = count,
                                    .ctx = f};
        metric_register(&f->metric);
    }
}

/* ---- from files ---- */

static int begin(void *ctx, struct err *err) {
    struct informer *i = ctx;
    close_contents(i, i->next);
    i->next = NULL;
    return open_contents(i, &i->next, err);
}

static void decode(const struct informer_kind *kind, struct json_reader *r,
                   struct informer_object *ret) {
    kind->decode(r, ret);
    if (!json_failed(r) && str_empty(ret->meta.name))
        json_fail(r, "the object that ends here has no metadata.name");
}

static int take_as(struct informer *i, uint32_t k, const struct file_object *object,
                   struct err *err) {
    const struct informer_kind *kind = &i->store->kinds[k];
    struct informer_object taken = {.kind = k, .json = object->json, .arena = object->arena};
    if (kind->decode != NULL) {
        struct json_reader r = file_object_reader(object);
        decode(kind, &r, &taken);
        int failed = object_check(&r, &taken.meta, err);
        if (failed != 0)
            return failed;
    }
    return kind->apply(i->next, &taken, err);
}

static int take(void *ctx, const struct file_object *object, struct err *err) {
    struct informer *i = ctx;
    int r = 0;
    for (uint32_t k = 0; r == 0 && k < i->store->kind_count; k++)
        if (kind_is(row_of(i, k), object->type))
            r = take_as(i, k, object, err);
    return r;
}

static int end(void *ctx, struct err *err) {
    struct informer *i = ctx;
    (void)err;
    rwlock_write(&i->lock);
    void *before = i->now;
    i->now = i->next;
    count_change(i);
    rwlock_write_done(&i->lock);
    i->next = NULL;
    close_contents(i, before);
    return 0;
}

static void give_up(void *ctx) {
    struct informer *i = ctx;
    close_contents(i, i->next);
    i->next = NULL;
}

struct file_follower *informer_follower(struct informer *i) {
    i->follower = (struct file_follower){i, begin, take, end, give_up, NULL};
    count_in_metrics(i);
    return &i->follower;
}

int informer_load(struct informer *i, const char *const *paths, size_t count_of_paths,
                  struct err *err) {
    struct file_follower follower = {i, begin, take, end, give_up, NULL};
    struct file_source *files = NULL;
    struct file_source_result result;
    int r = file_source_new(paths, count_of_paths, NULL, &files, err);
    if (r != 0)
        return r;
    file_source_follow(files, &follower);
    r = file_source_load(files, &result, err);
    file_source_free(files);
    return r;
}

/* ---- from an API server ---- */

static uint64_t kept_bytes(const struct informer *i) {
    return i->store->kept_bytes != NULL ? i->store->kept_bytes(i->now) : 0;
}

/* A listing that begins again while it is under way is the same listing. */
static void set_syncing(struct kind_feed *f, bool syncing) {
    if (f->syncing == syncing)
        return;
    f->syncing = syncing;
    f->kept = kept_bytes(f->informer);
    f->unchecked = 0;
}

/* Returns -ENOSPC if the listing, or the watch after it, has added too many bytes: then it fails.
 * Checks only after every 64 KiB. */
static int weigh(struct kind_feed *f, struct str object, struct err *err) {
    enum { CHECK_BYTES = 64 << 10 };
    f->unchecked += object.n;
    if (f->unchecked < CHECK_BYTES)
        return 0;
    f->unchecked = 0;
    if (kept_bytes(f->informer) <= f->kept + LIMIT_LISTED_BYTES)
        return 0;
    return err_set(err, -ENOSPC, "a %s of which more than %u MiB would be kept: it does not end",
                   f->syncing ? "list" : "watch", LIMIT_LISTED_BYTES >> 20);
}

static void list_records(const struct informer_store *store, void *contents, uint32_t records,
                         enum informer_listing how) {
    struct pool *p = store->records(contents, records);
    if (how == LISTING_BEGINS)
        pool_listing_begin(p);
    else
        pool_listing_end(p, how == LISTING_ENDS, store->drop, contents, records);
}

static void list_all(const struct informer_store *store, void *contents, uint32_t kind,
                     enum informer_listing how) {
    if (store->lock != NULL)
        store->lock(contents);
    list_records(store, contents, kind, how);
    if (store->also != NULL && store->also[kind] != 0)
        list_records(store, contents, store->also[kind], how);
    if (store->unlock != NULL)
        store->unlock(contents);
}

void informer_list(const struct informer_store *store, void *contents, uint32_t kind,
                   enum informer_listing how) {
    if (store->records != NULL)
        list_all(store, contents, kind, how);
    if (store->listed != NULL)
        store->listed(contents, kind, how);
}

static void watch_begin(void *ctx) {
    struct kind_feed *f = ctx;
    struct informer *i = f->informer;
    change_begin(i);
    set_syncing(f, true);
    informer_list(i->store, i->now, f->kind, LISTING_BEGINS);
    change_end(i);
}

static void watch_abort(void *ctx) {
    struct kind_feed *f = ctx;
    struct informer *i = f->informer;
    change_begin(i);
    informer_list(i->store, i->now, f->kind, LISTING_FAILS);
    count_change(i);
    set_syncing(f, false);
    change_end(i);
}

static void watch_end(void *ctx) {
    struct kind_feed *f = ctx;
    struct informer *i = f->informer;
    change_begin(i);
    informer_list(i->store, i->now, f->kind, LISTING_ENDS);
    count_change(i);
    set_syncing(f, false);
    change_end(i);
    mutex_lock(&i->waiting);
    condition_broadcast(&i->listed);
    mutex_unlock(&i->waiting);
}

static int decode_event(struct informer *i, struct informer_object *object, struct err *err) {
    const struct informer_kind *kind = &i->store->kinds[object->kind];
    struct json_reader r;
    if (kind->decode == NULL)
        return 0;
    json_reader_init(&r, object->json, &i->arena, row_of(i, object->kind)->kind);
    decode(kind, &r, object);
    int failed = object_finish(&r, &object->meta, err);
    const struct object_meta *meta = &object->meta; /* the members that the decoder has read */
    if (failed == -EINVAL && !str_empty(meta->name))
        (void)err_wrap(err, "'%.*s%s%.*s'", STR_ARG(meta->namespace),
                       str_empty(meta->namespace) ? "" : "/", STR_ARG(meta->name));
    return failed;
}

static int watch_apply(void *ctx, struct str json, struct err *err) {
    struct kind_feed *f = ctx;
    struct informer *i = f->informer;
    struct informer_object object = {
        .kind = f->kind, .json = json, .arena = &i->arena, .is_stored = true};
    int r = decode_event(i, &object, err);
    if (r == 0) {
        change_begin(i);
        r = i->store->kinds[f->kind].apply(i->now, &object, err);
        if (r == 0)
            r = weigh(f, json, err);
        count_change(i);
        change_end(i);
    }
    arena_reset(&i->arena);
    return r;
}

/* Was enough removed to give memory back to the kernel? malloc() alone would keep it, because it is
 * between blocks in use. */
static bool has_shrunk(struct informer *i) {
    enum { AT_LEAST = 1 << 20, PART = 16 };
    const uint64_t kept = kept_bytes(i);
    if (kept > i->most_kept)
        i->most_kept = kept;
    if (i->most_kept - kept < AT_LEAST || i->most_kept - kept < i->most_kept / PART)
        return false;
    i->most_kept = kept;
    return true;
}

static int watch_remove(void *ctx, struct str json, struct err *err) {
    const struct kind_feed *f = ctx;
    struct informer *i = f->informer;
    struct informer_object gone = {.kind = f->kind, .arena = &i->arena};
    bool shrunk = false;
    int r = object_key_decode(json, &i->arena, &gone.meta, err);
    if (r == 0) {
        change_begin(i);
        r = i->store->kinds[f->kind].remove(i->now, &gone, err);
        count_change(i);
        shrunk = has_shrunk(i);
        change_end(i);
    }
    arena_reset(&i->arena);
    if (shrunk)
        (void)malloc_trim(0); /* there may be no memory to give back */
    return r;
}

int informer_watch_kind(struct informer *i, uint32_t kind, struct err *err) {
    struct kind_feed *f = &i->feeds[kind];
    const struct feed_options options = {
        .kind = row_of(i, kind),
        .client = i->watch.client,
        .clock = i->watch.clock,
        .sink = {f, watch_begin, watch_end, watch_apply, watch_remove, watch_abort},
        .seed = i->watch.seed + kind,
        .unmeasured = i->watch.unmeasured,
        .required = i->store->required,
    };
    mutex_lock(&i->mutex);
    int r = i->stopped || feed_started(&f->feed) ? 0 : feed_start(&f->feed, &options, err);
    mutex_unlock(&i->mutex);
    return r;
}

int informer_watch(struct informer *i, const struct informer_watch *watch, struct err *err) {
    int r = 0;
    i->watch = *watch;
    if (i->watch.clock == NULL)
        i->watch.clock = clock_real();
    for (uint32_t k = 0; r == 0 && k < i->store->kind_count; k++)
        if (!(watch->without >> k & 1))
            r = informer_watch_kind(i, k, err);
    if (r == 0 && !watch->unmeasured)
        count_in_metrics(i);
    return r;
}

/* Stops the feeds without the mutex: feed_stop() waits for the sink of its feed, and the sink may
 * need the mutex. */
void informer_stop(struct informer *i) {
    if (i == NULL)
        return;
    mutex_lock(&i->mutex);
    i->stopped = true; /* no other feed starts */
    mutex_unlock(&i->mutex);
    for (uint32_t k = 0; k < i->store->kind_count; k++) {
        metric_unregister(&i->feeds[k].metric);
        feed_stop(&i->feeds[k].feed); /* no callback comes any more */
    }
}

/* ---- progress ---- */

enum { ALL_KINDS = -1 };

static bool all_are(struct informer *i, uint64_t kinds, bool (*is)(const struct feed *f)) {
    bool all = true;
    mutex_lock(&i->mutex);
    for (uint32_t k = 0; k < i->store->kind_count; k++)
        all = all && (!(kinds >> k & 1) || is(&i->feeds[k].feed));
    mutex_unlock(&i->mutex);
    return all;
}

bool informer_listed(struct informer *i) {
    return all_are(i, (uint64_t)ALL_KINDS, feed_listed);
}

bool informer_synced(struct informer *i) {
    return informer_kinds_synced(i, (uint64_t)ALL_KINDS);
}

bool informer_kinds_synced(struct informer *i, uint64_t kinds) {
    return all_are(i, kinds, feed_synced);
}

bool informer_complete(struct informer *i) {
    return all_are(i, (uint64_t)ALL_KINDS, feed_complete);
}

bool informer_wait(struct informer *i, int64_t timeout_ms) {
    enum { LOOK_MS = 50 }; /* a failed request does not wake the waiting thread */
    struct clock *clock = clock_real();
    int64_t until_ms = clock->now_ms(clock) + timeout_ms;
    mutex_lock(&i->waiting);
    while (!informer_listed(i) && clock->now_ms(clock) < until_ms)
        (void)condition_wait_until(&i->listed, &i->waiting, clock->now_ms(clock) + LOOK_MS);
    mutex_unlock(&i->waiting);
    return informer_synced(i);
}

static bool stats_of(struct informer *i, uint32_t kind, struct reflector_stats *ret) {
    mutex_lock(&i->mutex);
    bool is_watched = feed_stats(&i->feeds[kind].feed, ret);
    mutex_unlock(&i->mutex);
    return is_watched;
}

bool informer_heard(struct informer *i, uint32_t kind, int64_t *ret_ms) {
    struct reflector_stats stats;
    if (!stats_of(i, kind, &stats) || stats.heard_ms == INT64_MIN)
        return false;
    *ret_ms = stats.heard_ms;
    return true;
}

int64_t informer_age_ms(struct informer *i) {
    return informer_kinds_age_ms(i, (uint64_t)ALL_KINDS);
}

int64_t informer_kinds_age_ms(struct informer *i, uint64_t kinds) {
    int64_t oldest = 0;
    for (uint32_t k = 0; k < i->store->kind_count; k++) {
        struct reflector_stats stats;
        if (!(kinds >> k & 1) || !stats_of(i, k, &stats))
            continue;
        if (stats.heard_ms == INT64_MIN)
            return INT64_MAX;
        int64_t age = i->watch.clock->now_ms(i->watch.clock) - stats.heard_ms;
        oldest = age > oldest ? age : oldest;
    }
    return oldest;
}
