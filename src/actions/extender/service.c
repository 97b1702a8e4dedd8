#include "extender/service.h"

#include "base/log.h"
#include "base/metrics.h"
#include "explain/ages.h"
#include "extender/errors.h"
#include "extender/policy_overrides.h"
#include "extender/wire.h"

#include <errno.h>
#include <stdatomic.h>

static struct metric no_opinion[] = {
#define NO_OPINION(why)                                                                            \
    {                                                                                              \
        .name = "evenkeel_extender_no_opinion_total",                                              \
        .help = "Answers in which every node passes and every score is 0.",                        \
        .labels = "reason=\"" why "\"", .kind = METRIC_COUNTER                                     \
    }
    NO_OPINION("stale"),
    NO_OPINION("memory"),
    NO_OPINION("steps"),
    NO_OPINION("labels"),
};

/* Returns the index in no_opinion[] of a reason that must not hold the pod up; -1: the pod itself
 * is at fault. */
static int reason_of(int judged) {
    switch (judged) {
    case -ESTALE:
        return 0;
    case -ENOMEM:
        return 1;
    case -E2BIG:
        return 2;
    case -ENODATA:
        return 3;
    default:
        return -1;
    }
}

void extender_metrics_start(void) {
    for (size_t i = 0; i < sizeof no_opinion / sizeof no_opinion[0]; i++)
        metric_register(&no_opinion[i]);
    extender_errors_start();
}

void extender_metrics_stop(void) {
    for (size_t i = 0; i < sizeof no_opinion / sizeof no_opinion[0]; i++)
        metric_unregister(&no_opinion[i]);
    extender_errors_stop();
}

int extender_check_age(const struct extender *x, struct http_response *response, struct err *err) {
    int64_t age_ms = cache_age_ms(x->cache);
    response->data_age_ms = age_ms;
    if (x->stale_after_ms == 0 || age_ms <= x->stale_after_ms)
        return 0;
    return err_set(err, -ESTALE, "the API server has sent nothing for %lld s",
                   (long long)(age_ms / 1000));
}

bool extender_is_unable(int judged) {
    return reason_of(judged) >= 0;
}

bool extender_no_opinion(const char *verb, const struct pod *pod, int judged,
                         const struct err *err) {
    if (!extender_is_unable(judged))
        return false;
    metric_add(&no_opinion[reason_of(judged)], 1);
    LOG_W("no opinion given", LOG_CSTR("verb", verb), LOG_STR("pod", pod->meta.name),
          LOG_ERRTEXT(err));
    return true;
}

bool extender_has_answer(const char *verb, const struct pod *pod, int judged, const struct err *err,
                         struct http_response *response) {
    if (judged == 0 || extender_no_opinion(verb, pod, judged, err))
        return true;
    extender_note_error(verb, EXTENDER_BAD_POD, &pod->meta, err->text);
    extender_refuse(400, err->text, response);
    return false;
}

bool extender_record(const struct extender *x, const struct extender_call *call,
                     struct recording *ret) {
    struct decision_ages ages;
    struct decision_about about = {.verb = call->verb,
                                   .subject = subject_pod(call->pod->namespace, call->pod->name),
                                   .uid = call->pod->uid,
                                   .at_us = call->began.at_us,
                                   .took_us = moment_took_us(&call->began),
                                   .result = call->judged == 0                  ? "answered"
                                             : extender_is_unable(call->judged) ? "no opinion"
                                                                                : "refused",
                                   .message =
                                       call->judged == 0 ? STR("") : str_of(call->err->text)};
    ages_of(x->cache, call->applied, call->judged == 0 ? call->applied_count : 0, &ages, &about);
    return recording_begin(ret, x->decisions, &about);
}

bool extender_may_judge(const struct extender *x, const struct extender_call *call, int decoded,
                        const struct err *err, struct http_response *response) {
    struct recording rec;
    if (decoded != 0) {
        enum extender_error why = decoded == -ENOMEM ? EXTENDER_NO_MEMORY : EXTENDER_MALFORMED;
        extender_note_error(call->verb, why, NULL, err->text);
        extender_refuse(decoded == -ENOMEM ? 503 : 400, err->text, response);
        return false;
    }
    if (cache_ready(x->cache))
        return true;
    const struct err unready = {-EBUSY, EXTENDER_NOT_READY};
    struct extender_call refused = *call;
    refused.judged = -EBUSY;
    refused.err = &unready;
    if (extender_record(x, &refused, &rec))
        recording_end(&rec);
    extender_note_error(call->verb, EXTENDER_UNREADY, call->pod, EXTENDER_NOT_READY);
    extender_refuse(503, EXTENDER_NOT_READY, response);
    return false;
}

void extender_unassume(const struct extender *x, const struct object_meta *pod) {
    struct cache_view view;
    cache_view_open(x->cache, &view);
    bool assumed = cache_is_assumed(&view, pod);
    cache_view_close(&view);
    if (!assumed)
        return;
    cache_write_begin(x->cache);
    cache_unassume(x->cache, pod);
    cache_write_end(x->cache);
}

int extender_prepare_scoring(const struct extender *x, struct pod *pod,
                             const struct policy_list *instead, struct arena *arena,
                             struct engine_options *ret, struct err *err) {
    const struct pod_scoring scoring = {
        .fluid = x->fluid, .policies = x->policies, .instead = instead, .cache = x->cache};
    *ret = *x->options;
    return pod_scoring_prepare(&scoring, pod, arena, ret, err);
}
