#include "handlers/extender.h"

#include "admit/policy_choice.h"
#include "base/log.h"
#include "base/metrics.h"
#include "fluid/mounted.h"
#include "http/wire_extender.h"

#include <errno.h>
#include <stdatomic.h>

bool extender_may_judge(const struct extender *x, int decoded, const struct err *err,
                        struct http_response *response) {
    if (decoded != 0)
        extender_refuse(decoded == -ENOMEM ? 503 : 400, err->text, response);
    else if (!cache_ready(x->cache))
        extender_refuse(503, EXTENDER_NOT_READY, response);
    else
        return true;
    return false;
}

static struct metric no_opinion[] = {
#define NO_OPINION(why)                                                                            \
    {                                                                                              \
        .name = "evenkeel_extender_no_opinion_total",                                              \
        .help = "Answers in which every node passes and every score is 0.",                        \
        .labels = "reason=\"" why "\"", .kind = METRIC_COUNTER                                     \
    }
    NO_OPINION("stale"),
    NO_OPINION("memory"),
};

void extender_metrics_start(void) {
    for (size_t i = 0; i < sizeof no_opinion / sizeof no_opinion[0]; i++)
        metric_register(&no_opinion[i]);
}

void extender_metrics_stop(void) {
    for (size_t i = 0; i < sizeof no_opinion / sizeof no_opinion[0]; i++)
        metric_unregister(&no_opinion[i]);
}

int extender_check_age(const struct extender *x, struct http_response *response, struct err *err) {
    int64_t age_ms = cache_age_ms(x->cache);
    response->data_age_ms = age_ms;
    if (x->stale_after_ms == 0 || age_ms <= x->stale_after_ms)
        return 0;
    return err_set(err, -ESTALE, "the API server has not been heard for %lld s",
                   (long long)(age_ms / 1000));
}

bool extender_no_opinion(const char *verb, const struct pod *pod, int judged,
                         const struct err *err) {
    if (judged != -ENOMEM && judged != -ESTALE)
        return false;
    metric_add(&no_opinion[judged == -ENOMEM], 1);
    LOG_W("no opinion given", LOG_CSTR("verb", verb), LOG_STR("pod", pod->meta.name),
          LOG_ERRTEXT(err));
    return true;
}

bool extender_has_answer(const char *verb, const struct pod *pod, int judged, const struct err *err,
                         struct http_response *response) {
    if (judged == 0 || extender_no_opinion(verb, pod, judged, err))
        return true;
    extender_refuse(400, err->text, response);
    return false;
}

bool extender_record(const struct extender *x, const struct extender_call *call,
                     struct recording *ret) {
    bool unwell = call->judged == -ENOMEM || call->judged == -ESTALE;
    const struct decision_about about = {.verb = call->verb,
                                         .pod = call->pod,
                                         .at_us = call->began.at_us,
                                         .took_us = moment_took_us(&call->began),
                                         .data_age_ms = call->data_age_ms,
                                         .result = call->judged == 0 ? "answered"
                                                   : unwell          ? "no opinion"
                                                                     : "refused",
                                         .message =
                                             call->judged == 0 ? STR("") : str_of(call->err->text)};
    return recording_begin(ret, x->decisions, &about);
}

/* A policy's weights take the place of the configured ones; those of a policy that cannot be told
 * yet do not. 0 or -ENOMEM. */
static int weigh(const struct extender *x, const struct pod *pod, struct arena *arena,
                 struct engine_options *ret) {
    struct policy_source *source = atomic_load(&x->policies);
    struct policy_namespace namespace;
    if (source == NULL)
        return 0;
    int r = policy_namespace_find(x->cache, pod->meta.namespace, arena, &namespace);
    if (r != 0)
        return r;
    uint32_t count;
    bool unknown;
    struct policies *held = policies_hold(source);
    const struct policy *items = policies_items(held, &count);
    const struct policy *policy =
        policy_choose(items, count, &namespace, &pod->meta.labels, &unknown);
    if (policy != NULL) {
        ret->spread_weight = (uint32_t)policy->spread_weight;
        ret->locality_weight = (uint32_t)policy->locality_weight;
    }
    policies_release(held);
    return 0;
}

int extender_find_data(const struct extender *x, struct pod *pod, struct arena *arena,
                       struct engine_options *ret, struct err *err) {
    struct err why = {0};
    struct fluid_set *held = pod->claim_count > 0 ? fluid_hold(atomic_load(&x->fluid)) : NULL;
    *ret = *x->options;
    if (held == NULL)
        return 0;
    int r = fluid_find_mounted(fluid_set_data(held)->store, pod, arena, &why);
    fluid_release(held);
    if (r != 0 && r != -ENOMEM)
        LOG_D("where the data of a pod is cannot be told",
              LOG_STR("namespace", pod->meta.namespace), LOG_STR("pod", pod->meta.name),
              LOG_ERRTEXT(&why));
    if (r != -ENOMEM)
        r = pod->dataset_count > 0 ? weigh(x, pod, arena, ret) : 0;
    return r == 0 ? 0 : err_set(err, r, "no memory to find the pod's data");
}
