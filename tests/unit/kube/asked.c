#include "unit/kube/asked.h"

#include "unit/kube/api.h"
#include "unit/unit.h"

#include <stdio.h>

static void on_head(void *ctx, int status) {
    struct asked *asked = ctx;
    asked->head_status = status;
    (void)atomic_fetch_add(&asked->heads, 1);
    (void)sem_post(&asked->told);
}

static int on_data(void *ctx, struct str bytes) {
    struct asked *asked = ctx;
    strbuf_append_str(&asked->body, bytes);
    return asked->body.n >= asked->enough;
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct asked *asked = ctx;
    asked->error = result->error;
    asked->status = result->status;
    asked->retry_after_ms = result->retry_after_ms;
    (void)snprintf(asked->error_text, sizeof asked->error_text, "%s", result->error_text);
    (void)snprintf(asked->content_type, sizeof asked->content_type, "%.*s",
                   STR_ARG(result->content_type));
    if (asked->request.on_data == NULL)
        strbuf_append_str(&asked->body, result->body);
    asked->thread = pthread_self();
    (void)atomic_fetch_add(&asked->ends, 1);
    (void)sem_post(&asked->done);
}

void asked_init(struct asked *asked, const char *method, const char *path) {
    *asked = (struct asked){.request = {.method = method,
                                        .path = path,
                                        .on_head = on_head,
                                        .on_done = on_done,
                                        .ctx = asked},
                            .enough = SIZE_MAX};
    assert_int_equal(sem_init(&asked->told, 0, 0), 0);
    assert_int_equal(sem_init(&asked->done, 0, 0), 0);
}

void asked_stream(struct asked *asked) {
    asked->request.on_data = on_data;
}

void asked_wait(struct asked *asked) {
    wait_sem(&asked->done, asked->request.path);
}

void asked_done(struct asked *asked) {
    strbuf_done(&asked->body);
    (void)sem_destroy(&asked->told); /* neither is waited for any more */
    (void)sem_destroy(&asked->done);
}
