#include "handlers/extender.h"

#include "http/wire_extender.h"

void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_args args;
    struct score_result result;
    struct err err = {0};
    int r = extender_args_decode(request->body, request->arena, &args, &err);
    if (!extender_may_judge(x, r, &err, response))
        return;
    r = extender_check_age(x, response, &err);
    if (r == 0)
        r = engine_score(x->options, x->cache, &args.pod, &args.candidates, request->arena, &result,
                         &err);
    if (extender_has_answer("prioritize", &args.pod, r, &err, response))
        extender_prioritize_encode(&args, r == 0 ? result.priorities : NULL, response);
}
