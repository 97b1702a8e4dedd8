#include "handlers/ops.h"

#include "base/metrics.h"

void ops_metrics(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct ops *ops = ctx;
    (void)request;
    metrics_render(&response->text);
    if (ops->more_metrics != NULL)
        ops->more_metrics(ops->ctx, &response->text);
    response->status = 200;
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
}
