#include "handlers/extender.h"

#include "http/wire_extender.h"

static void record(const struct extender *x, const struct extender_call *call,
                   const struct extender_args *args, const struct score_result *result) {
    struct recording rec;
    if (!extender_record(x, call, &rec))
        return;
    if (call->judged == 0)
        decision_put_scores(&rec.decision, &args->candidates, result);
    recording_end(&rec);
}

void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_call call = {.verb = "prioritize", .began = moment_now()};
    struct extender_args args;
    struct score_result result;
    struct engine_options options;
    struct err err = {0};
    int r = extender_args_decode(request->body, request->arena, &args, &err);
    if (!extender_may_judge(x, r, &err, response))
        return;
    r = extender_check_age(x, response, &err);
    if (r == 0)
        r = extender_prepare_scoring(x, &args.pod, NULL, request->arena, &options, &err);
    if (r == 0)
        r = engine_score(&options, x->cache, &args.pod, &args.candidates, request->arena, &result,
                         &err);
    if (extender_has_answer("prioritize", &args.pod, r, &err, response))
        extender_prioritize_encode(&args, r == 0 ? result.priorities : NULL, response);
    call.pod = &args.pod.meta;
    call.data_age_ms = response->data_age_ms;
    call.judged = r;
    call.err = &err;
    record(x, &call, &args, &result);
}
