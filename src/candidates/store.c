#include "candidates/store.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/watch/feed.h"
#include "model/object.h"
#include "state/files.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A topology with the strings that it borrows. */
struct world {
    struct intern strings;
    struct topology *topology;
};

struct candidate_store {
    const struct candidate_kind *kind;
    struct rwlock lock;
    struct world *now;  /* owned; guarded by the lock */
    struct world *next; /* owned: of the reading of files under way, or NULL */
    struct file_follower follower;
    struct feed feed;
    struct arena arena; /* of the object that a watch tells; its client's thread's */
    struct mutex mutex; /* of candidate_store_wait() */
    struct condition listed;
    struct metric metric;
    char labels[64];
};

/* ---- life ---- */

static void world_free(struct world *w) {
    if (w == NULL)
        return;
    topology_free(w->topology);
    intern_done(&w->strings);
    free(w);
}

static int world_new(struct world **ret, struct err *err) {
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory for candidates");
    int r = topology_new(&(struct topology_options){.strings = &w->strings}, &w->topology, err);
    if (r == 0)
        *ret = w;
    else
        free(w);
    return r;
}

int candidate_store_new(const struct candidate_kind *kind, struct candidate_store **ret,
                        struct err *err) {
    struct candidate_store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for candidates");
    s->kind = kind;
    int r = world_new(&s->now, err);
    if (r != 0) {
        free(s);
        return r;
    }
    rwlock_init(&s->lock);
    mutex_init(&s->mutex);
    condition_init(&s->listed);
    arena_init(&s->arena, LIMIT_KUBE_EVENT);
    *ret = s;
    return 0;
}

void candidate_store_free(struct candidate_store *s) {
    if (s == NULL)
        return;
    candidate_store_stop(s);
    world_free(s->now);
    world_free(s->next);
    arena_done(&s->arena);
    condition_done(&s->listed);
    mutex_done(&s->mutex);
    rwlock_done(&s->lock);
    free(s);
}

/* ---- metrics ---- */

static double count(void *ctx) {
    struct candidate_store *s = ctx;
    struct topology_stats stats = topology_stats(candidate_store_hold(s));
    candidate_store_release(s);
    return stats.candidates;
}

static void count_in_metrics(struct candidate_store *s) {
    const char *resource = kind_name(&watched_kinds[s->kind->row]);
    (void)snprintf(s->labels, sizeof s->labels, "resource=\"%s\"", resource); /* fits */
    s->metric = (struct metric){.name = "evenkeel_candidates",
                                .help = "Candidates beside the cluster's nodes, by kind.",
                                .labels = s->labels,
                                .kind = METRIC_GAUGE,
                                .read = count,
                                .ctx = s};
    metric_register(&s->metric);
}

/* ---- decoding ---- */

/* The object that comes next, which must have a name. */
static void read_candidate(const struct candidate_store *s, struct json_reader *r,
                           struct candidate *ret) {
    s->kind->decode(r, ret);
    if (!json_failed(r) && str_empty(ret->name))
        json_fail(r, "the object that ends here has no metadata.name");
}

static int decode(const struct candidate_store *s, struct str json, struct arena *arena,
                  struct candidate *ret, struct err *err) {
    struct json_reader r;
    json_reader_init(&r, json, arena, watched_kinds[s->kind->row].kind);
    read_candidate(s, &r, ret);
    return object_finish(&r, &(struct object_meta){.name = ret->name}, err);
}

static int apply(struct world *w, const struct candidate *candidate, struct err *err) {
    int r = topology_apply(w->topology, candidate);
    return r == 0 ? 0 : err_set(err, r, "no memory for candidate '%.*s'", STR_ARG(candidate->name));
}

/* ---- from files ---- */

static int begin(void *ctx, struct err *err) {
    struct candidate_store *s = ctx;
    world_free(s->next);
    s->next = NULL;
    return world_new(&s->next, err);
}

static int take(void *ctx, const struct file_object *object, struct err *err) {
    struct candidate_store *s = ctx;
    struct candidate candidate;
    if (watched_kind_find(object->type) != &watched_kinds[s->kind->row])
        return 0;
    int r = decode(s, object->json, object->arena, &candidate, err);
    return r == 0 ? apply(s->next, &candidate, err) : r;
}

static int end(void *ctx, struct err *err) {
    struct candidate_store *s = ctx;
    (void)err;
    rwlock_write(&s->lock);
    struct world *before = s->now;
    s->now = s->next;
    rwlock_write_done(&s->lock);
    s->next = NULL;
    world_free(before);
    return 0;
}

static void give_up(void *ctx) {
    struct candidate_store *s = ctx;
    world_free(s->next);
    s->next = NULL;
}

struct file_follower *candidate_store_follower(struct candidate_store *s) {
    s->follower = (struct file_follower){s, begin, take, end, give_up, NULL};
    count_in_metrics(s);
    return &s->follower;
}

static int read_object(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct candidate_store *s = ctx;
    struct candidate candidate;
    if (watched_kind_find(type) != &watched_kinds[s->kind->row]) {
        (void)json_skip(r); /* errors stay in r, for the walk */
        return 0;
    }
    read_candidate(s, r, &candidate);
    return json_failed(r) ? 0 : apply(s->next, &candidate, err);
}

int candidate_store_load(struct candidate_store *s, const char *const *paths, size_t count,
                         struct err *err) {
    CLEANUP(manifests_done) struct manifests files = {0};
    int r = manifests_list(paths, count, "state", &files, err);
    if (r == 0)
        r = manifests_read(&files, LIMIT_STATE_BYTES, err);
    if (r == 0)
        r = begin(s, err);
    if (r == 0)
        r = state_files_walk(&files, read_object, s, err);
    if (r == 0)
        return end(s, err);
    give_up(s);
    return r;
}

/* ---- from an API server ---- */

static void watch_begin(void *ctx) {
    struct candidate_store *s = ctx;
    rwlock_write(&s->lock);
    topology_sync_begin(s->now->topology);
    rwlock_write_done(&s->lock);
}

static void watch_end(void *ctx) {
    struct candidate_store *s = ctx;
    rwlock_write(&s->lock);
    while (topology_sync_end(s->now->topology))
        continue;
    rwlock_write_done(&s->lock);
    mutex_lock(&s->mutex);
    condition_broadcast(&s->listed);
    mutex_unlock(&s->mutex);
}

static int watch_apply(void *ctx, struct str object, struct err *err) {
    struct candidate_store *s = ctx;
    struct candidate candidate;
    arena_reset(&s->arena);
    int r = decode(s, object, &s->arena, &candidate, err);
    if (r != 0)
        return r;
    rwlock_write(&s->lock);
    r = apply(s->now, &candidate, err);
    rwlock_write_done(&s->lock);
    return r;
}

static int watch_remove(void *ctx, struct str object, struct err *err) {
    struct candidate_store *s = ctx;
    struct object_meta gone;
    arena_reset(&s->arena);
    int r = object_key_decode(object, &s->arena, &gone, err);
    if (r != 0)
        return r;
    rwlock_write(&s->lock);
    topology_remove(s->now->topology, gone.name);
    rwlock_write_done(&s->lock);
    return 0;
}

int candidate_store_watch(struct candidate_store *s, struct kube_client *client, uint64_t seed,
                          struct err *err) {
    const struct watched_kind *row = &watched_kinds[s->kind->row];
    const struct feed_options options = {
        .kind = row,
        .client = client,
        .sink = {s, watch_begin, watch_end, watch_apply, watch_remove},
        .seed = seed,
    };
    int r = feed_start(&s->feed, &options, err);
    if (r != 0)
        return r;
    count_in_metrics(s);
    return 0;
}

void candidate_store_stop(struct candidate_store *s) {
    if (s == NULL)
        return;
    metric_unregister(&s->metric);
    feed_stop(&s->feed); /* no callback comes any more */
}

bool candidate_store_listed(const struct candidate_store *s) {
    return feed_listed(&s->feed);
}

bool candidate_store_synced(const struct candidate_store *s) {
    struct reflector_stats stats;
    return !feed_stats(&s->feed, &stats) || stats.synced;
}

int64_t candidate_store_age_ms(const struct candidate_store *s) {
    struct reflector_stats stats;
    if (!feed_stats(&s->feed, &stats))
        return 0;
    return stats.heard_ms == INT64_MIN ? INT64_MAX
                                       : clock_real()->now_ms(clock_real()) - stats.heard_ms;
}

bool candidate_store_wait(struct candidate_store *s, int64_t timeout_ms) {
    enum { LOOK_MS = 50 }; /* nobody tells of a request that failed */
    struct clock *clock = clock_real();
    int64_t until_ms = clock->now_ms(clock) + timeout_ms;
    mutex_lock(&s->mutex);
    while (!candidate_store_listed(s) && clock->now_ms(clock) < until_ms)
        (void)condition_wait_until(&s->listed, &s->mutex, clock->now_ms(clock) + LOOK_MS);
    mutex_unlock(&s->mutex);
    return candidate_store_synced(s);
}

/* ---- reading ---- */

const struct topology *candidate_store_hold(struct candidate_store *s) NOT_ANALYSED {
    rwlock_read(&s->lock);
    return s->now->topology;
}

void candidate_store_release(struct candidate_store *s) NOT_ANALYSED {
    rwlock_read_done(&s->lock);
}
