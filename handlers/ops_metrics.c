#include "handlers/ops.h"

#include "base/metrics.h"

/* The checks of /readyz, as Kubernetes' components show theirs: dashboards know this name. */
static void put_checks(const struct ops *ops, struct strbuf *out) {
    strbuf_append_str(out,
                      STR("# HELP kubernetes_healthcheck The checks of /readyz, 1 where one is "
                          "good.\n# TYPE kubernetes_healthcheck gauge\n"));
    for (size_t i = 0; i < ops->check_count; i++) {
        const struct ops_check *check = &ops->checks[i];
        if (check->wanted == NULL || check->wanted(check->ctx))
            strbuf_appendf(out, "kubernetes_healthcheck{name=\"%s\",type=\"readyz\"} %d\n",
                           check->name, check->good(check->ctx));
    }
}

void ops_metrics(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct ops *ops = ctx;
    (void)request;
    metrics_render(&response->text);
    put_checks(ops, &response->text);
    if (ops->more_metrics != NULL)
        ops->more_metrics(ops->ctx, &response->text);
    response->status = 200;
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
}
