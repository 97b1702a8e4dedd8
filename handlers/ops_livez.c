#include "handlers/ops.h"

#include "kube/election/elector.h"

/* Answering at all is the test, for the listener's thread runs; and that whoever leads knows it. */
void ops_livez(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct ops *ops = ctx;
    (void)request;
    if (ops->elector == NULL || elector_is_alive(ops->elector))
        http_answer_text(response, 200, "ok");
    else
        http_answer_text(response, 503, "the end of this replica's leadership could not be told");
}
