#include "kube/watch/watch.h"

#include "base/mutex.h"
#include "kube/client/outage.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct kube_watch {
    struct kube_client *client;
    struct clock *clock;

    /* for the client's thread only */
    struct reflector *reflector;
    struct kube_request request;
    struct kube_timer timer;
    struct outage_waiter waiter;
    const char *resource; /* borrowed */
    int64_t asked_ms;     /* when the last request was sent */
    bool waits;           /* the watch waits for its timer */
    bool stopped;
    bool in_reflector; /* the reflector is at work, and may be calling the sink */

    struct mutex lock; /* guards the members below */
    struct reflector_stats stats;
};

static int64_t now_ms(const struct kube_watch *w) {
    return w->clock->now_ms(w->clock);
}

static void publish(struct kube_watch *w) {
    mutex_lock(&w->lock);
    reflector_stats(w->reflector, &w->stats);
    mutex_unlock(&w->lock);
}

/* Does the reflector's next step. */
static void go_on(void *ctx) {
    struct kube_watch *w = ctx;
    struct reflector_next next;
    reflector_next(w->reflector, now_ms(w), &next);
    publish(w);
    w->waits = next.step == REFLECTOR_WAIT;
    if (w->waits) {
        kube_timer_start(w->client, &w->timer, next.wait_ms);
        return;
    }
    w->asked_ms = now_ms(w);
    w->request.path = next.path;
    w->request.timeout_ms = next.timeout_ms;
    w->request.silence_ms = next.silence_ms;
    kube_request_start(w->client, &w->request);
}

/* A request that is under way goes on: a second one must not be sent. */
static void wake(void *ctx, int64_t delay_ms) {
    struct kube_watch *w = ctx;
    reflector_hurry(w->reflector, now_ms(w), delay_ms);
    if (w->waits)
        go_on(w);
}

static void on_head(void *ctx, int status) {
    struct kube_watch *w = ctx;
    if (status == 200)
        outage_succeed(kube_client_outage(w->client), &w->waiter, now_ms(w));
    w->in_reflector = true;
    reflector_on_head(w->reflector, now_ms(w), status);
    w->in_reflector = false;
    publish(w);
}

static int on_data(void *ctx, struct str bytes) {
    struct kube_watch *w = ctx;
    w->in_reflector = true;
    int enough = reflector_on_data(w->reflector, now_ms(w), bytes);
    w->in_reflector = false;
    publish(w);
    return enough;
}

/* A server that does not answer is logged once for all its watches. */
static void note_end(struct kube_watch *w, const struct kube_result *result) {
    struct outage *o = kube_client_outage(w->client);
    const struct outage_failure failure = {.resource = w->resource,
                                           .error = result->error_text,
                                           .asked_ms = w->asked_ms,
                                           .unasked = result->unasked};
    if (!reflector_unanswered(w->reflector))
        outage_leave(o, &w->waiter);
    else if (outage_join(o, &w->waiter, now_ms(w), &failure))
        return;
    reflector_log_end(w->reflector, now_ms(w), result->error_text);
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct kube_watch *w = ctx;
    if (w->stopped)
        return;
    w->in_reflector = true;
    reflector_on_end(w->reflector, now_ms(w), result->error, result->retry_after_ms);
    w->in_reflector = false;
    note_end(w, result);
    go_on(w);
}

static void free_parts(struct kube_watch *w) {
    reflector_free(w->reflector);
    mutex_done(&w->lock);
    free(w);
}

int kube_watch_start(struct kube_client *client, struct clock *clock,
                     const struct reflector_options *options, struct kube_watch **ret,
                     struct err *err) {
    struct kube_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory to watch %s", options->resource);
    w->client = client;
    w->clock = clock != NULL ? clock : clock_real();
    w->request = (struct kube_request){
        .method = "GET", .on_head = on_head, .on_data = on_data, .on_done = on_done, .ctx = w};
    w->timer = (struct kube_timer){.fn = go_on, .ctx = w};
    w->waiter = (struct outage_waiter){.wake = wake, .ctx = w};
    list_init(&w->waiter.link);
    w->resource = options->resource;
    mutex_init(&w->lock);
    struct reflector_options ours = *options;
    ours.role = kube_client_role(client);
    int r = reflector_new(&ours, &w->reflector, err);
    if (r != 0) {
        free_parts(w);
        return r;
    }
    reflector_stats(w->reflector, &w->stats);
    kube_timer_start(client, &w->timer, 0); /* everything happens on the client's thread */
    *ret = w;
    return 0;
}

static void stop(void *ctx) {
    struct kube_watch *w = ctx;
    assert(!w->in_reflector); /* it is about to be freed */
    w->stopped = true;
    outage_leave(kube_client_outage(w->client), &w->waiter);
    kube_request_cancel(w->client, &w->request);
    kube_timer_cancel(w->client, &w->timer);
}

void kube_watch_free(struct kube_watch *w) {
    if (w == NULL)
        return;
    kube_run(w->client, stop, w);
    free_parts(w);
}

void kube_watch_stats(struct kube_watch *w, struct reflector_stats *ret) {
    mutex_lock(&w->lock);
    *ret = w->stats;
    mutex_unlock(&w->lock);
}
