#include "handlers/extender.h"

#include "base/log.h"
#include "http/wire_extender.h"

#include <errno.h>

/* A pod that is asked about again has no placement in flight any more. */
static void end_old_reservation(struct cache *cache, const struct object_meta *pod) {
    struct cache_view view;
    struct cache_pod found;
    cache_view_open(cache, false, &view);
    bool reserved = cache_pod_find(&view, pod, &found) && found.reserved;
    cache_view_close(&view);
    if (!reserved)
        return;
    cache_write_begin(cache);
    cache_release(cache, pod);
    cache_write_end(cache);
}

/* With one survivor the scheduler has no choice: count the pod there before the watch says so. */
static void reserve_if_single(const struct extender *x, const struct extender_args *args,
                              const struct filter_result *result) {
    uint32_t survivor = UINT32_MAX;
    for (uint32_t i = 0; i < args->candidates.count; i++) {
        if (result->verdicts[i] != VERDICT_PASS)
            continue;
        if (survivor != UINT32_MAX)
            return;
        survivor = i;
    }
    if (survivor == UINT32_MAX)
        return;
    cache_write_begin(x->cache);
    int r = cache_reserve(x->cache, &args->pod, args->candidates.names[survivor]);
    cache_write_end(x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to reserve the only node of a pod", LOG_STR("pod", args->pod.meta.name));
}

void extender_filter(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_args args;
    struct filter_result result;
    struct err err = {0};
    int r = extender_args_decode(request->body, request->arena, &args, &err);
    if (r != 0) {
        extender_filter_error(err.text, response);
        return;
    }
    if (!cache_ready(x->cache)) {
        extender_filter_error(EXTENDER_NOT_READY, response);
        return;
    }
    if (x->reserve_single_node)
        end_old_reservation(x->cache, &args.pod.meta);
    r = engine_filter(x->options, x->cache, &args.pod, &args.candidates, request->arena, &result,
                      &err);
    if (r == -ENOMEM) {
        LOG_W("filter gave no opinion", LOG_STR("pod", args.pod.meta.name), LOG_ERRTEXT(&err));
        extender_filter_encode(&args, NULL, request->arena, response);
        return;
    }
    if (r != 0) {
        extender_filter_error(err.text, response);
        return;
    }
    if (x->reserve_single_node)
        reserve_if_single(x, &args, &result);
    extender_filter_encode(&args, &result, request->arena, response);
}
