#include "handlers/webhook_lookup.h"

#include "base/json_reader.h"
#include "base/log.h"
#include "base/metrics.h"

#include <errno.h>
#include <stddef.h>

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

/* ---- what becomes of a pod ---- */

void webhook_admit(const struct webhook *webhook, const struct review *review,
                   const struct webhook_inputs *inputs, struct arena *arena,
                   struct webhook_admission *ret) {
    *ret = (struct webhook_admission){.data = fluid_hold(webhook->fluid)};
    const struct policy_list *instead = inputs->instead;
    struct pod_data data = {.store = inputs->found};
    if (inputs->found != NULL) { /* which nobody looks for where nothing is known of data */
        fluid_store_set_behind(inputs->found, fluid_set_data(ret->data)->store);
        data.options = fluid_set_data(ret->data)->options;
    }
    struct pods_options options = {.cache = webhook->cache,
                                   .data =
                                       inputs->found != NULL ? &data : fluid_set_data(ret->data),
                                   .missing = inputs->missing,
                                   .plugins = pod_plugins_default,
                                   .plugin_count = pod_plugins_default_count,
                                   .annotate = webhook->annotate};
    if (instead != NULL) {
        options.policies = instead->items;
        options.policy_count = instead->count;
    } else {
        ret->policies = policies_hold(webhook->policies);
        options.policies = policies_items(ret->policies, &options.policy_count);
    }
    ret->result = admit_pod(&options, review, arena, &ret->patch, &ret->answer);
}

void webhook_admission_done(struct webhook_admission *a) {
    fluid_release(a->data);
    if (a->policies != NULL)
        policies_release(a->policies);
}

/* ---- the record ---- */

struct pod_names {
    struct str name, generate_name, namespace, uid;
};

void webhook_pod_of(const struct review *review, struct arena *arena, struct webhook_pod *ret) {
    static const struct json_string_field fields[] = {
        {{"name", 4}, offsetof(struct pod_names, name)},
        {{"generateName", 12}, offsetof(struct pod_names, generate_name)},
        {{"namespace", 9}, offsetof(struct pod_names, namespace)},
        {{"uid", 3}, offsetof(struct pod_names, uid)},
    };
    struct pod_names names = {0};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, review->object, arena, "Pod");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata"))) {
                json_strings_of(&r, fields, sizeof fields / sizeof fields[0], &names);
                break;
            }
            (void)json_skip(&r); /* what is malformed has been told already */
        }
    *ret = (struct webhook_pod){
        .meta = {.name = names.name,
                 .namespace = str_empty(review->namespace) ? names.namespace : review->namespace,
                 .uid = names.uid},
        .generate_name = str_empty(names.name) ? names.generate_name : STR("")};
}

void webhook_tell(const struct webhook_admission *a, struct decision_about *about) {
    static const char *const words[] = {[ADMISSION_UNCHANGED] = "unchanged",
                                        [ADMISSION_PATCHED] = "patched",
                                        [ADMISSION_DENIED] = "denied",
                                        [ADMISSION_FAILED] = "failed"};
    about->result = words[a->result];
    about->message = a->answer.message;
    for (uint32_t i = 0; i < a->answer.annotation_count; i++)
        if (str_eq(a->answer.annotations[i].key, STR("unchanged")))
            about->message = a->answer.annotations[i].value;
}

static void record(const struct webhook *webhook, const struct review *review,
                   const struct webhook_admission *a, const struct moment *began,
                   struct arena *arena) {
    struct recording rec;
    struct webhook_pod pod;
    if (webhook->decisions == NULL || !str_eq(review->operation, STR("CREATE")))
        return;
    webhook_pod_of(review, arena, &pod);
    struct decision_about about = {.verb = "admit",
                                   .pod = &pod.meta,
                                   .generate_name = pod.generate_name,
                                   .at_us = began->at_us,
                                   .took_us = moment_took_us(began),
                                   .data_age_ms = cache_age_ms(webhook->cache)};
    webhook_tell(a, &about);
    if (!recording_begin(&rec, webhook->decisions, &about))
        return;
    decision_put_admission(&rec.decision, review, &a->answer);
    recording_end(&rec);
}

/* ---- the endpoint ---- */

static void conclude(const struct webhook_asked *asked, const struct webhook_admission *a,
                     struct http_response *response) {
    if (review_encode(&a->answer, &response->text) == 0) {
        metric_add(&results[a->result], 1);
        http_answer_json(response, 200);
        record(asked->webhook, asked->review, a, asked->began, asked->arena);
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
