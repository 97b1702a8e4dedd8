#include "handlers/extender.h"

#include "base/log.h"
#include "explain/scheduling.h"
#include "extender/errors.h"
#include "extender/wire.h"

#include <errno.h>

#define NOT_SETTLED                                                                                \
    "Evenkeel started just now: a binding that an earlier process sent may still take effect; "    \
    "try again"

/* Records the nodes on which the pod may land. If one node passes, the scheduler has no choice, and
 * the pod counts on that node before the watch shows it; if no node passes, earlier records are
 * removed. But the pod may still fail to land, so Conservative mode treats a single node like
 * several. `result`: NULL if every node passes. */
static void expect(const struct extender *x, const struct extender_args *args,
                   const struct filter_result *result, uint64_t doubts, struct arena *arena) {
    struct str *survivors = arena_array(arena, args->candidates.count, sizeof *survivors);
    uint32_t count = 0;
    int r = survivors == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < args->candidates.count; i++)
        if (result == NULL || result->verdicts[i] == VERDICT_PASS)
            survivors[count++] = args->candidates.names[i];
    bool certain = count == 1 && x->reservations == RESERVATIONS_SINGLE_NODE;
    cache_write_begin(x->cache);
    cache_release(x->cache, &args->pod.meta);
    if (r == 0 && certain)
        r = cache_reserve(x->cache, &args->pod, survivors[0]);
    if (r == -EBUSY || (r == 0 && count > 0 && !certain))
        r = cache_expect(x->cache, &args->pod, survivors, count, doubts);
    cache_write_end(x->cache);
    if (r == -ENOMEM)
        LOG_W("no room to note where a pod may land; the pod must be tried again",
              LOG_STR("pod", args->pod.meta.name));
}

/* Assumes the pod on the node if only one node passes: kube-scheduler chooses it without calling
 * prioritize. */
static void assume(const struct extender *x, const struct extender_args *args,
                   const struct filter_result *result) {
    uint32_t count = 0, survivor = 0;
    for (uint32_t i = 0; i < args->candidates.count && count < 2; i++)
        if (result->verdicts[i] == VERDICT_PASS) {
            survivor = i;
            count++;
        }
    if (count != 1)
        return;
    cache_write_begin(x->cache);
    int r = cache_assume_on(x->cache, &args->pod.meta, args->candidates.names[survivor]);
    cache_write_end(x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to note where a pod lands", LOG_STR("pod", args->pod.meta.name));
}

/* Gets the engine's answer, or an error. */
static int judge(const struct extender *x, const struct extender_args *args, struct arena *arena,
                 struct filter_result *result, struct http_response *response, struct err *err) {
    uint64_t doubts = cache_doubts(x->cache);
    int r = extender_check_age(x, response, err);
    if (x->assume)
        extender_unassume(x, &args->pod.meta);
    if (r == 0)
        r = engine_filter(x->options, x->cache, &args->pod, &args->candidates, arena, result, err);
    if (r == 0 && !result->skipped && clock_real()->now_ms(clock_real()) < x->settled_ms)
        r = err_set(err, -EBUSY, "%s", NOT_SETTLED);
    if ((r == 0 && x->reservations != RESERVATIONS_OFF) ||
        (r != -ENOMEM && extender_is_unable(r) && x->reservations == RESERVATIONS_CONSERVATIVE))
        expect(x, args, r == 0 ? result : NULL, doubts, arena);
    if (r == 0 && x->assume)
        assume(x, args, result);
    return r;
}

static void record(const struct extender *x, const struct extender_call *call,
                   const struct extender_args *args, const struct filter_result *result) {
    struct recording rec;
    if (!extender_record(x, call, &rec))
        return;
    if (call->judged == 0) {
        decision_put_filter(&rec.decision, &args->candidates, result);
        decision_put_offered(&rec.decision, &args->candidates, result);
    }
    recording_end(&rec);
}

static void refuse(const struct extender_args *args, bool decoded, const struct err *err,
                   struct http_response *response) {
    enum extender_error why = decoded                ? EXTENDER_BAD_POD
                              : err->code == -ENOMEM ? EXTENDER_NO_MEMORY
                                                     : EXTENDER_MALFORMED;
    if (err->code == -EBUSY)
        why = EXTENDER_UNREADY;
    extender_note_error("filter", why, decoded ? &args->pod.meta : NULL, err->text);
    extender_filter_error(err->text, response);
}

void extender_filter(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_call call = {.verb = "filter", .began = moment_now()};
    struct extender_args args;
    struct filter_result result;
    struct err err = {0};
    int r = extender_args_decode(request->body, request->arena, &args, &err);
    bool decoded = r == 0;
    if (r == 0 && !cache_ready(x->cache))
        r = err_set(&err, -EBUSY, "%s", EXTENDER_NOT_READY);
    if (r == 0)
        r = judge(x, &args, request->arena, &result, response, &err);
    if (r == 0 || (decoded && extender_no_opinion("filter", &args.pod, r, &err)))
        extender_filter_encode(&args, r == 0 ? &result : NULL, request->arena, response);
    else
        refuse(&args, decoded, &err, response);
    if (!decoded)
        return;
    call.pod = &args.pod.meta;
    call.judged = r;
    call.err = &err;
    call.applied = r == 0 ? result.applied : NULL;
    call.applied_count = r == 0 ? result.applied_count : 0;
    record(x, &call, &args, &result);
}
