/*
 * The client's thread: one loop around curl_multi_perform(). Other threads hand over requests and
 * timers under a mutex and wake the loop; everything else belongs to the loop alone.
 */
#include "kube/client/client.h"

#include "base/limits.h"
#include "base/mutex.h"
#include "base/time.h"
#include "kube/client/server_clock.h"
#include "kube/client/transfer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOP_MS = 1000, IDENTITY_MS = 10000, REQUEST_MS = 60000 };

struct kube_client {
    struct clock *clock;
    struct credentials *credentials;
    struct transfer_settings settings;
    struct server_clock server;
    CURLM *multi;
    pthread_t thread;

    struct mutex lock;              /* guards what follows, up to the next comment */
    struct kube_request *submitted; /* newest first */
    struct kube_timer *timers, *due;
    bool stopping, ended; /* asked to end; no timer starts any more */

    /* the thread's own */
    struct kube_request *active; /* libcurl has them */
    struct kube_request *held;   /* waiting for credentials */
    struct kube_request *starting;
    int64_t identity_ms; /* when it was last looked at */
};

static int64_t now_ms(const struct kube_client *c) {
    return c->clock->now_ms(c->clock);
}

static void wake(void *ctx) {
    const struct kube_client *c = ctx;
    (void)curl_multi_wakeup(c->multi); /* the loop looks once a second anyway */
}

static void link_request(struct kube_request **list, struct kube_request *request) {
    request->own.next = *list;
    request->own.link = list;
    if (request->own.next != NULL)
        request->own.next->own.link = &request->own.next;
    *list = request;
}

static void unlink_request(struct kube_request *request) {
    *request->own.link = request->own.next;
    if (request->own.next != NULL)
        request->own.next->own.link = request->own.link;
    request->own.link = NULL;
    request->own.next = NULL;
}

static void link_timer(struct kube_timer **list, struct kube_timer *timer) {
    timer->next = *list;
    timer->link = list;
    if (timer->next != NULL)
        timer->next->link = &timer->next;
    *list = timer;
}

static void unlink_timer(struct kube_timer *timer) {
    if (timer->link == NULL)
        return;
    *timer->link = timer->next;
    if (timer->next != NULL)
        timer->next->link = timer->link;
    timer->link = NULL;
}

/* ---- a request's way ---- */

/* The request, linked nowhere any more, is the caller's again; on_done may start it anew, so
 * nothing of it is touched afterwards. */
static void tell(struct kube_request *request, const struct kube_result *result) {
    struct kube_result said = *result;
    struct strbuf body = request->own.body;
    char error_text[sizeof request->own.error_text], content_type[256];
    (void)snprintf(error_text, sizeof error_text, "%s", request->own.error_text);
    (void)snprintf(content_type, sizeof content_type, "%.*s", STR_ARG(result->content_type));
    said.error_text = error_text;
    said.content_type = str_of(content_type);
    if (request->own.easy != NULL)
        transfer_done(request);
    request->own.body = (struct strbuf){0};
    request->on_done(request->ctx, &said);
    strbuf_done(&body);
}

/* Over without libcurl's having a say. */
static void give_up(struct kube_client *c, struct kube_request *request, int error,
                    const char *why) {
    unlink_request(request);
    if (request->own.easy != NULL)
        (void)curl_multi_remove_handle(c->multi, request->own.easy); /* it is in there */
    (void)snprintf(request->own.error_text, sizeof request->own.error_text, "%s", why);
    tell(request, &(struct kube_result){.error = error, .retry_after_ms = -1});
}

static void finish(struct kube_client *c, struct kube_request *request, CURLcode code) {
    struct kube_result result;
    unlink_request(request);
    (void)curl_multi_remove_handle(c->multi, request->own.easy); /* it is in there */
    transfer_result(request, code, &result);
    if (result.status == 401)
        credentials_refused(c->credentials, request->own.began_ms);
    tell(request, &result);
}

static void begin(struct kube_client *c, struct kube_request *request) {
    struct identity identity;
    struct err err = {0};
    request->own.began_ms = now_ms(c);
    request->own.server = &c->server;
    int64_t left_ms = request->own.until_ms - request->own.began_ms;
    int r = credentials_get(c->credentials, &identity, &err);
    bool wait = r == -EAGAIN && left_ms > 0;
    link_request(wait ? &c->held : &c->active, request);
    if (wait)
        return;
    if (r == -EAGAIN)
        r = err_set(&err, -ETIMEDOUT, "the credential plugin has not answered yet");
    if (r == 0)
        r = transfer_prepare(&c->settings, &identity, request, left_ms > 0 ? left_ms : 1, &err);
    if (r == 0 && curl_multi_add_handle(c->multi, request->own.easy) != CURLM_OK) {
        transfer_done(request);
        r = err_set(&err, -ENOMEM, "no memory for a request");
    }
    if (r != 0)
        give_up(c, request, r, err.text);
}

/* ---- the loop's steps ---- */

static void move_list(struct kube_request **from, struct kube_request **to) {
    *to = *from;
    *from = NULL;
    if (*to != NULL)
        (*to)->own.link = to;
}

static void begin_all(struct kube_client *c) {
    while (c->starting != NULL) {
        struct kube_request *request = c->starting;
        unlink_request(request);
        begin(c, request);
    }
}

static bool take_submitted(struct kube_client *c) {
    mutex_lock(&c->lock);
    move_list(&c->submitted, &c->starting);
    mutex_unlock(&c->lock);
    return c->starting != NULL;
}

/* What is submitted from here on is for the next round: a request that fails at once and is started
 * again by its owner must not keep the loop here. */
static void begin_submitted(struct kube_client *c) {
    if (take_submitted(c))
        begin_all(c);
}

static void begin_held(struct kube_client *c) {
    move_list(&c->held, &c->starting);
    begin_all(c);
}

static struct kube_request *find_outdated(const struct kube_client *c, uint64_t tls_version) {
    struct kube_request *request = c->active;
    while (request != NULL && (request->on_data == NULL || request->own.tls_version == tls_version))
        request = request->own.next;
    return request;
}

/* A watch goes on with the certificates it was opened with, for many minutes: too long once they
 * have been replaced. */
static void check_identity(struct kube_client *c) {
    struct identity identity;
    struct kube_request *request;
    int64_t now = now_ms(c);
    if (now < c->identity_ms + IDENTITY_MS)
        return;
    c->identity_ms = now;
    if (c->active == NULL || credentials_get(c->credentials, &identity, NULL) != 0)
        return;
    while ((request = find_outdated(c, identity.tls_version)) != NULL)
        give_up(c, request, -ECONNRESET, "the certificates have changed");
}

static void take_finished(struct kube_client *c) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(c->multi, &left)) != NULL;) {
        CURLcode code = message->data.result;
        char *request = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request); /* set for all */
        if (request != NULL)
            finish(c, (void *)request, code);
    }
}

static void find_due(struct kube_client *c, int64_t by_ms) {
    mutex_lock(&c->lock);
    for (struct kube_timer *timer = c->timers, *next; timer != NULL; timer = next) {
        next = timer->next;
        if (timer->at_ms > by_ms)
            continue;
        unlink_timer(timer);
        link_timer(&c->due, timer);
    }
    mutex_unlock(&c->lock);
}

static struct kube_timer *take_due(struct kube_client *c) {
    mutex_lock(&c->lock);
    struct kube_timer *timer = c->due;
    if (timer != NULL)
        unlink_timer(timer);
    mutex_unlock(&c->lock);
    return timer;
}

/* Those that are started meanwhile are for the next round, as with requests. */
static void run_timers(struct kube_client *c, int64_t by_ms) {
    find_due(c, by_ms);
    for (struct kube_timer *timer; (timer = take_due(c)) != NULL;)
        timer->fn(timer->ctx);
}

/* Until the next timer, or what libcurl says within that time. */
static void wait_for_work(struct kube_client *c) {
    int64_t now = now_ms(c), until = now + LOOP_MS;
    mutex_lock(&c->lock);
    for (const struct kube_timer *timer = c->timers; timer != NULL; timer = timer->next)
        until = timer->at_ms < until ? timer->at_ms : until;
    bool idle = c->submitted == NULL && !c->stopping;
    mutex_unlock(&c->lock);
    for (const struct kube_request *request = c->held; request != NULL; request = request->own.next)
        until = request->own.until_ms < until ? request->own.until_ms : until;
    if (idle && until > now)
        (void)curl_multi_poll(c->multi, NULL, 0, (int)(until - now), NULL); /* or wake() */
}

static bool stopping(struct kube_client *c) {
    mutex_lock(&c->lock);
    bool yes = c->stopping;
    mutex_unlock(&c->lock);
    return yes;
}

static void cancel_all(struct kube_client *c, struct kube_request **list) {
    while (*list != NULL)
        give_up(c, *list, -ECANCELED, "the program is stopping");
}

/* The last callbacks. A timer that was started before `ended` was set fires, one after never does:
 * so every owner hears of the end, and none goes on for ever. */
static void end(struct kube_client *c) {
    mutex_lock(&c->lock);
    c->ended = true;
    mutex_unlock(&c->lock);
    run_timers(c, INT64_MAX);
    cancel_all(c, &c->active);
    cancel_all(c, &c->held);
    while (take_submitted(c))
        cancel_all(c, &c->starting);
}

static void *run(void *ctx) {
    struct kube_client *c = ctx;
    int running;
    while (!stopping(c)) {
        begin_submitted(c);
        if (c->held != NULL)
            begin_held(c);
        check_identity(c);
        (void)curl_multi_perform(c->multi, &running); /* what fails is told by info_read */
        take_finished(c);
        run_timers(c, now_ms(c));
        wait_for_work(c);
    }
    end(c);
    return NULL;
}

/* ---- from other threads ---- */

void kube_request_start(struct kube_client *c, struct kube_request *request) {
    int64_t timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : REQUEST_MS;
    request->own = (struct kube_transfer){
        .body.max = request->max_body > 0 ? request->max_body : LIMIT_KUBE_BODY,
        .until_ms = now_ms(c) + timeout_ms,
    };
    mutex_lock(&c->lock);
    link_request(&c->submitted, request);
    mutex_unlock(&c->lock);
    wake(c);
}

void kube_request_cancel(struct kube_client *c, struct kube_request *request) {
    mutex_lock(&c->lock); /* submitting another request may write to this one */
    bool known = request->own.link != NULL;
    bool submitted = known && request->own.easy == NULL; /* or held, which does not mind */
    if (submitted)
        unlink_request(request);
    mutex_unlock(&c->lock);
    if (submitted)
        link_request(&c->active, request);
    if (known)
        give_up(c, request, -ECANCELED, "canceled");
}

void kube_timer_start(struct kube_client *c, struct kube_timer *timer, int64_t delay_ms) {
    mutex_lock(&c->lock);
    if (!c->ended) { /* otherwise one that is running still fires */
        unlink_timer(timer);
        timer->at_ms = now_ms(c) + delay_ms;
        link_timer(&c->timers, timer);
    }
    mutex_unlock(&c->lock);
    wake(c);
}

void kube_timer_cancel(struct kube_client *c, struct kube_timer *timer) {
    mutex_lock(&c->lock);
    unlink_timer(timer);
    mutex_unlock(&c->lock);
}

int64_t kube_server_us(struct kube_client *c) {
    return server_clock_us(&c->server);
}

void kube_compare_clocks(struct kube_client *c) {
    server_clock_compare(&c->server);
}

/* ---- waiting for one answer ---- */

struct call {
    struct mutex lock;
    struct condition done;
    bool is_done;
    struct strbuf *body;
    int status, error;
    struct err *err;
};

static void on_call_done(void *ctx, const struct kube_result *result) {
    struct call *call = ctx;
    mutex_lock(&call->lock);
    call->status = result->status;
    call->error = result->error;
    if (result->error != 0)
        (void)err_set(call->err, result->error, "%s", result->error_text);
    strbuf_append_str(call->body, result->body);
    call->is_done = true;
    condition_signal(&call->done);
    mutex_unlock(&call->lock);
}

int kube_call(struct kube_client *c, const char *method, const char *path, struct str request_body,
              struct strbuf *body, int *ret_status, struct err *err) {
    struct call call = {.body = body, .err = err};
    struct kube_request request = {.method = method,
                                   .path = path,
                                   .body = request_body,
                                   .max_body = body->max,
                                   .on_done = on_call_done,
                                   .ctx = &call};
    mutex_init(&call.lock);
    condition_init(&call.done);
    kube_request_start(c, &request);
    mutex_lock(&call.lock);
    while (!call.is_done)
        condition_wait(&call.done, &call.lock);
    mutex_unlock(&call.lock);
    condition_done(&call.done);
    mutex_done(&call.lock);
    if (call.error == 0 && strbuf_failed(body))
        return err_set(err, -ENOMEM, "no memory for the answer to %s %s", method, path);
    if (call.error == 0)
        *ret_status = call.status;
    return call.error;
}

/* ---- life ---- */

static void free_parts(struct kube_client *c) {
    credentials_free(c->credentials);
    if (c->multi != NULL)
        (void)curl_multi_cleanup(c->multi); /* fails only on a bad handle */
    transfer_settings_done(&c->settings);
    server_clock_done(&c->server);
    mutex_done(&c->lock);
    free(c);
    curl_global_cleanup();
}

/* Signals are the main thread's. */
static int start_thread(struct kube_client *c, struct err *err) {
    sigset_t all, before;
    (void)sigfillset(&all); /* cannot fail */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&c->thread, NULL, run, c);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0 ? 0 : err_set_errno(err, r, "cannot start a thread for the API server");
}

int kube_client_new(const struct kube_access *access, struct clock *clock, struct kube_client **ret,
                    struct err *err) {
    struct kube_client *c = calloc(1, sizeof *c);
    if (c == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(c);
        return err_set(err, -ENOMEM, "no memory for the API client");
    }
    c->clock = clock != NULL ? clock : clock_real();
    c->identity_ms = now_ms(c);
    server_clock_init(&c->server, kube_clock_boot());
    mutex_init(&c->lock);
    const struct credentials_options options = {
        .access = access, .clock = c->clock, .wake = wake, .ctx = c};
    c->multi = curl_multi_init();
    int r = c->multi != NULL ? 0 : err_set(err, -ENOMEM, "no memory for the API client");
    if (r == 0)
        r = transfer_settings_init(&c->settings, access, err);
    if (r == 0)
        r = credentials_new(&options, &c->credentials, err);
    if (r == 0)
        r = start_thread(c, err);
    if (r != 0) {
        free_parts(c);
        return r;
    }
    *ret = c;
    return 0;
}

void kube_client_free(struct kube_client *c) {
    if (c == NULL)
        return;
    mutex_lock(&c->lock);
    c->stopping = true;
    mutex_unlock(&c->lock);
    wake(c);
    (void)pthread_join(c->thread, NULL); /* ours, joined once */
    free_parts(c);
}
