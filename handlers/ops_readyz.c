#include "handlers/ops.h"

static void put_line(struct strbuf *out, bool good, const char *name, const char *text) {
    strbuf_appendf(out, "[%s] %s: %s\n", good ? "+" : "-", name, text);
}

/* Appends the check's line. Returns false if the check keeps the replica from being ready. */
static bool put_check(struct strbuf *out, const struct ops_check *check) {
    if (check->wanted != NULL && !check->wanted(check->ctx))
        return true;
    bool good = check->good(check->ctx);
    if (!good || check->good_text != NULL)
        put_line(out, good || check->advice, check->name,
                 good ? check->good_text : check->bad_text);
    return good || check->advice;
}

void ops_readyz(void *ctx, const struct http_request *request, struct http_response *response) {
    struct ops *ops = ctx;
    bool ready = true, draining = atomic_load(&ops->draining);
    (void)request;
    for (size_t i = 0; i < ops->check_count; i++)
        ready = put_check(&response->text, &ops->checks[i]) && ready;
    put_line(&response->text, !draining, "shutdown", draining ? "under way" : "not asked for");
    response->status = ready && !draining ? 200 : 503;
    response->content_type = "text/plain; charset=utf-8";
}
