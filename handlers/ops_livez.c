#include "handlers/ops.h"

#include "base/log.h"

/* Any answer shows that this listener's thread runs. The handler also checks that no handler of any
 * listener hangs and so blocks its thread, and that we would notice the end of our leadership. */
void ops_livez(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct ops *ops = ctx;
    const char *verb;
    int64_t ms;
    (void)request;
    if (ops->handler_ms > 0 && http_oldest_handler(&verb, &ms) && ms > ops->handler_ms) {
        LOG_E("a handler hangs", LOG_CSTR("verb", verb), LOG_INT("ms", ms));
        http_answer_text(response, 503,
                         "a handler of '%s' has been running for %lld s, which is more than %lld s",
                         verb, (long long)(ms / 1000), (long long)(ops->handler_ms / 1000));
    } else if (ops->is_alive(ops->ctx)) {
        http_answer_text(response, 200, "ok");
    } else {
        http_answer_text(
            response, 503,
            "this replica's leadership has ended, but its leader's work was not stopped");
    }
}
