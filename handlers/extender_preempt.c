#include "handlers/extender.h"

#include "base/log.h"
#include "http/wire_extender.h"

#include <errno.h>

void extender_preempt(void *ctx, const struct http_request *request,
                      struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_preemption_args args;
    struct err err = {0};
    bool *fits = NULL;
    int r = extender_preemption_decode(request->body, request->arena, &args, &err);
    if (r != 0) {
        extender_refuse(400, err.text, response);
        return;
    }
    if (!cache_ready(x->cache)) {
        extender_refuse(503, EXTENDER_NOT_READY, response);
        return;
    }
    struct preemption *preemptions = arena_array(request->arena, args.count, sizeof *preemptions);
    for (uint32_t i = 0; preemptions != NULL && i < args.count; i++)
        preemptions[i] = args.victims[i].preemption;
    r = preemptions == NULL ? err_set(&err, -ENOMEM, "no memory to judge the pod")
                            : engine_preempt(x->options, x->cache, &args.pod, preemptions,
                                             args.count, request->arena, &fits, &err);
    if (r == -ENOMEM) {
        LOG_W("preempt gave no opinion", LOG_STR("pod", args.pod.meta.name), LOG_ERRTEXT(&err));
        extender_preemption_encode(&args, NULL, response);
        return;
    }
    if (r != 0) {
        extender_refuse(400, err.text, response);
        return;
    }
    extender_preemption_encode(&args, fits, response);
}
