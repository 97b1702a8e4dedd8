#include "handlers/ops.h"

/* Answering at all is the test, for the listener's thread runs; and that whoever leads knows it. */
void ops_livez(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct ops *ops = ctx;
    (void)request;
    if (ops->is_alive(ops->ctx))
        http_answer_text(response, 200, "ok");
    else
        http_answer_text(response, 503, "the end of this replica's leadership could not be told");
}
