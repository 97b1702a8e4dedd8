/*
 * POST /explain: what would happen to this pod now? The answer has the form of a record of the
 * pod's creation, filtering and scoring, but names more nodes. Nothing is recorded, reserved or
 * counted.
 *
 * The answer also has findings (findings/findings.h): mistakes in the pod as it was before its
 * admission.
 *
 * A pod with a uid has been admitted already. A pod that the cluster knows also counts as an
 * existing pod.
 */
#include "admission/pods/decision.h"
#include "admission/pods/pods.h"
#include "engine/simulate.h"
#include "explain/admission.h"
#include "explain/admission_record.h"
#include "explain/ages.h"
#include "explain/now.h"
#include "explain/question.h"
#include "explain/replica.h"
#include "explain/scheduling.h"
#include "explain/scores.h"
#include "extender/service.h"
#include "findings/state/nodes.h"
#include "findings/workload.h"
#include "handlers/explain.h"
#include "volumes/claims.h"

#include <errno.h>

struct trying {
    struct explain *explain;
    struct explain_question question;
    struct arena *arena;
    struct http_response *response;
    struct json_writer w;
    struct moment began;
    struct filter_unknown unknown;
    struct engine_options options;
    struct simulation simulation;
    bool judged; /* `simulation` is set */
    struct decision_ages ages;
};

/* The result is valid until the next call, because its ages are stored in `t`. */
static struct decision_about about_of(struct trying *t, const char *verb, int64_t took_us,
                                      const struct applied_constraint *applied, uint32_t count) {
    const struct object_meta *pod = &t->question.pod.meta;
    struct decision_about about = {.verb = verb,
                                   .subject = subject_pod(pod->namespace, pod->name),
                                   .uid = pod->uid,
                                   .at_us = t->began.at_us,
                                   .took_us = took_us,
                                   .result = "answered"};
    ages_of(t->explain->extender->cache, applied, count, &t->ages, &about);
    return about;
}

static void open_decision(struct trying *t, const struct decision_about *about,
                          struct decision *ret) {
    json_begin_object(&t->w);
    decision_begin(ret, t->w.out, about, LIMIT_WHAT_IF_NODES);
}

static void close_decision(struct trying *t, struct decision *d) {
    decision_end(d);
    json_end_object(&t->w);
}

/* ---- admission ---- */

/* Are policies known, so that admission can be decided? */
static bool has_policies(const struct trying *t) {
    return t->explain->webhook != NULL || t->question.has_policies;
}

static void tell_admission(struct trying *t, const struct review *review,
                           const struct pod_decision *a, const struct moment *began) {
    struct decision d;
    struct admission_subject pod;
    struct decision_about about = about_of(t, "admit", moment_took_us(began), NULL, 0);
    admission_subject_of(review, t->arena, &pod);
    about.subject = subject_pod(pod.meta.namespace, pod.meta.name);
    about.uid = pod.meta.uid;
    about.generate_name = pod.generate_name;
    admission_tell(a->result, &a->answer, &about);
    open_decision(t, &about, &d);
    decision_put_admission(&d, review, &a->answer);
    close_decision(t, &d);
}

/* Decides as the webhook would. The caller frees *ret. */
static void decide_admission(struct trying *t, struct review *review, struct pod_decision *ret) {
    const struct explain_question *q = &t->question;
    const struct webhook *webhook = t->explain->webhook;
    const struct pod_knowledge none = {.cache = t->explain->extender->cache};
    const struct pod_inputs inputs = {.instead = q->has_policies ? &q->policies : NULL};
    *review = (struct review){.resource = STR("pods"),
                              .operation = STR("CREATE"),
                              .namespace = q->pod.meta.namespace,
                              .object = q->text};
    pod_decide(&admitted_pods, webhook != NULL ? &webhook->pods.known : &none, review, &inputs,
               t->arena, ret);
}

/* Changes the pod as the webhook would. Returns false if the webhook refuses it. */
static bool admit(struct trying *t) {
    struct explain_question *q = &t->question;
    const struct moment began = moment_now();
    struct review review;
    struct pod_decision a;
    struct err err;
    decide_admission(t, &review, &a);
    tell_admission(t, &review, &a, &began);
    struct pod patched;
    if (a.patch.count > 0 && explain_pod_decode(a.patch.document, t->arena, &patched, &err) == 0) {
        q->pod = patched;
        q->text = a.patch.document;
    }
    bool allowed = a.answer.allowed;
    pod_decision_done(&a);
    return allowed;
}

static bool admitted(struct trying *t) {
    return !str_empty(t->question.pod.meta.uid) || !has_policies(t) || admit(t);
}

/* ---- filter and prioritize ---- */

static void tell_failure(struct trying *t, int judged, const struct err *err) {
    struct decision d;
    struct decision_about about = about_of(t, "filter", 0, NULL, 0);
    about.result = extender_is_unable(judged) ? "no opinion" : "refused";
    about.message = str_of(err->text);
    open_decision(t, &about, &d);
    close_decision(t, &d);
}

static void tell_simulation(struct trying *t, const struct simulation *simulation) {
    struct decision d;
    struct decision_about about =
        about_of(t, "filter", simulation->filter_us, simulation->filter.applied,
                 simulation->filter.applied_count);
    t->unknown = simulation->filter.unknown;
    open_decision(t, &about, &d);
    decision_put_filter(&d, &simulation->filtered, &simulation->filter);
    close_decision(t, &d);
    about = about_of(t, "prioritize", simulation->score_us, simulation->score.applied,
                     simulation->score.applied_count);
    open_decision(t, &about, &d);
    decision_put_scores(&d, &t->question.pod, &simulation->scored, &simulation->score);
    close_decision(t, &d);
}

static void judge(struct trying *t) {
    const struct extender *x = t->explain->extender;
    struct explain_question *q = &t->question;
    struct engine_options *options = &t->options;
    struct err err = {0};
    int r = extender_check_age(x, t->response, &err);
    if (r == 0)
        r = extender_prepare_scoring(x, &q->pod, q->has_policies ? &q->policies : NULL, t->arena,
                                     options, &err);
    options->in_tree = options->reports = true;
    options->added_affinity = q->has_added ? &q->added : NULL;
    options->ignored_resources = q->ignored;
    options->filters =
        FILTERS_ALL; /* all filters, because kube-scheduler has not filtered these nodes before */
    if (r == 0 &&
        (r = pod_claims_read(t->explain->volumes, &q->pod, t->arena, &options->claims)) != 0)
        (void)err_set(&err, r, "no memory or steps left to judge the pod's claims");
    if (r == 0)
        r = engine_simulate(options, x->cache, &q->pod, q->has_nodes ? &q->nodes : NULL, t->arena,
                            &t->simulation, &err);
    t->judged = r == 0;
    if (r == 0)
        tell_simulation(t, &t->simulation);
    else
        tell_failure(t, r, &err);
}

static void put_not_judged(struct trying *t) {
    char bytes[512]; /* long enough for the names of all filters and the text beside them */
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    t->unknown.configuration = t->question.not_read;
    engine_put_not_judged(FILTERS_ALL, &t->unknown, &text);
    json_put_string(&t->w, strbuf_str(&text));
}

/* Returns the policy that gave the pod its constraints; NULL if no policy did. Borrowed from the
 * decision or the question. */
static const struct policy *policy_of(const struct trying *t, const struct pod_decision *decision) {
    const struct policy *items = t->question.policies.items;
    uint32_t count = t->question.policies.count;
    if (!t->question.has_policies)
        items = policies_items(decision->policies, &count);
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(items[i].name, decision->spread.policy))
            return &items[i];
    return NULL;
}

/* Writes why the pod has no node, if the API server has the pod. */
static void put_now(struct trying *t) {
    const struct extender *x = t->explain->extender;
    struct pod_decision admission;
    struct review review;
    if (str_empty(t->question.pod.meta.uid))
        return;
    if (has_policies(t))
        decide_admission(t, &review, &admission);
    const struct pod_now now = {.text = t->question.text,
                                .pod = &t->question.pod,
                                .options = &t->options,
                                .simulation =
                                    t->judged && !t->question.has_nodes ? &t->simulation : NULL,
                                .cache = x->cache,
                                .policy = has_policies(t) ? policy_of(t, &admission) : NULL,
                                .fluid = x->fluid};
    explain_put_now(&now, t->arena, &t->w);
    if (has_policies(t))
        pod_decision_done(&admission);
}

/* ---- mistakes ---- */

/* Writes the findings about the pod of the question. If admission has patched the pod, the filter's
 * result is not used: it is about constraints that the question does not have. If the budget of
 * steps is spent, the findings so far are written. */
static void put_findings(struct trying *t, const struct explain_question *came) {
    CLEANUP(arena_done) struct arena own;
    const bool is_patched = came->text.p != t->question.text.p;
    struct findings f;
    findings_init(&f, &own);
    (void)findings_of_workload(came->workload, &came->pod, came->spec_path, &f);
    (void)findings_of_nodes(t->explain->extender->cache, &came->pod,
                            t->judged && !is_patched ? &t->simulation.filter : NULL,
                            came->spec_path, &f);
    findings_put(&f, t->w.out);
}

void explain_what_if(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    struct explain *e = ctx;
    struct trying t = {.explain = e,
                       .arena = request->arena,
                       .response = response,
                       .w = {.out = &response->text},
                       .began = moment_now()};
    struct err err = {0};
    if (!explain_access_check(e->access, request, response))
        return;
    int r = explain_question_decode(request->body, request->arena, &t.question, &err);
    if (r != 0) {
        http_answer_text(response, r == -ENOMEM ? 503 : 400, "%s", err.text);
        return;
    }
    if (!cache_ready(e->extender->cache)) {
        http_answer_text(response, 503, "%s", EXTENDER_NOT_READY);
        return;
    }
    const struct explain_question came = t.question;
    json_begin_object(&t.w);
    explain_put_replica(&t.w, ages_now_ms(t.explain->extender->cache));
    json_key(&t.w, STR("decisions"));
    json_begin_array(&t.w);
    if (admitted(&t))
        judge(&t);
    json_end_array(&t.w);
    put_now(&t);
    json_key(&t.w, STR("pod"));
    json_put_raw(&t.w, t.question.text);
    json_key(&t.w, STR("notJudged"));
    put_not_judged(&t);
    json_end_object(&t.w);
    put_findings(&t, &came);
    http_answer_json(response, 200);
}
