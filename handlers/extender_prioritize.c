#include "handlers/extender.h"

#include "base/log.h"
#include "http/wire_extender.h"

#include <errno.h>

void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_args args;
    struct score_result result;
    struct err err = {0};
    int r = extender_args_decode(request->body, request->arena, &args, &err);
    if (r != 0) {
        extender_refuse(400, err.text, response);
        return;
    }
    if (!cache_ready(x->cache)) {
        extender_refuse(503, EXTENDER_NOT_READY, response);
        return;
    }
    r = engine_score(x->options, x->cache, &args.pod, &args.candidates, request->arena, &result,
                     &err);
    if (r == -ENOMEM) {
        LOG_W("prioritize gave no opinion", LOG_STR("pod", args.pod.meta.name), LOG_ERRTEXT(&err));
        extender_prioritize_encode(&args, NULL, response);
        return;
    }
    if (r != 0) {
        extender_refuse(400, err.text, response);
        return;
    }
    extender_prioritize_encode(&args, result.priorities, response);
}
