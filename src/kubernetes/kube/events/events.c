/*
 * The client's thread does one step at a time: tick() begins the next request, or sets the timer to
 * the time of the next one. Other threads put events into the table, and wake the client's thread
 * if it has work then.
 *
 * Lock order: our mutex, then the client's. We call the client's functions with our mutex held, so
 * that timers are set in the order of our decisions.
 */
#include "kube/events/events.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client/status.h"
#include "kube/events/event_table.h"
#include "model/names.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PACE_BURST = 10, /* upstream: client-go rest/config.go, QPS and Burst */
    PACE_MS = 200,
    TRIES = 12, /* upstream: client-go tools/events/event_broadcaster.go */
    REQUEST_MS = 10000,
    STATUS_ARENA = 1 << 20,
    ANSWER_BYTES = 1 << 20,
    BODY_BYTES = 64 << 10,
};

struct event_recorder {
    struct kube_client *client;
    struct clock *clock;
    struct kube_io io;
    char instance[EVENT_INSTANCE_BYTES + 1];
    struct kube_request request; /* the client's thread uses it, `body` and `path` */
    struct strbuf body;
    char path[512];

    struct mutex lock;        /* guards everything below */
    struct condition ended;   /* `stopped` has become true */
    struct event_table table; /* its in_flight is changed by the client's thread only */
    struct kube_timer timer;
    int64_t pace_ms; /* the limiter of all requests */
    bool woken;      /* the timer will fire at once, and tick() looks at everything */
    bool stopping, stopped;
    int64_t stop_by_ms;
};

static int64_t now_ms(const struct event_recorder *r) {
    return r->clock->now_ms(r->clock);
}

/* ---- events come, from any thread ---- */

static void wake(struct event_recorder *r) REQUIRES(r->lock) {
    if (r->woken || r->table.in_flight != NULL)
        return; /* tick() will look anyway */
    r->woken = true;
    r->io.timer_start(r->client, &r->timer, 0);
}

bool event_record(struct event_recorder *r, const struct event *event) {
    bool taken = true;
    if (r == NULL)
        return true;
    assert(!str_empty(event->reason));
    int64_t wall_us = r->io.wall_us(), now = now_ms(r);
    mutex_lock(&r->lock);
    if (r->stopping || !event_is_writable(event))
        event_table_count(&r->table, EVENTS_DROPPED);
    else if (event_table_add(&r->table, event, now, wall_us, &taken))
        wake(r);
    mutex_unlock(&r->lock);
    return taken;
}

/* ---- and are written ---- */

static void begin(struct event_recorder *r, struct event_entry *e) REQUIRES(r->lock) {
    struct str namespace = event_namespace(&e->copy.event);
    bool is_new = e->state == EVENT_QUEUED;
    strbuf_clear(&r->body);
    if (is_new)
        event_put_new(&r->body, &e->copy, str_of(r->instance));
    else
        event_put_series(&r->body, &e->copy);
    (void)snprintf(r->path, sizeof r->path,
                   "/apis/" EVENTS_API "/namespaces/%.*s/events%s%s?fieldManager=evenkeel",
                   STR_ARG(namespace), is_new ? "" : "/", is_new ? "" : e->copy.name); /* fits */
    event_table_begin(&r->table, e);
    r->request.method = is_new ? "POST" : "PATCH";
    r->request.content_type = is_new ? NULL : "application/merge-patch+json";
    r->request.path = r->path;
    r->request.body = strbuf_str(&r->body);
    r->io.request_start(r->client, &r->request);
}

static void finish_stop(struct event_recorder *r) REQUIRES(r->lock) {
    r->stopped = true;
    r->io.timer_cancel(r->client, &r->timer);
    condition_broadcast(&r->ended);
}

static void begin_next(struct event_recorder *r, int64_t now) REQUIRES(r->lock) {
    int64_t at;
    struct event_entry *e = event_table_choose(&r->table, now, &at);
    if (r->stopping && (now >= r->stop_by_ms || (e == NULL && at == INT64_MAX))) {
        finish_stop(r);
    } else if (e != NULL && event_limit_use(&r->pace_ms, now, PACE_MS, PACE_BURST)) {
        begin(r, e);
    } else {
        at = e != NULL ? r->pace_ms - (PACE_BURST - 1) * PACE_MS : at;
        at = r->stopping && r->stop_by_ms < at ? r->stop_by_ms : at;
        if (at != INT64_MAX)
            r->io.timer_start(r->client, &r->timer, at - now);
    }
}

/* Begins the next request, or sets a timer, if there is anything to do. */
static void go_on(struct event_recorder *r) REQUIRES(r->lock) {
    int64_t now = now_ms(r);
    if (r->table.in_flight == NULL && !r->stopped)
        begin_next(r, now);
    if (r->table.in_flight != NULL && r->stopping)
        r->io.timer_start(r->client, &r->timer, now < r->stop_by_ms ? r->stop_by_ms - now : 0);
}

static void tick(void *ctx) {
    struct event_recorder *r = ctx;
    mutex_lock(&r->lock);
    r->woken = false;
    bool overdue = r->table.in_flight != NULL && r->stopping && now_ms(r) >= r->stop_by_ms;
    if (!overdue)
        go_on(r);
    mutex_unlock(&r->lock);
    if (overdue)
        r->io.request_cancel(r->client, &r->request); /* calls on_done() */
}

/* ---- answers ---- */

static enum event_end meaning_of(const struct event_entry *e, const struct kube_result *result) {
    int status = result->status;
    if (result->error != 0 || status >= 500 || status == 429 || status == 408 || status == 401)
        return e->tries + 1 < TRIES ? EVENT_TRY_AGAIN : EVENT_GIVE_UP;
    if (status == 200 || status == 201)
        return EVENT_WRITTEN;
    if (status == 409 && e->state == EVENT_QUEUED)
        return EVENT_IS_THERE;
    if (status == 404 && e->state == EVENT_LIVE)
        return EVENT_IS_GONE;
    return EVENT_GIVE_UP;
}

static void log_failure(const struct event_entry *e, const char *message,
                        const struct kube_result *result) {
    CLEANUP(arena_done) struct arena arena;
    const struct event *event = &e->copy.event;
    struct kube_status status = {0};
    arena_init(&arena, STATUS_ARENA);
    if (result->error != 0)
        status.message = str_of(result->error_text);
    else
        kube_status_read(result->body, result->status, &arena, &status);
    LOG_W(message, LOG_STR("reason", event->reason), LOG_STR("kind", event->regarding.kind),
          LOG_STR("namespace", event->regarding.namespace), LOG_STR("name", event->regarding.name),
          LOG_INT("status", result->status), LOG_STR("err", status.message));
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct event_recorder *r = ctx;
    const struct event_entry *e = r->table.in_flight; /* no other thread changes the members that
                                                         are read here */
    enum event_end end = meaning_of(e, result);
    if (end == EVENT_GIVE_UP)
        log_failure(e, "an event could not be written", result);
    else if (end == EVENT_TRY_AGAIN && e->tries == 0)
        log_failure(e, "an event could not be written yet", result);
    mutex_lock(&r->lock);
    event_table_end(&r->table, end, now_ms(r), result->retry_after_ms);
    go_on(r);
    mutex_unlock(&r->lock);
}

/* ---- life ---- */

static void keep_instance(struct event_recorder *r, const char *instance) {
    struct strbuf clean = {0};
    event_put_clean(&clean, str_of(instance), EVENT_INSTANCE_BYTES);
    (void)snprintf(r->instance, sizeof r->instance, "%.*s", STR_ARG(strbuf_str(&clean)));
    strbuf_done(&clean);
}

int event_recorder_new(const struct event_options *options, struct event_recorder **ret,
                       struct err *err) {
    struct event_recorder *r = calloc(1, sizeof *r);
    if (r == NULL || !event_table_init(&r->table, options->seed)) {
        free(r);
        return err_set(err, -ENOMEM, "no memory for the recorder of events");
    }
    r->client = options->client;
    r->clock = options->clock != NULL ? options->clock : clock_real();
    r->io = kube_io_or_real(options->io);
    r->body.max = BODY_BYTES;
    r->timer = (struct kube_timer){.fn = tick, .ctx = r};
    r->request = (struct kube_request){
        .timeout_ms = REQUEST_MS, .max_body = ANSWER_BYTES, .on_done = on_done, .ctx = r};
    keep_instance(r, options->instance);
    mutex_init(&r->lock);
    condition_init(&r->ended);
    *ret = r;
    return 0;
}

void event_recorder_stop(struct event_recorder *r, int64_t limit_ms) {
    if (r == NULL)
        return;
    mutex_lock(&r->lock);
    r->stopping = r->table.hurry = true;
    r->stop_by_ms = now_ms(r) + limit_ms;
    r->io.timer_start(r->client, &r->timer, 0);
    while (!r->stopped)
        condition_wait(&r->ended, &r->lock);
    mutex_unlock(&r->lock);
}

static void end_now(void *ctx) {
    struct event_recorder *r = ctx;
    mutex_lock(&r->lock);
    r->stopping = r->stopped = true;
    mutex_unlock(&r->lock);
    r->io.request_cancel(r->client, &r->request); /* calls on_done() */
    r->io.timer_cancel(r->client, &r->timer);
}

void event_recorder_free(struct event_recorder *r) {
    if (r == NULL)
        return;
    r->io.run(r->client, end_now, r);
    event_table_done(&r->table);
    strbuf_done(&r->body);
    condition_done(&r->ended);
    mutex_done(&r->lock);
    free(r);
}
