/* Reviews of pods: their look-ups and their metrics. */
#include "cache/cache.h"
#include "data/lookup.h"
#include "handlers/webhook_family.h"

#include <stdio.h>

/* ---- metrics ---- */

/* Number of constraints that policies ask for, by the policy's mode and the constraint's fate. */
static struct {
    struct metric metric;
    char labels[96];
} fates[2][SPREAD_FATES];

/* Number of validated pods that evade their policy, by the policy's mode and the way of evasion. */
static struct {
    struct metric metric;
    char labels[64];
} evasions[POLICY_MODES][EVASIONS];

static void name_evasions(void) {
    for (int i = 0; i < POLICY_MODES * EVASIONS; i++) {
        int mode = i / EVASIONS, evasion = i % EVASIONS;
        char *labels = evasions[mode][evasion].labels;
        if (mode == POLICY_AUDIT || evasion == EVASION_NONE)
            continue;
        (void)snprintf(labels, sizeof evasions[mode][evasion].labels, "mode=\"%s\",reason=\"%s\"",
                       policy_mode_names[mode].p, evasion_reason((enum evasion)evasion)); /* fits */
        evasions[mode][evasion].metric = (struct metric){
            .name = "evenkeel_policy_evasions_total",
            .help = "New pods that made their policy's spread impossible, by reason; with mode "
                    "Require they are denied, except those with reason NotInjected.",
            .labels = labels,
            .kind = METRIC_COUNTER};
    }
}

static void name_fates(void) {
    static const char *const modes[] = {"Enforce", "Audit"};
    for (int i = 0; i < 2 * SPREAD_FATES; i++) {
        int mode = i / SPREAD_FATES, fate = i % SPREAD_FATES;
        char *labels = fates[mode][fate].labels;
        (void)snprintf(labels, sizeof fates[mode][fate].labels,
                       "mode=\"%s\",result=\"%s\",reason=\"%s\"", modes[mode],
                       spread_result((enum spread_fate)fate),
                       spread_reason((enum spread_fate)fate)); /* fits */
        fates[mode][fate].metric =
            (struct metric){.name = "evenkeel_spread_constraints_total",
                            .help = "Constraints that policies ask for in new pods, by result; "
                                    "with mode Audit, by the result that they would have.",
                            .labels = labels,
                            .kind = METRIC_COUNTER};
    }
}

static void each_metric(void (*what)(struct metric *)) {
    if (fates[0][0].metric.name == NULL) {
        name_fates();
        name_evasions();
    }
    for (int i = 0; i < 2 * SPREAD_FATES; i++)
        what(&fates[i / SPREAD_FATES][i % SPREAD_FATES].metric);
    for (int i = 0; i < POLICY_MODES * EVASIONS; i++)
        if (evasions[i / EVASIONS][i % EVASIONS].metric.name != NULL)
            what(&evasions[i / EVASIONS][i % EVASIONS].metric);
    lookup_metrics(what);
    owners_metrics(what);
}

/* ---- an answer ---- */

/* A review of a pod that waits for its answer. */
struct asked {
    struct webhook_question head;
    const char *warning; /* added to the decision's warnings, a literal; or NULL */
};

static const struct pod_reviewer *reviewer_of(const struct asked *asked) {
    return &asked->head.endpoint->webhook->pods;
}

static void count_evasion(const struct asked *asked, const struct pod_evasion *found) {
    if (found->evasion == EVASION_NONE)
        return;
    metric_add(&evasions[found->mode][found->evasion].metric, 1);
    if (asked->head.review->dry_run)
        return;
    policy_tallies_add(policy_source_tallies(reviewer_of(asked)->known.policies), found->policy,
                       (uint32_t)found->evasion);
}

static void conclude(const struct asked *asked, const struct pod_decision *d,
                     struct http_response *response) {
    if (!webhook_answer(&asked->head, &d->answer, d->result, reviewer_of(asked)->known.cache,
                        response))
        return;
    for (int i = 0; i < SPREAD_FATES; i++) {
        metric_add(&fates[0][i].metric, d->spread.fates[i]);
        metric_add(&fates[1][i].metric, d->audited.fates[i]);
    }
    count_evasion(asked, &d->evasion);
}

/* Answers a review and records the decision. But if an object must be read first, only returns
 * false: inputs->missing or inputs->owner_wanted, if set, names the object. */
static bool answer(const struct asked *asked, const struct pod_inputs *inputs,
                   struct http_response *response) {
    struct pod_decision d;
    pod_decide(asked->head.endpoint->kind, &reviewer_of(asked)->known, asked->head.review, inputs,
               asked->head.arena, &d);
    bool complete = (inputs->missing == NULL || inputs->missing->count == 0) &&
                    (inputs->owner_wanted == NULL || str_empty(inputs->owner_wanted->ref.name));
    if (complete && asked->warning != NULL)
        review_fail(&d.answer, str_of(asked->warning)); /* after the decision's own warnings */
    if (complete)
        conclude(asked, &d, response);
    pod_decision_done(&d);
    return complete;
}

/* ---- look-ups ---- */

/* A review that is repeated after a read. */
struct resumed {
    struct webhook_endpoint endpoint;
    struct moment began;
};

static bool try_again(const void *ctx, const struct lookup_attempt *attempt) {
    const struct resumed *again = ctx;
    struct review review;
    struct err err;
    const struct asked asked = {.head = {.endpoint = &again->endpoint,
                                         .review = &review,
                                         .began = &again->began,
                                         .arena = attempt->arena}};
    const struct pod_inputs inputs = {.found = attempt->found, .missing = attempt->missing};
    int r = review_decode(attempt->request->body, attempt->arena, &review, &err);
    if (r == 0)
        return answer(&asked, &inputs, attempt->response);
    http_answer_text(attempt->response, 503, "%s", err.text); /* it was valid before: no memory */
    return true;
}

/* Answers from the present knowledge, with a warning that names the reason why it may be
 * incomplete. */
static void answer_unread(const struct asked *asked, const char *warning,
                          struct http_response *response) {
    const struct pod_inputs known = {0};
    struct asked warned = *asked;
    warned.warning = warning;
    (void)answer(&warned, &known, response); /* nothing can be missing */
}

static enum lookup_start look_up(const struct asked *asked, const struct http_request *request,
                                 const struct fluid_missing *missing) {
    const struct pod_reviewer *reviewer = reviewer_of(asked);
    const struct resumed again = {*asked->head.endpoint, *asked->head.began};
    const struct lookup_question question = {.client = reviewer->client,
                                             .namespace = asked->head.review->namespace,
                                             .read_ms = reviewer->read_ms,
                                             .attempt = try_again,
                                             .ctx = &again,
                                             .ctx_size = sizeof again};
    return lookup_begin(&question, request, missing);
}

/* Called if an object is missing: answers at once, or reads the object first. */
static void answer_missing(const struct asked *asked, const struct http_request *request,
                           const struct fluid_missing *missing, struct http_response *response) {
    static const char unverified[] =
        "evenkeel: fluid: objects that no watch has brought yet are read only for callers with a "
        "client certificate; see webhook.fluid.readFor";
    static const char busy[] =
        "evenkeel: fluid: objects that no watch has brought yet are not read, because too many are "
        "being read at the moment; create the pod again";
    if (!reviewer_of(asked)->read_for_anyone && !lookup_is_for(request)) {
        lookup_count_refused(missing);
        answer_unread(asked, unverified, response);
        return;
    }
    enum lookup_start start = look_up(asked, request, missing);
    if (start != LOOKUP_BEGAN)
        answer_unread(asked, start == LOOKUP_BUSY ? busy : NULL, response);
}

/* ---- the endpoint ---- */

static void answer_resumed(void *ctx, const struct http_request *request,
                           struct http_response *response);

static bool reads(const struct pod_reviewer *reviewer) {
    return reviewer->client != NULL && reviewer->read_ms > 0;
}

static bool read_owner(const struct asked *asked, const struct http_request *request,
                       const struct owner_wanted *wanted) {
    const struct pod_reviewer *reviewer = reviewer_of(asked);
    const struct resumed resumed = {*asked->head.endpoint, *asked->head.began};
    const struct owner_question question = {.owners = reviewer->known.owners,
                                            .client = reviewer->client,
                                            .read_ms = reviewer->read_ms,
                                            .then = answer_resumed,
                                            .ctx = &resumed,
                                            .ctx_size = sizeof resumed};
    return owners_read(&question, request, wanted);
}

static void review_pod(const struct resumed *resumed, bool reads_owner,
                       const struct http_request *request, struct http_response *response) {
    struct owner_wanted wanted;
    struct fluid_missing missing;
    struct review review;
    if (!webhook_read(&resumed->endpoint, request, &review, response))
        return;
    const struct asked asked = {.head = {.endpoint = &resumed->endpoint,
                                         .review = &review,
                                         .began = &resumed->began,
                                         .arena = request->arena}};
    struct pod_inputs first = {.missing = reads(reviewer_of(&asked)) ? &missing : NULL,
                               .owner_wanted = reads_owner ? &wanted : NULL};
    if (answer(&asked, &first, response))
        return;
    if (reads_owner && !str_empty(wanted.ref.name)) {
        if (read_owner(&asked, request, &wanted))
            return;
        first.owner_wanted = NULL; /* the owner cannot be read: use present knowledge */
        if (answer(&asked, &first, response))
            return;
    }
    answer_missing(&asked, request, &missing, response);
}

/* Answers a review after its read of the pod's controller has ended, successfully or not. */
static void answer_resumed(void *ctx, const struct http_request *request,
                           struct http_response *response) {
    review_pod(ctx, false, request, response);
}

static void review(const struct webhook_endpoint *endpoint, const struct moment *began,
                   const struct http_request *request, struct http_response *response) {
    const struct pod_reviewer *reviewer = &endpoint->webhook->pods;
    const struct resumed now = {*endpoint, *began};
    const bool may_read = reads(reviewer) && (reviewer->read_for_anyone || lookup_is_for(request));
    review_pod(&now, reviewer->known.owners != NULL && may_read, request, response);
}

const struct webhook_family webhook_pods = {.review = review, .each_metric = each_metric};
