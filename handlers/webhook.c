#include "handlers/webhook.h"

#include "base/log.h"
#include "base/metrics.h"
#include "cache/cache.h"
#include "data/lookup.h"
#include "explain/admission_record.h"

#include <errno.h>
#include <stdio.h>

/* ---- metrics ---- */

enum { REFUSED = ADMISSION_FAILED + 1, RESULTS }; /* beside the results of enum admission */

static const char *const result_words[RESULTS] = {
    [ADMISSION_UNCHANGED] = "unchanged",
    [ADMISSION_PATCHED] = "patched",
    [ADMISSION_DENIED] = "denied",
    [ADMISSION_FAILED] = "failed",
    [REFUSED] = "refused",
};

/* What one kind's reviews are answered with. */
struct endpoint {
    const struct webhook *webhook;
    const struct admitted_kind *kind;
};

/* Of every kind. */
static struct {
    struct metric metric;
    char labels[64];
} results[ADMITTED_KINDS][RESULTS];

static struct metric gave_up[ADMITTED_KINDS];

static size_t row_of(const struct admitted_kind *kind) {
    size_t row = 0;
    while (row + 1 < ADMITTED_KINDS && admitted_kinds[row] != kind)
        row++;
    return row;
}

static struct metric *metric_of(const struct endpoint *e, int result) {
    return &results[row_of(e->kind)][result].metric;
}

static void start_metric_of_steps(size_t row) {
    static char labels[ADMITTED_KINDS][32];
    (void)snprintf(labels[row], sizeof labels[row], "verb=\"%s\"",
                   admitted_kinds[row]->name); /* fits */
    gave_up[row].name = "evenkeel_admission_gave_up_total";
    gave_up[row].help = "Objects that were admitted as they came because their review takes more "
                        "steps than one may take.";
    gave_up[row].labels = labels[row];
    gave_up[row].kind = METRIC_COUNTER;
    metric_register(&gave_up[row]);
}

/* Of pods: what became of the constraints that policies ask for, by their mode. */
static struct {
    struct metric metric;
    char labels[96];
} fates[2][SPREAD_FATES];

/* Of pods that are validated: how they evade their policy, by its mode. */
static struct {
    struct metric metric;
    char labels[64];
} evasions[POLICY_MODES][EVASIONS];

static void evasion_metrics(void) {
    for (int i = 0; i < POLICY_MODES * EVASIONS; i++) {
        int mode = i / EVASIONS, evasion = i % EVASIONS;
        char *labels = evasions[mode][evasion].labels;
        if (mode == POLICY_AUDIT || evasion == EVASION_NONE)
            continue;
        (void)snprintf(labels, sizeof evasions[mode][evasion].labels, "mode=\"%s\",reason=\"%s\"",
                       policy_mode_names[mode].p, evasion_reason((enum evasion)evasion)); /* fits */
        evasions[mode][evasion].metric =
            (struct metric){.name = "evenkeel_policy_evasions_total",
                            .help = "New pods that made their policy's spread impossible, by "
                                    "reason: denied with mode Require, but for NotInjected.",
                            .labels = labels,
                            .kind = METRIC_COUNTER};
    }
}

static void each_evasion_metric(void (*what)(struct metric *)) {
    for (int i = 0; i < POLICY_MODES * EVASIONS; i++)
        if (evasions[i / EVASIONS][i % EVASIONS].metric.name != NULL)
            what(&evasions[i / EVASIONS][i % EVASIONS].metric);
}

static void spread_metrics(void) {
    static const char *const modes[] = {"Enforce", "Audit"};
    for (int i = 0; i < 2 * SPREAD_FATES; i++) {
        int mode = i / SPREAD_FATES, fate = i % SPREAD_FATES;
        char *labels = fates[mode][fate].labels;
        (void)snprintf(labels, sizeof fates[mode][fate].labels,
                       "mode=\"%s\",result=\"%s\",reason=\"%s\"", modes[mode],
                       spread_result((enum spread_fate)fate),
                       spread_reason((enum spread_fate)fate)); /* fits */
        fates[mode][fate].metric = (struct metric){
            .name = "evenkeel_spread_constraints_total",
            .help = "Constraints that policies ask for of new pods, by what became of them; with "
                    "mode Audit, what would.",
            .labels = labels,
            .kind = METRIC_COUNTER};
        metric_register(&fates[mode][fate].metric);
    }
}

void webhook_metrics_start(void) {
    spread_metrics();
    evasion_metrics();
    each_evasion_metric(metric_register);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        start_metric_of_steps(k);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        for (int i = 0; i < RESULTS; i++) {
            char *labels = results[k][i].labels;
            (void)snprintf(labels, sizeof results[k][i].labels, "verb=\"%s\",result=\"%s\"",
                           admitted_kinds[k]->name, result_words[i]); /* fits */
            struct metric *metric = &results[k][i].metric;
            metric->name = "evenkeel_admission_requests_total";
            metric->help = "Objects that API servers asked about, by what became of them.";
            metric->labels = labels;
            metric->kind = METRIC_COUNTER;
            metric_register(metric);
        }
    lookup_metrics(metric_register);
    owners_metrics(metric_register);
}

void webhook_metrics_stop(void) {
    each_evasion_metric(metric_unregister);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        metric_unregister(&gave_up[k]);
    for (size_t k = 0; k < ADMITTED_KINDS; k++)
        for (int i = 0; i < RESULTS; i++)
            metric_unregister(&results[k][i].metric);
    for (int i = 0; i < 2 * SPREAD_FATES; i++)
        metric_unregister(&fates[i / SPREAD_FATES][i % SPREAD_FATES].metric);
    lookup_metrics(metric_unregister);
    owners_metrics(metric_unregister);
}

/* ---- an answer ---- */

static void refuse(const struct endpoint *e, int status, const char *why,
                   struct http_response *response) {
    metric_add(metric_of(e, REFUSED), 1);
    http_answer_text(response, status, "%s", why);
}

/* A review that is to be answered. */
struct asked {
    const struct endpoint *endpoint;
    const struct review *review;
    const struct moment *began; /* when it came */
    struct arena *arena;
    const char *warning; /* beside those of the decision, or NULL; literal */
};

/* Into the policy's status. A dry run makes no pod. */
static void count_for_policy(const struct asked *asked, const struct spread_tally *counts) {
    _Static_assert((int)SPREAD_FATES <= (int)POLICY_SKIPS, "a fate is a reason");
    struct policy_tally tally = {.injected = 0};
    if (str_empty(counts->policy) || asked->review->dry_run)
        return;
    for (int i = 0; i < SPREAD_FATES; i++) {
        const enum spread_form form = spread_form((enum spread_fate)i);
        if (form == SPREAD_NOT)
            tally.skipped[i] = counts->fates[i];
        else if (form != SPREAD_WHOLE)
            tally.softened += counts->fates[i];
        else if (i != SPREAD_RENEWED) /* it was counted before */
            tally.injected += counts->fates[i];
    }
    policy_tallies_add(policy_source_tallies(asked->endpoint->webhook->known.policies),
                       counts->policy, &tally);
}

static void count_evasion(const struct asked *asked, const struct pod_evasion *found) {
    struct policy_tally tally = {.injected = 0};
    if (found->evasion == EVASION_NONE)
        return;
    metric_add(&evasions[found->mode][found->evasion].metric, 1);
    if (asked->review->dry_run)
        return;
    tally.evaded[found->evasion] = 1;
    policy_tallies_add(policy_source_tallies(asked->endpoint->webhook->known.policies),
                       found->policy, &tally);
}

static void conclude(const struct asked *asked, const struct admission_decision *d,
                     struct http_response *response) {
    const struct webhook *webhook = asked->endpoint->webhook;
    const struct admission_record record = {.review = asked->review,
                                            .answer = &d->answer,
                                            .result = d->result,
                                            .began = *asked->began,
                                            .cache = webhook->known.cache};
    if (review_encode(&d->answer, &response->text) == 0) {
        metric_add(metric_of(asked->endpoint, (int)d->result), 1);
        for (int i = 0; i < SPREAD_FATES; i++) {
            metric_add(&fates[0][i].metric, d->spread.fates[i]);
            metric_add(&fates[1][i].metric, d->audited.fates[i]);
        }
        count_for_policy(asked, &d->spread);
        count_for_policy(asked, &d->audited);
        count_evasion(asked, &d->evasion);
        metric_add(&gave_up[row_of(asked->endpoint->kind)], d->answer.gave_up);
        http_answer_json(response, 200);
        if (!asked->endpoint->kind->validates || d->result != ADMISSION_UNCHANGED)
            admission_record(&record, webhook->decisions, asked->arena);
    } else {
        strbuf_done(&response->text);
        refuse(asked->endpoint, 503, "no memory for the answer", response);
    }
    if (d->result == ADMISSION_FAILED)
        LOG_W("an object was admitted without all it ought to get",
              LOG_STR("kind", str_of(asked->endpoint->kind->name)),
              LOG_STR("namespace", asked->review->namespace),
              LOG_STR("why", d->answer.warnings[0]));
}

/* Answers a review, and records the decision. With inputs->missing, and if something of Fluid's was
 * looked up in vain, it does neither but says what: false. */
static bool answer(const struct asked *asked, const struct admission_inputs *inputs,
                   struct http_response *response) {
    struct admission_decision d;
    admission_decide(asked->endpoint->kind, &asked->endpoint->webhook->known, asked->review, inputs,
                     asked->arena, &d);
    bool complete = (inputs->missing == NULL || inputs->missing->count == 0) &&
                    (inputs->owner_wanted == NULL || str_empty(inputs->owner_wanted->ref.name));
    if (complete && asked->warning != NULL)
        review_fail(&d.answer, str_of(asked->warning)); /* behind what it explains */
    if (complete)
        conclude(asked, &d, response);
    admission_decision_done(&d);
    return complete;
}

/* ---- what is looked up ---- */

struct again {
    struct endpoint endpoint;
    struct moment began;
};

static bool try_again(const void *ctx, const struct lookup_attempt *attempt) {
    const struct again *again = ctx;
    struct review review;
    struct err err;
    const struct asked asked = {.endpoint = &again->endpoint,
                                .review = &review,
                                .began = &again->began,
                                .arena = attempt->arena};
    const struct admission_inputs inputs = {.found = attempt->found, .missing = attempt->missing};
    int r = review_decode(attempt->request->body, attempt->arena, &review, &err);
    if (r == 0)
        return answer(&asked, &inputs, attempt->response);
    http_answer_text(attempt->response, 503, "%s", err.text); /* it was read before: no memory */
    return true;
}

/* Answers by what is known, and says why there may be more. */
static void answer_unread(const struct asked *asked, const char *warning,
                          struct http_response *response) {
    const struct admission_inputs known = {0};
    struct asked warned = *asked;
    warned.warning = warning;
    (void)answer(&warned, &known, response); /* nothing can be missing */
}

static enum lookup_start look_up(const struct asked *asked, const struct http_request *request,
                                 const struct fluid_missing *missing) {
    const struct webhook *webhook = asked->endpoint->webhook;
    const struct again again = {*asked->endpoint, *asked->began};
    const struct lookup_question question = {.client = webhook->client,
                                             .namespace = asked->review->namespace,
                                             .read_ms = webhook->read_ms,
                                             .attempt = try_again,
                                             .ctx = &again,
                                             .ctx_size = sizeof again};
    return lookup_begin(&question, request, missing);
}

/* Something is missing: answers now, or has it read first. */
static void answer_missing(const struct asked *asked, const struct http_request *request,
                           const struct fluid_missing *missing, struct http_response *response) {
    static const char unverified[] =
        "evenkeel: fluid: objects that no watch has brought yet are read only for callers with a "
        "client certificate; see webhook.fluid.readFor";
    static const char busy[] =
        "evenkeel: fluid: objects that no watch has brought yet are not read, because too many are "
        "being read at the moment; create the pod again";
    if (!asked->endpoint->webhook->read_for_anyone && !lookup_is_for(request)) {
        lookup_count_refused(missing);
        answer_unread(asked, unverified, response);
        return;
    }
    enum lookup_start start = look_up(asked, request, missing);
    if (start != LOOKUP_BEGAN)
        answer_unread(asked, start == LOOKUP_BUSY ? busy : NULL, response);
}

/* ---- the endpoint ---- */

/* Each kind has a route, so one of them has the path; a request without any is about the first. */
static const struct admitted_kind *kind_of(const struct http_request *request) {
    size_t kind = ADMITTED_KINDS;
    while (kind > 1 && !str_eq(request->path, str_of(admitted_kinds[kind - 1]->path)))
        kind--;
    return admitted_kinds[kind - 1];
}

/* A review whose controller has been asked about, in vain or not. */
struct resumed {
    const struct webhook *webhook;
    struct moment began;
};

static void answer_resumed(void *ctx, const struct http_request *request,
                           struct http_response *response);

static bool may_read(const struct webhook *webhook, const struct http_request *request) {
    return webhook->client != NULL && webhook->read_ms > 0 &&
           (webhook->read_for_anyone || lookup_is_for(request));
}

static bool read_owner(const struct asked *asked, const struct http_request *request,
                       const struct owner_wanted *wanted) {
    const struct webhook *webhook = asked->endpoint->webhook;
    const struct resumed resumed = {webhook, *asked->began};
    const struct owner_question question = {.owners = webhook->known.owners,
                                            .client = webhook->client,
                                            .read_ms = webhook->read_ms,
                                            .then = answer_resumed,
                                            .ctx = &resumed,
                                            .ctx_size = sizeof resumed};
    return owners_read(&question, request, wanted);
}

static void review_pod(const struct resumed *resumed, bool reads_owner,
                       const struct http_request *request, struct http_response *response) {
    const struct webhook *webhook = resumed->webhook;
    const struct endpoint endpoint = {webhook, kind_of(request)};
    struct owner_wanted wanted;
    struct review review;
    struct err err = {0};
    int r = review_decode(request->body, request->arena, &review, &err);
    if (r != 0) {
        refuse(&endpoint, r == -ENOMEM ? 503 : 400, err.text, response);
        return;
    }
    struct fluid_missing missing;
    bool looks = webhook->client != NULL && webhook->read_ms > 0;
    const struct asked asked = {.endpoint = &endpoint,
                                .review = &review,
                                .began = &resumed->began,
                                .arena = request->arena};
    struct admission_inputs first = {.missing = looks ? &missing : NULL,
                                     .owner_wanted = reads_owner ? &wanted : NULL};
    if (answer(&asked, &first, response))
        return;
    if (reads_owner && !str_empty(wanted.ref.name)) {
        if (read_owner(&asked, request, &wanted))
            return;
        first.owner_wanted = NULL; /* by what is known */
        if (answer(&asked, &first, response))
            return;
    }
    answer_missing(&asked, request, &missing, response);
}

static void answer_resumed(void *ctx, const struct http_request *request,
                           struct http_response *response) {
    review_pod(ctx, false, request, response);
}

void webhook_review(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct resumed now = {ctx, moment_now()};
    review_pod(&now, now.webhook->known.owners != NULL && may_read(now.webhook, request), request,
               response);
}
