/*
 * An API server on a loop. Other threads hand over requests under a mutex and wake the loop;
 * everything else belongs to its thread alone.
 */
#include "kube/client/client.h"

#include "base/limits.h"
#include "base/mutex.h"
#include "base/time.h"
#include "kube/client/outage.h"
#include "kube/client/server_clock.h"
#include "kube/client/stats.h"
#include "kube/client/transfer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { IDENTITY_MS = 10000, REQUEST_MS = 60000 };

struct kube_client {
    struct kube_loop *loop;
    bool owns_loop;
    const char *role; /* borrowed; NULL: none */
    struct loop_client on_loop;
    struct clock *clock; /* the loop's */
    struct credentials *credentials;
    struct transfer_settings settings;
    struct server_clock server;
    struct client_stats *stats;
    struct outage outage; /* for the loop's thread only */

    struct mutex lock;              /* guards the next two members; locked before the loop's mutex
                                     */
    struct kube_request *submitted; /* newest first */
    bool ended;                     /* no timer starts any more */

    /* for the loop's thread only */
    struct kube_request *active; /* requests that libcurl works on */
    struct kube_request *held;   /* requests that wait for credentials */
    struct kube_request *starting;
    int64_t identity_ms; /* when the credentials were last checked */
};

static int64_t now_ms(const struct kube_client *c) {
    return c->clock->now_ms(c->clock);
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

/* ---- a request's way ---- */

/* Gives the request, which is in no list any more, back to the caller. on_done may start the
 * request again, so this function does not use it after the call. */
static void tell(struct kube_request *request, const struct kube_result *result) {
    struct kube_result said = *result;
    struct strbuf body = request->own.body;
    char error_text[sizeof request->own.error_text], content_type[256];
    (void)snprintf(error_text, sizeof error_text, "%s", request->own.error_text);
    (void)snprintf(content_type, sizeof content_type, "%.*s", STR_ARG(result->content_type));
    said.error_text = error_text;
    said.content_type = str_of(content_type);
    if (request->own.transfer.easy != NULL)
        transfer_done(request);
    request->own.body = (struct strbuf){0};
    request->on_done(request->ctx, &said);
    strbuf_done(&body);
}

/* Ends a request that libcurl does not have, or takes it away from libcurl. */
static void end_early(struct kube_request *request, const struct kube_result *result,
                      const char *why) {
    unlink_request(request);
    if (request->own.transfer.easy != NULL)
        loop_remove(request->own.client->loop, &request->own.transfer);
    (void)snprintf(request->own.error_text, sizeof request->own.error_text, "%s", why);
    tell(request, result);
}

static void give_up(struct kube_request *request, int error, const char *why) {
    end_early(request, &(struct kube_result){.error = error, .retry_after_ms = -1}, why);
}

static void on_transfer_end(void *ctx, int code) {
    struct kube_request *request = ctx;
    struct kube_result result;
    unlink_request(request);
    transfer_result(request, (CURLcode)code, &result);
    if (request->own.client->stats != NULL)
        client_stats_count(request->own.client->stats, request, &result,
                           now_ms(request->own.client) - request->own.began_ms);
    if (result.status >= 200 && result.status < 300)
        outage_end(&request->own.client->outage, now_ms(request->own.client));
    if (result.status == 401)
        credentials_refused(request->own.client->credentials, request->own.began_ms);
    tell(request, &result);
}

static int64_t timeout_of(const struct kube_request *request) {
    return request->timeout_ms > 0 ? request->timeout_ms : REQUEST_MS;
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
    if (r == 0 && request->credentials_ms > 0)
        left_ms = timeout_of(request);
    if (r == 0 && request->on_begin != NULL)
        request->on_begin(request->ctx);
    if (r == -EAGAIN)
        r = err_set(&err, -ETIMEDOUT, "the credential plugin has not answered yet");
    if (r == 0)
        r = transfer_prepare(&c->settings, &identity, request, left_ms > 0 ? left_ms : 1, &err);
    if (r == 0 && !loop_add(c->loop, &request->own.transfer)) {
        transfer_done(request);
        r = err_set(&err, -ENOMEM, "no memory for a request");
    }
    if (r != 0)
        end_early(request, &(struct kube_result){.error = r, .unasked = true, .retry_after_ms = -1},
                  err.text);
}

/* ---- rounds ---- */

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

/* Requests that are submitted from now on wait for the next round. Otherwise a request that fails
 * at once, and is started again, would keep the loop here. */
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

/* Ends watches with old certificates: a watch lives for many minutes, too long after its
 * certificates were replaced. */
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
        give_up(request, -ECONNRESET, "the certificates have changed");
}

static void round_of(void *ctx) {
    struct kube_client *c = ctx;
    begin_submitted(c);
    if (c->held != NULL)
        begin_held(c);
    check_identity(c);
}

static int64_t next_ms(void *ctx) {
    struct kube_client *c = ctx;
    int64_t until = INT64_MAX;
    for (const struct kube_request *request = c->held; request != NULL; request = request->own.next)
        until = request->own.until_ms < until ? request->own.until_ms : until;
    return until;
}

/* ---- from any thread ---- */

void kube_run(struct kube_client *c, void (*fn)(void *ctx), void *ctx) {
    kube_loop_run(c->loop, fn, ctx);
}

void kube_request_start(struct kube_client *c, struct kube_request *request) {
    int64_t first_ms = request->credentials_ms > 0 ? request->credentials_ms : timeout_of(request);
    request->own = (struct kube_transfer){
        .client = c,
        .transfer = {.on_end = on_transfer_end, .ctx = request},
        .body.max = request->max_body > 0 ? request->max_body : LIMIT_KUBE_BODY,
        .until_ms = now_ms(c) + first_ms,
    };
    mutex_lock(&c->lock);
    link_request(&c->submitted, request);
    mutex_unlock(&c->lock);
    loop_wake(c->loop);
}

static void cancel_request(void *ctx) {
    struct kube_request *request = ctx;
    struct kube_client *c = request->own.client;
    if (c == NULL)
        return;           /* the request was never started */
    mutex_lock(&c->lock); /* another thread that submits a request may write to this one */
    bool known = request->own.link != NULL;
    bool submitted = known && request->own.transfer.easy == NULL; /* or held, which needs the same
                                                                   */
    if (submitted)
        unlink_request(request);
    mutex_unlock(&c->lock);
    if (submitted)
        link_request(&c->active, request);
    if (known)
        give_up(request, -ECANCELED, "canceled");
}

void kube_request_cancel(struct kube_client *c, struct kube_request *request) {
    assert(!loop_is_current_thread(c->loop) || !loop_is_transferring(c->loop));
    kube_loop_run(c->loop, cancel_request, request);
}

struct stage_question {
    const struct kube_request *request;
    enum kube_stage stage;
};

static void look_up_stage(void *ctx) {
    struct stage_question *question = ctx;
    question->stage = transfer_stage(question->request);
}

enum kube_stage kube_request_stage(struct kube_client *c, const struct kube_request *request) {
    struct stage_question question = {.request = request};
    kube_loop_run(c->loop, look_up_stage, &question);
    return question.stage;
}

void kube_timer_start(struct kube_client *c, struct kube_timer *timer, int64_t delay_ms) {
    mutex_lock(&c->lock);
    if (!c->ended) /* if ended, a timer that waits still fires once */
        loop_timer_start(c->loop, c, timer, delay_ms);
    mutex_unlock(&c->lock);
}

struct timer_cancel {
    struct kube_loop *loop;
    struct kube_timer *timer;
};

static void cancel_timer(void *ctx) {
    const struct timer_cancel *what = ctx;
    loop_timer_cancel(what->loop, what->timer);
}

void kube_timer_cancel(struct kube_client *c, struct kube_timer *timer) {
    struct timer_cancel what = {c->loop, timer};
    kube_loop_run(c->loop, cancel_timer, &what);
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

/* Starts the request, whose other members are set, and waits for its end. */
static void make_call(struct kube_client *c, struct kube_request *request, struct call *call) {
    request->max_body = call->body->max;
    request->on_done = on_call_done;
    request->ctx = call;
    mutex_init(&call->lock);
    condition_init(&call->done);
    kube_request_start(c, request);
    mutex_lock(&call->lock);
    while (!call->is_done)
        condition_wait(&call->done, &call->lock);
    mutex_unlock(&call->lock);
    condition_done(&call->done);
    mutex_done(&call->lock);
    if (call->error == 0 && strbuf_failed(call->body))
        call->error = err_set(call->err, -ENOMEM, "no memory for the answer to %s %s",
                              request->method, request->path);
}

static int wait_for_call(struct kube_client *c, struct kube_request *request, struct strbuf *body,
                         int *ret_status, struct err *err) {
    struct call call = {.body = body, .err = err};
    make_call(c, request, &call);
    if (call.error == 0)
        *ret_status = call.status;
    return call.error;
}

int kube_call(struct kube_client *c, const char *method, const char *path, struct str request_body,
              struct strbuf *body, int *ret_status, struct err *err) {
    struct kube_request request = {.method = method, .path = path, .body = request_body};
    return wait_for_call(c, &request, body, ret_status, err);
}

int kube_merge(struct kube_client *c, const char *path, struct str patch, struct strbuf *body,
               int *ret_status, struct err *err) {
    struct kube_request request = {.method = "PATCH",
                                   .path = path,
                                   .body = patch,
                                   .content_type = "application/merge-patch+json"};
    return wait_for_call(c, &request, body, ret_status, err);
}

/* ---- life ---- */

static void join(void *ctx) {
    struct kube_client *c = ctx;
    loop_join(c->loop, &c->on_loop);
}

static void cancel_all(struct kube_request **list) {
    while (*list != NULL)
        give_up(*list, -ECANCELED, "the program is stopping");
}

/* Makes the last callbacks. A timer started before `ended` was set fires, a later one never does:
 * so every owner gets a last callback, and no owner goes on for ever. */
static void leave(void *ctx) {
    struct kube_client *c = ctx;
    mutex_lock(&c->lock);
    c->ended = true;
    mutex_unlock(&c->lock);
    loop_fire_all(c->loop, c);
    cancel_all(&c->active);
    cancel_all(&c->held);
    while (take_submitted(c))
        cancel_all(&c->starting);
    loop_leave(c->loop, &c->on_loop);
}

struct outage *kube_client_outage(struct kube_client *c) {
    return &c->outage;
}

const char *kube_client_role(const struct kube_client *c) {
    return c->role;
}

static void wake(void *ctx) {
    loop_wake(ctx);
}

static void free_parts(struct kube_client *c) {
    credentials_free(c->credentials);
    transfer_settings_done(&c->settings);
    client_stats_free(c->stats);
    server_clock_done(&c->server);
    mutex_done(&c->lock);
    free(c);
}

int kube_client_new_on(struct kube_loop *loop, const struct kube_access *access,
                       struct kube_client **ret, struct err *err) {
    struct kube_client *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for the API client");
    c->loop = loop;
    c->role = access->role;
    c->on_loop = (struct loop_client){.round = round_of, .next_ms = next_ms, .ctx = c};
    c->clock = loop_clock(loop);
    c->identity_ms = now_ms(c);
    server_clock_init(&c->server, kube_clock_boot(), access->role, access->unmeasured);
    outage_init(&c->outage, access->server, access->role);
    mutex_init(&c->lock);
    const struct credentials_options options = {
        .access = access, .clock = c->clock, .wake = wake, .ctx = loop};
    int r = transfer_settings_init(&c->settings, access, err);
    if (r == 0 && !access->unmeasured &&
        (c->stats = client_stats_new(access->server, access->role)) == NULL)
        r = err_set(err, -ENOMEM, "no memory for the API client");
    if (r == 0)
        r = credentials_new(&options, &c->credentials, err);
    if (r != 0) {
        free_parts(c);
        return r;
    }
    kube_loop_run(loop, join, c);
    *ret = c;
    return 0;
}

int kube_client_new(const struct kube_access *access, struct clock *clock, struct kube_client **ret,
                    struct err *err) {
    struct kube_loop *loop;
    int r = kube_loop_new(clock, &loop, err);
    if (r != 0)
        return r;
    r = kube_client_new_on(loop, access, ret, err);
    if (r == 0)
        (*ret)->owns_loop = true;
    else
        kube_loop_free(loop);
    return r;
}

void kube_client_free(struct kube_client *c) {
    if (c == NULL)
        return;
    struct kube_loop *loop = c->owns_loop ? c->loop : NULL;
    assert(!loop_is_current_thread(c->loop));
    kube_loop_run(c->loop, leave, c);
    free_parts(c);
    kube_loop_free(loop);
}
