/*
 * POSTs the Binding. If the result is not certain (no answer, a conflict, a server error), GETs the
 * pod; if the pod is not bound, POSTs again after a pause.
 */
#include "kube/objects/binding.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "base/random.h"
#include "kube/client/path.h"
#include "kube/client/status.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

enum {
    PAUSE_MS = 50, /* before the second try; doubles */
    PAUSE_MAX_MS = 2000,
    TRY_MS = 10000, /* for one request */
    TEXT_BYTES = 16 << 10,
};

struct attempt {
    struct kube_client *client;
    struct clock *clock;
    int64_t deadline_ms;
    uint32_t pauses;
    bool in_doubt; /* the server may still be working on a POST */
    uint64_t random;
    kube_bind_fn *done;
    void *ctx;
    struct arena arena;
    struct str uid, node;
    char *pod_path, *binding_path;
    struct strbuf body; /* the Binding */
    struct kube_request request;
    struct kube_timer timer;
    struct err last; /* the error of the last try */
};

static void attempt_free(struct attempt *a) {
    strbuf_done(&a->body);
    arena_done(&a->arena);
    free(a);
}

static void finish(struct attempt *a, enum kube_bound outcome, const char *why) {
    a->done(a->ctx, outcome, why);
    attempt_free(a);
}

/* ---- asking ---- */

static int64_t left_ms(const struct attempt *a) {
    return a->deadline_ms - a->clock->now_ms(a->clock);
}

static void ask(struct attempt *a, const char *method, char *path, struct str body,
                void (*on_done)(void *, const struct kube_result *)) {
    int64_t left = left_ms(a);
    a->request = (struct kube_request){.method = method,
                                       .path = path,
                                       .body = body,
                                       .timeout_ms = left < 1        ? 1
                                                     : left < TRY_MS ? left
                                                                     : TRY_MS,
                                       .on_done = on_done,
                                       .ctx = a};
    kube_request_start(a->client, &a->request);
}

static void on_posted(void *ctx, const struct kube_result *result);
static void on_seen(void *ctx, const struct kube_result *result);

static void post(void *ctx) {
    struct attempt *a = ctx;
    ask(a, "POST", a->binding_path, strbuf_str(&a->body), on_posted);
}

static void look(void *ctx) {
    struct attempt *a = ctx;
    ask(a, "GET", a->pod_path, STR(""), on_seen);
}

/* Goes on with `step` after a pause, or ends if that would be too late. */
static void pause_then(struct attempt *a, void (*step)(void *), int64_t least_ms) {
    int64_t delay_ms = a->pauses < 6 ? PAUSE_MS << a->pauses : PAUSE_MAX_MS;
    delay_ms += (int64_t)random_below(&a->random, (uint64_t)delay_ms);
    delay_ms = delay_ms < least_ms ? least_ms : delay_ms;
    a->pauses++;
    if (delay_ms >= left_ms(a)) {
        finish(a, KUBE_UNKNOWN, a->last.text);
        return;
    }
    a->timer = (struct kube_timer){.fn = step, .ctx = a};
    kube_timer_start(a->client, &a->timer, delay_ms);
}

/* Keeps the result of a try, as a sentence. */
static struct kube_status note(struct attempt *a, const struct kube_result *result) {
    struct kube_status status = {.retry_after_ms = -1};
    if (result->error != 0) {
        (void)err_set(&a->last, result->error, "the API server does not answer: %s",
                      result->error_text);
        return status;
    }
    kube_status_read(result->body, result->status, &a->arena, &status);
    (void)err_set(&a->last, -EIO, "the API server says %d: %.*s", result->status,
                  STR_ARG(status.message));
    if (result->retry_after_ms > status.retry_after_ms)
        status.retry_after_ms = result->retry_after_ms;
    return status;
}

/* ---- hearing ---- */

static bool is_final(int status) {
    return status >= 400 && status < 500 && status != 401 && status != 408 && status != 409 &&
           status != 429;
}

static void on_posted(void *ctx, const struct kube_result *result) {
    struct attempt *a = ctx;
    if (result->error == 0 && result->status >= 200 && result->status < 300) {
        finish(a, KUBE_BOUND, "");
        return;
    }
    struct kube_status status = note(a, result);
    bool certain = !a->in_doubt || result->status == 404; /* a deleted pod cannot be bound by an
                                                             earlier POST */
    a->in_doubt = a->in_doubt || result->error != 0 || result->status >= 500;
    if (result->error == -ECANCELED)
        finish(a, KUBE_UNKNOWN, a->last.text);
    else if (result->error == 0 && is_final(result->status))
        finish(a, certain ? KUBE_NOT_BOUND : KUBE_UNKNOWN, a->last.text);
    else if (result->error == 0 && result->status == 409)
        look(a);
    else
        pause_then(a, look, status.retry_after_ms);
}

struct seen {
    struct str uid, node;
};

static int read_pod(struct attempt *a, struct str body, struct seen *ret) {
    static const struct json_field uid[] = {JSON_TEXT_ALONE("uid")};
    static const struct json_field node[] = {JSON_TEXT_ALONE("nodeName")};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, body, &a->arena, POD_KIND);
    if (!json_object(&r))
        return err_set(&a->last, -EINVAL, "the API server's answer is no pod");
    while (json_member(&r, &key))
        if (str_eq(key, STR("metadata")))
            json_fields(&r, &JSON_ROWS(uid), &ret->uid);
        else if (str_eq(key, STR("spec")))
            json_fields(&r, &JSON_ROWS(node), &ret->node);
    return json_finish(&r, &a->last);
}

static void judge(struct attempt *a, const struct seen *pod) {
    if (a->uid.n > 0 && !str_eq(pod->uid, a->uid)) {
        (void)err_set(&a->last, -ENOENT, "the pod is gone; another pod has its name");
        finish(a, KUBE_NOT_BOUND, a->last.text);
    } else if (str_eq(pod->node, a->node)) {
        finish(a, KUBE_BOUND, "");
    } else if (pod->node.n > 0) {
        (void)err_set(&a->last, -EEXIST, "the pod is bound to node '%.*s' already",
                      STR_ARG(pod->node));
        finish(a, KUBE_NOT_BOUND, a->last.text);
    } else {
        pause_then(a, post, 0);
    }
}

static void on_seen(void *ctx, const struct kube_result *result) {
    struct attempt *a = ctx;
    struct seen pod = {0};
    if (result->error == 0 && result->status == 200) {
        if (read_pod(a, result->body, &pod) == 0)
            judge(a, &pod);
        else
            pause_then(a, look, 0);
        return;
    }
    struct kube_status status = note(a, result);
    if (result->error == -ECANCELED)
        finish(a, KUBE_UNKNOWN, a->last.text);
    else if (result->error == 0 && result->status == 404)
        finish(a, KUBE_NOT_BOUND, a->last.text);
    else /* also if reading the pod is forbidden: this does not show if it is bound */
        pause_then(a, look, status.retry_after_ms);
}

/* ---- beginning ---- */

static void write_binding(struct attempt *a, const struct kube_binding *what) {
    struct json_writer w = {.out = &a->body};
    a->body.max = TEXT_BYTES;
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    json_put_member(&w, STR("kind"), STR(BINDING_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("name"), what->name);
    json_put_member(&w, STR("namespace"), what->namespace);
    if (what->uid.n > 0)
        json_put_member(&w, STR("uid"), what->uid);
    json_end_object(&w);
    json_key(&w, STR("target"));
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    json_put_member(&w, STR("kind"), STR(NODE_KIND));
    json_put_member(&w, STR("name"), what->node);
    json_end_object(&w);
    json_end_object(&w);
}

static char *path_of(struct attempt *a, const struct kube_binding *what, const char *behind) {
    struct strbuf path = {.max = 1024};
    strbuf_appendf(&path, "/api/v1/namespaces/%.*s/pods/%.*s%s", STR_ARG(what->namespace),
                   STR_ARG(what->name), behind);
    char *copy = strbuf_failed(&path) ? NULL : arena_cstr(&a->arena, strbuf_str(&path));
    strbuf_done(&path);
    return copy;
}

int kube_bind(struct kube_client *client, struct clock *clock, const struct kube_binding *what,
              int64_t timeout_ms, kube_bind_fn *done, void *ctx, struct err *err) {
    if (!kube_path_segment(what->namespace) || !kube_path_segment(what->name) ||
        !kube_path_segment(what->node))
        return err_set(err, -EINVAL, "'%.*s/%.*s' to '%.*s': names have a-z, 0-9, '-' and '.'",
                       STR_ARG(what->namespace), STR_ARG(what->name), STR_ARG(what->node));
    struct attempt *a = calloc(1, sizeof *a);
    if (a == NULL)
        return err_set(err, -ENOMEM, "no memory to bind a pod");
    a->client = client;
    a->clock = clock != NULL ? clock : clock_real();
    a->deadline_ms = a->clock->now_ms(a->clock) + timeout_ms;
    a->random = (uint64_t)a->deadline_ms ^ (uint64_t)(uintptr_t)a;
    a->done = done;
    a->ctx = ctx;
    arena_init(&a->arena, LIMIT_KUBE_BODY);
    write_binding(a, what);
    a->pod_path = path_of(a, what, "");
    a->binding_path = path_of(a, what, "/binding");
    a->uid = arena_str(&a->arena, what->uid);
    a->node = arena_str(&a->arena, what->node);
    if (strbuf_failed(&a->body) || a->pod_path == NULL || a->binding_path == NULL ||
        arena_failed(&a->arena)) {
        attempt_free(a);
        return err_set(err, -ENOMEM, "no memory to bind a pod");
    }
    post(a);
    return 0;
}
