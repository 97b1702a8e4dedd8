#include "handlers/clusters.h"

#include "base/json_writer.h"
#include "base/time.h"
#include "clusters/state.h"
#include "extender/service.h"
#include "handlers/clusters_estimators.h"
#include "lines/lines.h"

#include <errno.h>

#define NO_KARMADA                                                                                 \
    "no cluster of Karmada is known here: set fleet.clusters (--fleet-clusters) and give state "   \
    "files with Karmada's clusters, or send a state with the question"
#define NO_FLEET                                                                                   \
    "no fleet is known here: set fleet.clusters (--fleet-clusters), or send a state with the "     \
    "question"

static void put_error(struct http_response *response, int status, const char *text) {
    struct json_writer w = {&response->text, false};
    strbuf_clear(&response->text);
    response->status = status;
    response->retry_after_s = status == 503 ? 1 : 0;
    response->content_type = "application/json";
    json_begin_object(&w);
    json_put_member(&w, STR("error"), str_of(text));
    json_end_object(&w);
}

static int answer(enum placement_verb verb, const struct clusters_known *known,
                  const struct clusters_question *q, struct arena *arena,
                  struct http_response *response, struct err *err) {
    return clusters_ask(known, q, verb, kube_wall_us() / 1000, arena, &response->text, err);
}

static int answer_from_state(enum placement_verb verb, const struct clusters_question *q,
                             struct arena *arena, struct http_response *response, struct err *err) {
    struct clusters_state state;
    int r = clusters_state_read(q->state, &state, err);
    const struct clusters_known known = {state.fleet, state.policies};
    if (r == 0)
        r = answer(verb, &known, q, arena, response, err);
    clusters_state_done(&state);
    return r;
}

/* ---- questions about one step, without a fleet ---- */

enum verb { FILTER, PRIORITIZE, SELECT, ASSIGN, ESTIMATE, VERBS };

/* The steps of each verb; the last entry is NULL. */
enum { MOST_STEPS = 6 };
static const char *const steps_of[VERBS][MOST_STEPS] = {
    [FILTER] = {NULL},
    [PRIORITIZE] = {NULL},
    [SELECT] = {"plan", "groups", "select", NULL},
    [ASSIGN] = {"assign", "schedule", "bind", NULL},
    [ESTIMATE] = {"estimate", "available", "unschedulable", "quantity", "wire", NULL},
};

static bool takes_step(enum verb verb, const char *name) {
    for (const char *const *step = steps_of[verb]; *step != NULL; step++)
        if (strcmp(*step, name) == 0)
            return true;
    return false;
}

static bool is_step(struct str body, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, body, arena, "question");
    return json_peek(&r) == JSON_OBJECT && json_peek_member(&r, STR("step")).p != NULL;
}

static void put_wrong_verb(enum verb verb, const char *step, struct http_response *response) {
    struct strbuf text = {0};
    strbuf_appendf(&text, "question.step: '%s' is no step of this verb; there %s", step,
                   steps_of[verb][0] != NULL ? "are:" : "are no steps");
    for (const char *const *name = steps_of[verb]; *name != NULL; name++)
        strbuf_appendf(&text, "%s %s", name > steps_of[verb] ? "," : "", *name);
    strbuf_append(&text, "", 1);
    put_error(response, 400, strbuf_failed(&text) ? "question.step" : text.p);
    strbuf_done(&text);
}

static void ask_step(enum verb verb, const struct http_request *request,
                     struct http_response *response) {
    struct line_question q;
    struct err err = {0};
    if (line_question_read(request->body, request->arena, &q, &err) != 0) {
        response->status = 400;
        line_question_refuse(&q, &err, &response->text);
    } else if (takes_step(verb, q.step->name)) {
        response->status = line_question_answer(&q, request->arena, &response->text) ? 200 : 400;
    } else {
        put_wrong_verb(verb, q.step->name, response);
    }
}

/* ---- questions about a fleet ---- */

/* The verbs about a Placement; other verbs have no entry. */
static const enum placement_verb placement_verbs[VERBS] = {
    [FILTER] = PLACEMENT_FILTER, [PRIORITIZE] = PLACEMENT_PRIORITIZE, [SELECT] = PLACEMENT_SELECT};

/* Returns true if the question brings its own state, or if our state is known and has been read.
 * Otherwise returns false, and the response names the problem. */
static bool may_ask(const struct clusters *c, const struct clusters_question *q, const void *known,
                    const char *nothing, struct http_response *response) {
    if (q->state.p != NULL)
        return true;
    if (known == NULL) {
        put_error(response, 200, nothing);
        return false;
    }
    if (c->is_ready(c->ctx))
        return true;
    put_error(response, 503, EXTENDER_NOT_READY);
    return false;
}

static void ask_placement(enum placement_verb verb, const struct clusters *c,
                          const struct clusters_question *q, const struct http_request *request,
                          struct http_response *response) {
    struct err err = {0};
    int r;
    if (!may_ask(c, q, c->known.fleet, NO_FLEET, response))
        return;
    r = q->state.p != NULL ? answer_from_state(verb, q, request->arena, response, &err)
                           : answer(verb, &c->known, q, request->arena, response, &err);
    if (r == 0)
        return;
    put_error(response, r == -EINVAL ? 400 : r == -ENOMEM ? 503 : 200, err.text);
}

static void answer_binding(const struct clusters *c, const struct clusters_question *q,
                           enum binding_verb verb, const struct accurate_replicas *estimated,
                           const struct http_request *request, struct http_response *response) {
    const struct binding_asked asked = {.question = q,
                                        .verb = verb,
                                        .now_ms = q->has_now ? q->now_ms : kube_wall_us() / 1000,
                                        .options = &c->options,
                                        .estimated = estimated};
    struct clusters_state state = {.fleet = NULL};
    struct err err = {0};
    int r = 0;
    response->status = 200;
    response->content_type = "application/json";
    if (q->state.p != NULL)
        r = clusters_state_read(q->state, &state, &err);
    if (r == 0)
        r = clusters_ask_binding(q->state.p != NULL ? state.karmada : c->karmada, &asked,
                                 request->arena, &response->text, &err);
    if (q->state.p != NULL)
        clusters_state_done(&state);
    if (r != 0)
        put_error(response, r == -EINVAL ? 400 : r == -ENOMEM ? 503 : 200, err.text);
}

static void ask_binding(enum verb verb, const struct clusters *c, const struct clusters_question *q,
                        const struct http_request *request, struct http_response *response) {
    static const enum binding_verb verbs[VERBS] = {[FILTER] = BINDING_FILTER,
                                                   [PRIORITIZE] = BINDING_PRIORITIZE,
                                                   [SELECT] = BINDING_SELECT,
                                                   [ASSIGN] = BINDING_ASSIGN,
                                                   [ESTIMATE] = BINDING_ESTIMATE};
    if (!may_ask(c, q, c->karmada, NO_KARMADA, response))
        return;
    if (q->state.p != NULL ||
        !clusters_ask_estimators(c, q, verbs[verb], request, response, answer_binding))
        answer_binding(c, q, verbs[verb], NULL, request, response);
}

static void ask(enum verb verb, const struct clusters *c, const struct http_request *request,
                struct http_response *response) {
    struct clusters_question *q = arena_alloc(request->arena, sizeof *q); /* `q` may have to wait */
    struct err err = {0};
    request->arena->steps.max = LIMIT_CLUSTERS_STEPS;
    response->status = 200;
    response->content_type = "application/json";
    if (q == NULL)
        put_error(response, 503, "no memory for the question");
    else if (is_step(request->body, request->arena))
        ask_step(verb, request, response);
    else if (clusters_question_decode(request->body, request->arena, q, &err) != 0)
        put_error(response, err.code == -ENOMEM ? 503 : 400, err.text);
    else if (q->has_binding && q->has_placement)
        put_error(response, 400, "question: it has a placement and a binding; leave out one");
    else if (q->has_binding)
        ask_binding(verb, c, q, request, response);
    else if (!q->has_placement)
        put_error(response, 400,
                  "question.placement: it is missing; send a placement, a binding or a step");
    else if (verb > SELECT)
        put_error(response, 400,
                  "question.placement: this verb answers no question about a Placement");
    else
        ask_placement(placement_verbs[verb], c, q, request, response);
}

void clusters_filter(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    ask(FILTER, ctx, request, response);
}

void clusters_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    ask(PRIORITIZE, ctx, request, response);
}

void clusters_select(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    ask(SELECT, ctx, request, response);
}

void clusters_assign(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    ask(ASSIGN, ctx, request, response);
}

void clusters_estimate(void *ctx, const struct http_request *request,
                       struct http_response *response) {
    ask(ESTIMATE, ctx, request, response);
}
