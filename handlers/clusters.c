#include "handlers/clusters.h"

#include "base/json_writer.h"
#include "base/time.h"
#include "clusters/state.h"
#include "extender/service.h"
#include "lines/lines.h"

#include <errno.h>

#define NO_FLEET                                                                                   \
    "no fleet is known here: set fleet.clusters (--fleet-clusters), or send a state with the "     \
    "question"

static void put_error(struct http_response *response, int status, const char *text) {
    struct json_writer w = {&response->text, false};
    strbuf_clear(&response->text);
    response->status = status;
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

/* A question of one step of the scheduling, which knows nothing of a fleet. */
static void ask_step(enum placement_verb verb, const struct http_request *request,
                     struct http_response *response) {
    static const struct str steps[] = {[PLACEMENT_FILTER] = {NULL, 0},
                                       [PLACEMENT_PRIORITIZE] = {NULL, 0},
                                       [PLACEMENT_SELECT] = {"plan", 4}};
    struct line_question q;
    struct err err = {0};
    const int r = line_question_read(request->body, request->arena, &q, &err);
    if (r == 0 && steps[verb].n > 0 && str_eq(str_of(q.step->name), steps[verb])) {
        response->status = line_question_answer(&q, request->arena, &response->text) ? 200 : 400;
        return;
    }
    put_error(response, 400,
              "question.placement: it is missing, and there is no step of this verb");
}

static void ask(enum placement_verb verb, const struct clusters *c,
                const struct http_request *request, struct http_response *response) {
    struct clusters_question q;
    struct err err = {0};
    int r;
    request->arena->steps.max = LIMIT_CLUSTERS_STEPS;
    response->status = 200;
    response->content_type = "application/json";
    if (clusters_question_decode(request->body, request->arena, &q, &err) != 0) {
        put_error(response, err.code == -ENOMEM ? 503 : 400, err.text);
        return;
    }
    if (!q.has_placement) {
        ask_step(verb, request, response);
        return;
    }
    if (q.state.p == NULL && c->known.fleet == NULL) {
        put_error(response, 200, NO_FLEET);
        return;
    }
    if (q.state.p == NULL && !c->is_ready(c->ctx)) {
        put_error(response, 503, EXTENDER_NOT_READY);
        response->retry_after_s = 1;
        return;
    }
    r = q.state.p != NULL ? answer_from_state(verb, &q, request->arena, response, &err)
                          : answer(verb, &c->known, &q, request->arena, response, &err);
    if (r == 0)
        return;
    put_error(response, r == -EINVAL ? 400 : r == -ENOMEM ? 503 : 200, err.text);
}

void clusters_filter(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    ask(PLACEMENT_FILTER, ctx, request, response);
}

void clusters_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    ask(PLACEMENT_PRIORITIZE, ctx, request, response);
}

void clusters_select(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    ask(PLACEMENT_SELECT, ctx, request, response);
}
