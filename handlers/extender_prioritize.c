#include "handlers/extender.h"

#include "base/log.h"
#include "explain/scheduling.h"
#include "explain/scores.h"
#include "extender/wire.h"

#include <errno.h>

static void record(const struct extender *x, const struct extender_call *call,
                   const struct extender_args *args, const struct score_result *result) {
    struct recording rec;
    if (!extender_record(x, call, &rec))
        return;
    if (call->judged == 0)
        decision_put_scores(&rec.decision, &args->pod, &args->candidates, result);
    recording_end(&rec);
}

/* Assumes the pod on a chosen node. Call it before the answer is sent: the watch may show the pod's
 * binding soon after. */
static void assume(const struct extender *x, const struct object_meta *pod,
                   const struct cache_nodes *chosen) {
    if (chosen->count == 0)
        return;
    cache_write_begin(x->cache);
    int r = cache_assume(x->cache, pod, chosen);
    cache_write_end(x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to note where a pod lands", LOG_STR("pod", pod->name));
}

static int score(const struct extender *x, struct extender_args *args, bool beside_plugin,
                 struct arena *arena, struct score_result *ret, struct err *err) {
    struct engine_options options;
    int r = extender_prepare_scoring(x, &args->pod, NULL, arena, &options, err);
    if (r != 0)
        return r;
    if (beside_plugin)
        options.spread_weight = 0;
    options.choose = x->assume;
    if (x->assume)
        extender_unassume(x, &args->pod.meta);
    r = engine_score(&options, x->cache, &args->pod, &args->candidates, arena, ret, err);
    if (r == 0)
        assume(x, &args->pod.meta, &ret->chosen);
    return r;
}

static void prioritize(const struct extender *x, const char *verb,
                       const struct http_request *request, struct http_response *response,
                       bool beside_plugin) {
    struct extender_call call = {.verb = verb, .began = moment_now()};
    struct extender_args args;
    struct score_result result;
    struct err err = {0};
    int r = extender_args_decode(request->body, request->arena, &args, &err);
    call.pod = &args.pod.meta;
    if (!extender_may_judge(x, &call, r, &err, response))
        return;
    r = extender_check_age(x, response, &err);
    if (r == 0)
        r = score(x, &args, beside_plugin, request->arena, &result, &err);
    if (extender_has_answer(verb, &args.pod, r, &err, response))
        extender_prioritize_encode(&args, r == 0 ? &result : NULL, response);
    call.judged = r;
    call.err = &err;
    call.applied = r == 0 ? result.applied : NULL;
    call.applied_count = r == 0 ? result.applied_count : 0;
    record(x, &call, &args, &result);
}

void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    prioritize(ctx, "prioritize", request, response, false);
}

void extender_complement(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    prioritize(ctx, "complement", request, response, true);
}
