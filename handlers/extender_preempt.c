#include "handlers/extender.h"

#include "explain/scheduling.h"
#include "extender/wire.h"

#include <errno.h>

static void record(const struct extender *x, const struct extender_call *call,
                   const struct preemption *preemptions, const bool *fits, uint32_t count) {
    struct recording rec;
    if (!extender_record(x, call, &rec))
        return;
    if (call->judged == 0)
        decision_put_preemptions(&rec.decision, preemptions, fits, count);
    recording_end(&rec);
}

void extender_preempt(void *ctx, const struct http_request *request,
                      struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_call call = {.verb = "preempt", .began = moment_now()};
    struct extender_preemption_args args;
    struct err err = {0};
    bool *fits = NULL;
    int r = extender_preemption_decode(request->body, request->arena, &args, &err);
    call.pod = &args.pod.meta;
    if (!extender_may_judge(x, &call, r, &err, response))
        return;
    struct preemption *preemptions = arena_array(request->arena, args.count, sizeof *preemptions);
    for (uint32_t i = 0; preemptions != NULL && i < args.count; i++)
        preemptions[i] = args.victims[i].preemption;
    r = preemptions == NULL ? err_set(&err, -ENOMEM, "no memory to judge the pod")
                            : extender_check_age(x, response, &err);
    if (r == 0)
        r = engine_preempt(x->options, x->cache, &args.pod, preemptions, args.count, request->arena,
                           &fits, &err);
    if (extender_has_answer("preempt", &args.pod, r, &err, response))
        extender_preemption_encode(&args, r == 0 ? fits : NULL, response);
    call.judged = r;
    call.err = &err;
    record(x, &call, preemptions, fits, args.count);
}
