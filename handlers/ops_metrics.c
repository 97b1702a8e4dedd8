#include "handlers/ops.h"

#include "base/limits.h"
#include "base/metrics.h"

static struct metric left_out = {
    .name = "evenkeel_metrics_left_out_total",
    .help = "Answers of /metrics in which the metrics of workloads did not fit.",
    .labels = "",
    .kind = METRIC_COUNTER};

void ops_start(void) {
    metric_register(&left_out);
}

void ops_stop(void) {
    metric_unregister(&left_out);
}

/* Appends the checks of /readyz under the metric's name that Kubernetes' components use: dashboards
 * know it. */
static void put_checks(const struct ops *ops, struct strbuf *out) {
    strbuf_append_str(out, STR("# HELP kubernetes_healthcheck The checks of /readyz: 1 if the "
                               "check is good.\n# TYPE kubernetes_healthcheck gauge\n"));
    for (size_t i = 0; i < ops->check_count; i++) {
        const struct ops_check *check = &ops->checks[i];
        if (check->wanted == NULL || check->wanted(check->ctx))
            strbuf_appendf(out, "kubernetes_healthcheck{name=\"%s\",type=\"readyz\"} %d\n",
                           check->name, check->good(check->ctx));
    }
}

void ops_metrics(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct ops *ops = ctx;
    CLEANUP(strbuf_done) struct strbuf more = {.max = LIMIT_MORE_METRICS};
    (void)request;
    if (ops->more_metrics != NULL)
        ops->more_metrics(ops->ctx, &more);
    if (strbuf_failed(&more)) {
        metric_add(&left_out, 1);
        strbuf_clear(&more);
    }
    metrics_render(&response->text);
    put_checks(ops, &response->text);
    strbuf_append_str(&response->text, strbuf_str(&more));
    response->status = 200;
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
}
