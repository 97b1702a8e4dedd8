#include "handlers/webhook_lookup.h"

#include "base/log.h"
#include "base/metrics.h"
#include "handlers/webhook_admission.h"
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

static void conclude(const struct webhook_asked *asked, const struct webhook_admission *a,
                     struct http_response *response) {
    if (review_encode(&a->answer, &response->text) == 0) {
        metric_add(&results[a->result], 1);
        http_answer_json(response, 200);
        webhook_record(asked->webhook, asked->review, a->result, &a->answer, asked->began,
                       asked->arena);
    } else {
        strbuf_done(&response->text);
        refuse(503, "no memory for the answer", response);
    }
    if (a->result == ADMISSION_FAILED)
        LOG_W("a pod was admitted without all it ought to get",
              LOG_STR("namespace", asked->review->namespace),
              LOG_STR("why", a->answer.warnings[0]));
}

bool webhook_answer(const struct webhook_asked *asked, const struct webhook_inputs *inputs,
                    struct http_response *response) {
    struct webhook_admission a;
    webhook_admit(asked->webhook, asked->review, inputs, asked->arena, &a);
    bool complete = inputs->missing == NULL || inputs->missing->count == 0;
    if (complete)
        conclude(asked, &a, response);
    webhook_admission_done(&a);
    return complete;
}

void webhook_pods(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct webhook *webhook = ctx;
    const struct moment began = moment_now();
    struct review review;
    struct err err = {0};
    int r = review_decode(request->body, request->arena, &review, &err);
    if (r != 0) {
        refuse(r == -ENOMEM ? 503 : 400, err.text, response);
        return;
    }
    struct fluid_missing missing;
    bool looks = webhook->client != NULL && webhook->read_ms > 0;
    const struct webhook_asked asked = {webhook, &review, &began, request->arena};
    const struct webhook_inputs first = {.missing = looks ? &missing : NULL}, known = {0};
    if (!webhook_answer(&asked, &first, response) &&
        !webhook_lookup(webhook, request, &began, &missing))
        (void)webhook_answer(&asked, &known, response); /* does */
}
