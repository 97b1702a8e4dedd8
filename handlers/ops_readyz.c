#include "handlers/ops.h"

void ops_readyz(void *ctx, const struct http_request *request, struct http_response *response) {
    struct ops *ops = ctx;
    (void)request;
    bool synced = cache_ready(ops->cache), draining = atomic_load(&ops->draining);
    http_answer_text(response, synced && !draining ? 200 : 503, "%s state: %s\n%s shutdown: %s",
                     synced ? "[+]" : "[-]", synced ? "read" : "not read yet; see the log",
                     draining ? "[-]" : "[+]", draining ? "under way" : "not asked for");
}
