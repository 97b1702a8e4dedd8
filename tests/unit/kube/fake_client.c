#include "unit/kube/fake_client.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TIMERS = 4 };

static _Atomic int64_t wall_us;

static int64_t now(const struct kube_client *f) {
    return f->clock.at_ms;
}

/* ---- what the client's functions do here ---- */

static void request_start(struct kube_client *f, struct kube_request *request) {
    assert_null(f->request);
    f->request = request;
}

static void end(struct kube_client *f, const struct kube_result *result) {
    struct kube_request *request = f->request;
    assert_non_null(request);
    f->request = NULL;
    request->on_done(request->ctx, result);
}

static void request_cancel(struct kube_client *f, struct kube_request *request) {
    if (f->request == request)
        end(f, &(struct kube_result){
                   .error = -ECANCELED, .error_text = "canceled", .retry_after_ms = -1});
}

static void timer_cancel(struct kube_client *f, struct kube_timer *timer) {
    (void)pthread_mutex_lock(&f->lock);
    for (int i = 0; i < TIMERS; i++)
        if (f->timers[i].timer == timer)
            f->timers[i].timer = NULL;
    (void)pthread_mutex_unlock(&f->lock);
}

static void timer_start(struct kube_client *f, struct kube_timer *timer, int64_t delay_ms) {
    int i = 0;
    timer_cancel(f, timer);
    (void)pthread_mutex_lock(&f->lock);
    while (i < TIMERS && f->timers[i].timer != NULL)
        i++;
    if (delay_ms < 0 || i == TIMERS) { /* for fake_done(): only a test's thread can fail it */
        f->bad_timer = true;
    } else {
        f->timers[i].timer = timer;
        f->timers[i].at_ms = now(f) + delay_ms;
    }
    (void)pthread_mutex_unlock(&f->lock);
}

static void run(struct kube_client *f, void (*fn)(void *ctx), void *ctx) {
    (void)f;
    fn(ctx);
}

static int64_t fake_wall_us(void) {
    return wall_us;
}

static int64_t fake_server_us(struct kube_client *f) {
    return wall_us + f->server_ahead_us;
}

const struct kube_io fake_io = {request_start, request_cancel, timer_start,   timer_cancel,
                                run,           fake_wall_us,   fake_server_us};

/* ---- for the test ---- */

void fake_init(struct kube_client *f) {
    *f = (struct kube_client){.lock = PTHREAD_MUTEX_INITIALIZER};
    clock_fake_init(&f->clock, 1000000);
    wall_us = 1700000000000000; /* 2023-11-14T22:13:20Z */
}

void fake_done(struct kube_client *f) {
    assert_null(f->request);
    assert_int_equal(fake_next_timer(f), -1);
    assert_false(f->bad_timer);
}

/* Removes and returns the timer that fires next, not later than `until_ms`. */
static struct kube_timer *take_timer(struct kube_client *f, int64_t until_ms, int64_t *ret_at_ms) {
    int next = -1;
    (void)pthread_mutex_lock(&f->lock);
    for (int i = 0; i < TIMERS; i++)
        if (f->timers[i].timer != NULL && f->timers[i].at_ms <= until_ms &&
            (next < 0 || f->timers[i].at_ms < f->timers[next].at_ms))
            next = i;
    struct kube_timer *timer = next >= 0 ? f->timers[next].timer : NULL;
    if (timer != NULL) {
        *ret_at_ms = f->timers[next].at_ms;
        f->timers[next].timer = NULL;
    }
    (void)pthread_mutex_unlock(&f->lock);
    return timer;
}

static void set_time(struct kube_client *f, int64_t at_ms) {
    if (at_ms <= now(f))
        return;
    wall_us += (at_ms - now(f)) * 1000;
    f->clock.at_ms = at_ms;
}

void fake_pass(struct kube_client *f, int64_t ms) {
    int64_t until_ms = now(f) + ms, at_ms;
    for (struct kube_timer *timer; (timer = take_timer(f, until_ms, &at_ms)) != NULL;) {
        set_time(f, at_ms);
        timer->fn(timer->ctx);
    }
    set_time(f, until_ms);
}

void fake_run(struct kube_client *f) {
    fake_pass(f, 0);
}

void fake_jump(int64_t seconds) {
    wall_us += seconds * 1000000;
}

int64_t fake_next_timer(struct kube_client *f) {
    int64_t least = -1;
    (void)pthread_mutex_lock(&f->lock);
    for (int i = 0; i < TIMERS; i++)
        if (f->timers[i].timer != NULL && (least < 0 || f->timers[i].at_ms - now(f) < least))
            least = f->timers[i].at_ms > now(f) ? f->timers[i].at_ms - now(f) : 0;
    (void)pthread_mutex_unlock(&f->lock);
    return least;
}

int fake_timer_count(struct kube_client *f) {
    int count = 0;
    (void)pthread_mutex_lock(&f->lock);
    for (int i = 0; i < TIMERS; i++)
        count += f->timers[i].timer != NULL;
    (void)pthread_mutex_unlock(&f->lock);
    return count;
}

void fake_answer(struct kube_client *f, int status, struct str body, int64_t retry_after_ms) {
    end(f, &(struct kube_result){
               .status = status, .error_text = "", .retry_after_ms = retry_after_ms, .body = body});
}

void fake_fail(struct kube_client *f, int error) {
    end(f,
        &(struct kube_result){.error = error, .error_text = "unreachable", .retry_after_ms = -1});
}

void fake_expect_event(struct kube_client *f, const char *reason, const char *note) {
    char want[256];
    fake_run(f);
    assert_non_null(f->request);
    struct str body = f->request->body;
    (void)snprintf(want, sizeof want, "\"reason\":\"%s\"", reason); /* fits */
    assert_non_null(memmem(body.p, body.n, want, strlen(want)));
    assert_non_null(memmem(body.p, body.n, note, strlen(note)));
    fake_answer(f, 201, STR("{}"), -1);
}
