#include "admit/pods.h"
#include "base/log.h"
#include "base/metrics.h"
#include "handlers/webhook_lookup.h"

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
    webhook_lookup_metrics(metric_register);
}

void webhook_metrics_stop(void) {
    for (size_t i = 0; i < RESULTS; i++)
        metric_unregister(&results[i]);
    webhook_lookup_metrics(metric_unregister);
}

static void refuse(int status, const char *why, struct http_response *response) {
    metric_add(&results[REFUSED], 1);
    http_answer_text(response, status, "%s", why);
}

static void conclude(const struct review *review, enum admission result,
                     const struct review_answer *given, struct http_response *response) {
    if (review_encode(given, &response->text) == 0) {
        metric_add(&results[result], 1);
        http_answer_json(response, 200);
    } else {
        strbuf_done(&response->text);
        refuse(503, "no memory for the answer", response);
    }
    if (result == ADMISSION_FAILED)
        LOG_W("a pod was admitted without all it ought to get",
              LOG_STR("namespace", review->namespace), LOG_STR("why", given->warnings[0]));
}

bool webhook_answer(const struct webhook *webhook, const struct review *review, struct arena *arena,
                    struct fluid_store *found, struct fluid_missing *missing,
                    struct http_response *response) {
    struct policies *held = policies_hold(webhook->policies);
    struct fluid_set *set = fluid_hold(webhook->fluid);
    struct pod_data data = {.store = found};
    if (found != NULL) { /* which nobody looks for where nothing is known of data */
        fluid_store_set_behind(found, fluid_set_data(set)->store);
        data.options = fluid_set_data(set)->options;
    }
    struct pods_options options = {.cache = webhook->cache,
                                   .data = found != NULL ? &data : fluid_set_data(set),
                                   .missing = missing,
                                   .plugins = pod_plugins_default,
                                   .plugin_count = pod_plugins_default_count};
    struct review_answer given;
    struct patch patch;
    options.policies = policies_items(held, &options.policy_count);
    enum admission result = admit_pod(&options, review, arena, &patch, &given);
    bool complete = missing == NULL || missing->count == 0;
    if (complete)
        conclude(review, result, &given, response);
    fluid_release(set);
    policies_release(held); /* the answer names a policy */
    return complete;
}

void webhook_pods(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct webhook *webhook = ctx;
    struct review review;
    struct err err = {0};
    int r = review_decode(request->body, request->arena, &review, &err);
    if (r != 0) {
        refuse(r == -ENOMEM ? 503 : 400, err.text, response);
        return;
    }
    struct fluid_missing missing;
    bool looks = webhook->client != NULL && webhook->read_ms > 0;
    if (!webhook_answer(webhook, &review, request->arena, NULL, looks ? &missing : NULL,
                        response) &&
        !webhook_lookup(webhook, request, &missing))
        (void)webhook_answer(webhook, &review, request->arena, NULL, NULL, response); /* does */
}
