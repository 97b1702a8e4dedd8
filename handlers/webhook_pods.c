#include "admit/pods.h"
#include "base/log.h"
#include "base/metrics.h"
#include "handlers/webhook_record.h"

#include <errno.h>

enum { REFUSED = ADMISSION_FAILED + 1, RESULTS }; /* beside the results of enum admission */

static struct metric results[RESULTS] = {
#define RESULT(which, word)                                                                        \
    [which] = {.name = "evenkeel_admission_requests_total",                                        \
               .help = "Objects that API servers asked about, by what became of them.",            \
               .labels = "verb=\"pods\",result=\"" word "\"",                                      \
               .kind = METRIC_COUNTER}
    RESULT(ADMISSION_UNCHANGED, "unchanged"),
    RESULT(ADMISSION_PATCHED, "patched"),
    RESULT(ADMISSION_DENIED, "denied"),
    RESULT(ADMISSION_FAILED, "failed"),
    RESULT(REFUSED, "refused"),
};

void webhook_metrics_start(void) {
    for (size_t i = 0; i < RESULTS; i++)
        metric_register(&results[i]);
}

void webhook_metrics_stop(void) {
    for (size_t i = 0; i < RESULTS; i++)
        metric_unregister(&results[i]);
}

static void refuse(int status, const char *why, struct http_response *response) {
    metric_add(&results[REFUSED], 1);
    http_answer_text(response, status, "%s", why);
}

static void answer(const struct webhook *webhook, const struct review *review,
                   const struct http_request *request, const struct moment *began,
                   struct http_response *response) {
    struct policies *held = policies_hold(webhook->policies);
    struct fluid_set *data = fluid_hold(webhook->fluid);
    struct pods_options options = {.cache = webhook->cache,
                                   .data = fluid_set_data(data),
                                   .plugins = pod_plugins_default,
                                   .plugin_count = pod_plugins_default_count,
                                   .annotate = webhook->annotate};
    struct review_answer given;
    struct patch patch;
    options.policies = policies_items(held, &options.policy_count);
    enum admission result = admit_pod(&options, review, request->arena, &patch, &given);
    if (review_encode(&given, &response->text) == 0) {
        metric_add(&results[result], 1);
        http_answer_json(response, 200);
        webhook_record(webhook, review, result, &given, began, request->arena);
    } else {
        strbuf_done(&response->text);
        refuse(503, "no memory for the answer", response);
    }
    if (result == ADMISSION_FAILED)
        LOG_W("a pod was admitted without all it ought to get",
              LOG_STR("namespace", review->namespace), LOG_STR("why", given.warnings[0]));
    fluid_release(data);
    policies_release(held); /* the answer names a policy */
}

void webhook_pods(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct webhook *webhook = ctx;
    const struct moment began = moment_now();
    struct review review;
    struct err err = {0};
    int r = review_decode(request->body, request->arena, &review, &err);
    if (r == 0)
        answer(webhook, &review, request, &began, response);
    else
        refuse(r == -ENOMEM ? 503 : 400, err.text, response);
}
