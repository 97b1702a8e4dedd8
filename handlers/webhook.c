#include "handlers/webhook.h"

#include "base/log.h"
#include "explain/admission_record.h"
#include "handlers/webhook_family.h"

#include <errno.h>
#include <stdio.h>

/* ---- metrics ---- */

enum { REFUSED = ADMISSION_FAILED + 1, RESULTS }; /* they follow those of enum admission */

static const char *const result_words[RESULTS] = {
    [ADMISSION_UNCHANGED] = "unchanged",
    [ADMISSION_PATCHED] = "patched",
    [ADMISSION_DENIED] = "denied",
    [ADMISSION_FAILED] = "failed",
    [REFUSED] = "refused",
};

/* Number of reviews of each kind, by result. */
static struct {
    struct metric metric;
    char labels[64];
} results[ADMITTED_KINDS][RESULTS];

static struct metric gave_up[ADMITTED_KINDS];

#define FAMILY(constant, name, family) &webhook_##family,
static const struct webhook_family *const families[ADMITTED_KINDS] = {ADMITTED_LIST(FAMILY)};

static size_t row_of(const struct admitted_kind *kind) {
    size_t row = 0;
    while (row + 1 < ADMITTED_KINDS && admitted_kinds[row] != kind)
        row++;
    return row;
}

static struct metric *metric_of(const struct webhook_endpoint *e, int result) {
    return &results[row_of(e->kind)][result].metric;
}

static void start_metric_of_steps(size_t row) {
    static char labels[ADMITTED_KINDS][32];
    (void)snprintf(labels[row], sizeof labels[row], "verb=\"%s\"",
                   admitted_kinds[row]->name); /* fits */
    gave_up[row].name = "evenkeel_admission_gave_up_total";
    gave_up[row].help = "Objects that were admitted as they came because their review takes more "
                        "steps than a review may take.";
    gave_up[row].labels = labels[row];
    gave_up[row].kind = METRIC_COUNTER;
    metric_register(&gave_up[row]);
}

static void start_metrics_of_results(size_t row) {
    for (int i = 0; i < RESULTS; i++) {
        char *labels = results[row][i].labels;
        (void)snprintf(labels, sizeof results[row][i].labels, "verb=\"%s\",result=\"%s\"",
                       admitted_kinds[row]->name, result_words[i]); /* fits */
        struct metric *metric = &results[row][i].metric;
        metric->name = "evenkeel_admission_requests_total";
        metric->help = "Objects that API servers asked about, by result.";
        metric->labels = labels;
        metric->kind = METRIC_COUNTER;
        metric_register(metric);
    }
}

/* Calls `what` once for each metric of each family, however many rows the family has. */
static void each_family_metric(void (*what)(struct metric *)) {
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        if (families[k]->each_metric != NULL && (k == 0 || families[k] != families[k - 1]))
            families[k]->each_metric(what);
}

void webhook_metrics_start(void) {
    each_family_metric(metric_register);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        start_metric_of_steps(k);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        start_metrics_of_results(k);
}

void webhook_metrics_stop(void) {
    each_family_metric(metric_unregister);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        metric_unregister(&gave_up[k]);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        for (int i = 0; i < RESULTS; i++)
            metric_unregister(&results[k][i].metric);
}

/* ---- an answer ---- */

static void refuse(const struct webhook_endpoint *e, int status, const char *why,
                   struct http_response *response) {
    metric_add(metric_of(e, REFUSED), 1);
    http_answer_text(response, status, "%s", why);
}

bool webhook_read(const struct webhook_endpoint *endpoint, const struct http_request *request,
                  struct review *ret, struct http_response *response) {
    struct err err = {0};
    int r = review_decode(request->body, request->arena, ret, &err);
    if (r != 0)
        refuse(endpoint, r == -ENOMEM ? 503 : 400, err.text, response);
    return r == 0;
}

bool webhook_answer(const struct webhook_question *question, const struct review_answer *answer,
                    enum admission result, const struct cache *cache,
                    struct http_response *response) {
    const struct webhook_endpoint *endpoint = question->endpoint;
    const struct admission_record record = {.kind = endpoint->kind,
                                            .review = question->review,
                                            .answer = answer,
                                            .result = result,
                                            .began = *question->began,
                                            .cache = cache};
    const bool encoded = review_encode(answer, &response->text) == 0;
    if (encoded) {
        metric_add(metric_of(endpoint, (int)result), 1);
        metric_add(&gave_up[row_of(endpoint->kind)], answer->gave_up);
        http_answer_json(response, 200);
        if (!endpoint->kind->validates || result != ADMISSION_UNCHANGED)
            admission_record(&record, endpoint->webhook->decisions, question->arena);
    } else {
        strbuf_done(&response->text);
        refuse(endpoint, 503, "no memory for the answer", response);
    }
    if (result == ADMISSION_FAILED)
        LOG_W("an object was admitted without all that Evenkeel should add",
              LOG_STR("kind", str_of(endpoint->kind->name)),
              LOG_STR("namespace", question->review->namespace),
              LOG_STR("why", answer->warnings[0]));
    return encoded;
}

/* ---- the endpoint ---- */

/* Returns the row of the kind that a route's path names; 0, the first row, if the path is empty. */
static size_t row_of_path(struct str path) {
    const size_t prefix = sizeof ADMISSION_PATH - 1;
    size_t row = ADMITTED_KINDS;
    if (path.n < prefix)
        return 0;
    path = (struct str){path.p + prefix, path.n - prefix};
    while (row > 1 && !str_eq(path, str_of(admitted_kinds[row - 1]->name)))
        row--;
    return row - 1;
}

void webhook_review(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct moment now = moment_now();
    const size_t row = row_of_path(request->path);
    const struct webhook_endpoint endpoint = {ctx, admitted_kinds[row]};
    families[row]->review(&endpoint, &now, request, response);
}
