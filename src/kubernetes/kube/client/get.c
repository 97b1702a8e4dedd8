#include "kube/client/get.h"

#include "base/clock.h"

#include <errno.h>

/* ---- on the client's thread ---- */

static void on_begin(void *ctx) {
    struct kube_get *g = ctx;
    mutex_lock(&g->lock);
    g->has_begun = true;
    condition_signal(&g->changed);
    mutex_unlock(&g->lock);
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct kube_get *g = ctx;
    mutex_lock(&g->lock);
    g->status = result->status;
    g->stage = result->stage;
    strbuf_append_str(g->body, result->body);
    if (result->error != 0)
        (void)err_set(&g->error, result->error, "%s", result->error_text);
    else if (strbuf_failed(g->body))
        (void)err_set(&g->error, -ENOMEM, "no memory for the answer to GET %s", g->request.path);
    g->is_done = true;
    condition_signal(&g->changed);
    mutex_unlock(&g->lock);
}

/* ---- the caller ---- */

void kube_get_start(struct kube_get *g, struct kube_client *client, const char *path,
                    int64_t credentials_ms, int64_t timeout_ms, struct strbuf *body) {
    *g = (struct kube_get){.client = client,
                           .request = {.method = "GET",
                                       .path = path,
                                       .credentials_ms = credentials_ms,
                                       .timeout_ms = timeout_ms,
                                       .max_body = body->max,
                                       .on_begin = on_begin,
                                       .on_done = on_done,
                                       .ctx = g},
                           .body = body};
    mutex_init(&g->lock);
    condition_init(&g->changed);
    kube_request_start(client, &g->request);
}

static bool wait_for(struct kube_get *g, const bool *what, int64_t wait_ms) {
    struct clock *clock = clock_real();
    const int64_t until_ms = clock->now_ms(clock) + wait_ms;
    mutex_lock(&g->lock);
    while (!*what && !g->is_done && condition_wait_until(&g->changed, &g->lock, until_ms))
        ;
    const bool is_so = *what || g->is_done;
    mutex_unlock(&g->lock);
    if (!is_so)
        g->waited_ms = wait_ms;
    return is_so;
}

bool kube_get_wait_credentials(struct kube_get *g, int64_t wait_ms) {
    return wait_for(g, &g->has_begun, wait_ms);
}

bool kube_get_wait(struct kube_get *g, int64_t wait_ms) {
    return wait_for(g, &g->is_done, wait_ms);
}

enum kube_stage kube_get_stage(struct kube_get *g) {
    const enum kube_stage now = kube_request_stage(g->client, &g->request);
    mutex_lock(&g->lock);
    const enum kube_stage stage = g->is_done ? g->stage : now;
    mutex_unlock(&g->lock);
    return stage;
}

static const char *late(enum kube_stage stage) {
    switch (stage) {
    case KUBE_STAGE_CREDENTIALS:
        return "the credential plugin of the kubeconfig gives no credentials";
    case KUBE_STAGE_NAME:
        return "its name is not resolved";
    case KUBE_STAGE_CONNECTION:
        return "it does not accept the connection";
    case KUBE_STAGE_ANSWER:
        break;
    }
    return "it accepts the connection and does not answer";
}

void kube_get_say_late(struct kube_get *g, struct strbuf *out) {
    const enum kube_stage stage = kube_get_stage(g);
    const struct kube_request *request = &g->request;
    mutex_lock(&g->lock);
    const int64_t limit_ms = stage == KUBE_STAGE_CREDENTIALS && request->credentials_ms > 0
                                 ? request->credentials_ms
                                 : request->timeout_ms;
    const int64_t within_ms = g->is_done ? limit_ms : g->waited_ms;
    mutex_unlock(&g->lock);
    strbuf_appendf(out, "%s within %lld ms", late(stage), (long long)within_ms);
}

int kube_get_end(struct kube_get *g, int *ret_status, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf why = {.max = 256};
    kube_get_say_late(g, &why);
    kube_request_cancel(g->client, &g->request); /* no effect if it is over */
    condition_done(&g->changed);
    mutex_done(&g->lock);
    const int error = g->error.code;
    if (error == 0)
        *ret_status = g->status;
    if (error == 0 || (error != -ETIMEDOUT && error != -ECANCELED))
        return error == 0 ? 0 : err_set(err, error, "%s", g->error.text);
    return err_set(err, -ETIMEDOUT, "%.*s", STR_ARG(strbuf_str(&why)));
}

int kube_get_within(struct kube_client *client, const char *path, int64_t timeout_ms,
                    struct strbuf *body, int *ret_status, struct err *err) {
    struct kube_get g;
    kube_get_start(&g, client, path, 0, timeout_ms, body);
    (void)kube_get_wait(&g, INT32_MAX); /* the request ends after timeout_ms */
    return kube_get_end(&g, ret_status, err);
}
