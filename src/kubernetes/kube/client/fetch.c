#include "kube/client/fetch.h"

#include <errno.h>

void kube_fetch_init(struct kube_fetch *f, struct kube_client *client, size_t max_body) {
    *f = (struct kube_fetch){.client = client, .path.max = 1024, .body.max = max_body};
}

void kube_fetch_forget(struct kube_fetch *f) {
    const size_t max = f->body.max;
    if (f->body.p != NULL)
        explicit_bzero(f->body.p, f->body.n);
    strbuf_done(&f->body);
    f->body.max = max;
}

void kube_fetch_end(struct kube_fetch *f) {
    kube_fetch_cancel(f);
    kube_fetch_forget(f);
    strbuf_done(&f->path);
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct kube_fetch *f = ctx;
    f->error = result->error;
    f->status = result->status;
    if (result->error == 0 && result->status == 200) {
        strbuf_append_str(&f->body, result->body);
        f->error = strbuf_failed(&f->body) ? -ENOMEM : 0;
    }
    atomic_store(&f->done, true);
}

int kube_fetch_start(struct kube_fetch *f, struct str path, int64_t timeout_ms) {
    kube_fetch_forget(f);
    strbuf_clear(&f->path);
    strbuf_append_str(&f->path, path);
    strbuf_append_char(&f->path, '\0');
    if (strbuf_failed(&f->path))
        return -ENOMEM;
    f->request = (struct kube_request){.method = "GET",
                                       .path = f->path.p,
                                       .timeout_ms = timeout_ms,
                                       .max_body = f->body.max,
                                       .on_done = on_done,
                                       .ctx = f};
    atomic_store(&f->done, false);
    f->under_way = true;
    kube_request_start(f->client, &f->request);
    return 0;
}

void kube_fetch_cancel(struct kube_fetch *f) {
    if (f->under_way)
        kube_request_cancel(f->client, &f->request);
    f->under_way = false;
}

bool kube_fetch_ended(struct kube_fetch *f) {
    const bool ended = f->under_way && atomic_load(&f->done);
    f->under_way = f->under_way && !ended;
    return ended;
}
