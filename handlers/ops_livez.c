#include "handlers/ops.h"

/* Answering at all is the test: the listener's thread runs. */
void ops_livez(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    (void)request;
    http_answer_text(response, 200, "ok");
}
