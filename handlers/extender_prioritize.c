#include "handlers/extender.h"

#include "base/log.h"
#include "fluid/mounted.h"
#include "http/wire_extender.h"

#include <stdatomic.h>

/* Where the pod's data is, as far as it is known; without that it is spread all the same. */
static void find_data(const struct extender *x, struct pod *pod, struct arena *arena) {
    struct err err = {0};
    struct fluid_set *held = pod->claim_count > 0 ? fluid_hold(atomic_load(&x->fluid)) : NULL;
    if (held == NULL)
        return;
    if (fluid_find_mounted(fluid_set_data(held)->store, pod, arena, &err) != 0)
        LOG_D("where the data of a pod is cannot be told",
              LOG_STR("namespace", pod->meta.namespace), LOG_STR("pod", pod->meta.name),
              LOG_ERRTEXT(&err));
    fluid_release(held);
}

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
        find_data(x, &args.pod, request->arena);
    if (r == 0)
        r = engine_score(x->options, x->cache, &args.pod, &args.candidates, request->arena, &result,
                         &err);
    if (extender_has_answer("prioritize", &args.pod, r, &err, response))
        extender_prioritize_encode(&args, r == 0 ? result.priorities : NULL, response);
}
