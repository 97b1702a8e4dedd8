/*
 * POST /extender/v1/bind: the scheduler has chosen a node and leaves the binding to us. The pod
 * counts there before the API server is asked, so that a pod filtered meanwhile sees it, and no
 * more when that fails. The answer comes when the API server's has come; no thread waits for it.
 *
 * Where bindings keep their order (x->bindings), one that fails takes those behind it along, and
 * casts doubt on the pods in flight: they may have been judged on it.
 */
#include "handlers/extender.h"

#include "base/log.h"
#include "handlers/extender_errors.h"
#include "http/wire_extender.h"
#include "kube/binding.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define JUDGED_ON_NOTHING                                                                          \
    "another pod, counted when this one was filtered, could not be bound: filter it again"
#define WAITED_IN_VAIN "no time left after other bindings of the namespace: try again"

/* What is asked for, and when. */
struct bind_question {
    struct object_meta pod; /* namespace, name and uid */
    struct str node;
    struct moment began;
};

/* One call; outlives the request. */
struct bind_call {
    struct bind_ticket ticket;
    const struct extender *x;
    struct http_deferral *deferral;
    struct arena arena; /* of the question's strings */
    struct bind_question question;
    int64_t deadline_ms;
    bool doubted; /* see cache_doubt_expected() */
};

static struct bind_call *call_of(struct bind_ticket *ticket) {
    return (struct bind_call *)((char *)ticket - offsetof(struct bind_call, ticket));
}

/* ---- the cache ---- */

/* Scores have only guessed the node; one that was not assumed counts when it is seen. */
static void move_assumed(const struct bind_call *call) {
    cache_write_begin(call->x->cache);
    int r = cache_move_assumed(call->x->cache, &call->question.pod, call->question.node);
    cache_write_end(call->x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to note the node of a pod", LOG_STR("pod", call->question.pod.name));
}

static void reserve(struct bind_ticket *ticket) {
    struct bind_call *call = call_of(ticket);
    if (call->x->assume)
        move_assumed(call);
    if (call->x->reservations == RESERVATIONS_OFF)
        return;
    cache_write_begin(call->x->cache);
    int r = cache_reserve_expected(call->x->cache, &call->question.pod, call->question.node);
    cache_write_end(call->x->cache);
    call->doubted = r == -ESTALE;
    if (r == -ENOMEM)
        LOG_W("no memory to reserve the node of a pod", LOG_STR("pod", call->question.pod.name));
}

static void release(const struct bind_call *call) {
    cache_write_begin(call->x->cache);
    cache_release(call->x->cache, &call->question.pod);
    cache_write_end(call->x->cache);
}

/* ---- outcomes ---- */

static void record(const struct extender *x, const struct bind_question *q, enum kube_bound outcome,
                   const char *why) {
    static const char *const results[] = {
        [KUBE_BOUND] = "bound", [KUBE_NOT_BOUND] = "not bound", [KUBE_UNKNOWN] = "not known"};
    struct recording rec;
    const struct decision_about about = {.verb = "bind",
                                         .pod = &q->pod,
                                         .at_us = q->began.at_us,
                                         .took_us = moment_took_us(&q->began),
                                         .data_age_ms = cache_age_ms(x->cache),
                                         .result = results[outcome],
                                         .message = outcome == KUBE_BOUND ? STR("") : str_of(why)};
    if (!recording_begin(&rec, x->decisions, &about))
        return;
    decision_put_node(&rec.decision, q->node);
    recording_end(&rec);
}

static void end(struct bind_call *call, enum kube_bound outcome, const char *why) {
    struct http_response response = {.text.max = 16 << 10};
    if (outcome ==
        KUBE_NOT_BOUND) /* KUBE_UNKNOWN: it may be bound, so it counts until it is seen */
        release(call);
    if (outcome != KUBE_BOUND)
        LOG_W("pod not bound", LOG_STR("namespace", call->question.pod.namespace),
              LOG_STR("pod", call->question.pod.name), LOG_STR("node", call->question.node),
              LOG_CSTR("err", why));
    if (outcome != KUBE_BOUND)
        extender_count_error("bind",
                             outcome == KUBE_UNKNOWN ? EXTENDER_UNKNOWN : EXTENDER_NOT_BOUND);
    record(call->x, &call->question, outcome, why);
    extender_bind_encode(outcome == KUBE_BOUND ? "" : why, &response);
    http_deferral_answer(call->deferral, &response);
    arena_done(&call->arena);
    free(call);
}

/* Those behind it, and those that will be. */
static void fail_followers(struct bind_call *call) {
    const struct extender *x = call->x;
    cache_write_begin(x->cache);
    cache_doubt_expected(x->cache, call->question.pod.namespace);
    cache_write_end(x->cache);
    for (struct bind_ticket *next, *t = bind_queue_abandon(x->bindings, &call->ticket); t != NULL;
         t = next) {
        next = t->next;
        end(call_of(t), KUBE_NOT_BOUND, JUDGED_ON_NOTHING);
    }
}

static void start(struct bind_call *call);

static void on_bound(void *ctx, enum kube_bound outcome, const char *why) {
    struct bind_call *call = ctx;
    struct bind_ticket *next = NULL;
    if (call->x->bindings != NULL && outcome == KUBE_BOUND)
        next = bind_queue_next(call->x->bindings, &call->ticket);
    else if (call->x->bindings != NULL)
        fail_followers(call);
    end(call, outcome, why);
    if (next != NULL)
        start(call_of(next));
}

/* ---- beginning ---- */

static void post(struct bind_call *call) {
    const struct kube_binding binding = {call->question.pod.namespace, call->question.pod.name,
                                         call->question.pod.uid, call->question.node};
    struct err err = {0};
    int64_t left_ms = call->deadline_ms - clock_real()->now_ms(clock_real());
    if (left_ms <= 0)
        on_bound(call, KUBE_NOT_BOUND, WAITED_IN_VAIN);
    else if (kube_bind(call->x->client, NULL, &binding, left_ms, on_bound, call, &err) != 0)
        on_bound(call, KUBE_NOT_BOUND, err.text);
}

/* It is the call's turn. One in doubt was never reserved, so nobody was judged on it. */
static void start(struct bind_call *call) {
    while (call != NULL && call->doubted) {
        struct bind_ticket *next = bind_queue_next(call->x->bindings, &call->ticket);
        end(call, KUBE_NOT_BOUND, JUDGED_ON_NOTHING);
        call = next == NULL ? NULL : call_of(next);
    }
    if (call != NULL)
        post(call);
}

/* From here on the answer is end()'s. */
static void begin(struct bind_call *call) {
    call->deadline_ms = clock_real()->now_ms(clock_real()) + call->x->bind_timeout_ms;
    if (call->x->bindings == NULL) {
        reserve(&call->ticket);
        post(call);
    } else if (bind_queue_join(call->x->bindings, &call->ticket, reserve)) {
        start(call);
    }
}

static struct bind_call *call_new(const struct extender *x, const struct bind_question *q) {
    struct bind_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    call->x = x;
    arena_init(&call->arena, 64 << 10);
    call->question =
        (struct bind_question){.pod = {.name = arena_str(&call->arena, q->pod.name),
                                       .namespace = arena_str(&call->arena, q->pod.namespace),
                                       .uid = arena_str(&call->arena, q->pod.uid)},
                               .node = arena_str(&call->arena, q->node),
                               .began = q->began};
    call->ticket.namespace = call->question.pod.namespace;
    if (!arena_failed(&call->arena))
        return call;
    arena_done(&call->arena);
    free(call);
    return NULL;
}

static void refuse(const struct extender *x, const struct bind_question *q,
                   enum extender_error reason, const char *why, struct http_response *response) {
    record(x, q, KUBE_NOT_BOUND, why);
    extender_note_error("bind", reason, &q->pod, why);
    extender_bind_encode(why, response);
}

void extender_bind(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_binding binding;
    struct err err = {0};
    if (extender_binding_decode(request->body, request->arena, &binding, &err) != 0) {
        extender_note_error("bind", EXTENDER_MALFORMED, NULL, err.text);
        extender_bind_encode(err.text, response);
        return;
    }
    const struct bind_question question = {
        .pod = {.name = binding.name, .namespace = binding.namespace, .uid = binding.uid},
        .node = binding.node,
        .began = moment_now()};
    if (x->client == NULL) {
        refuse(x, &question, EXTENDER_NO_API_SERVER,
               "there is no API server to bind with: start with --kubeconfig or --in-cluster, or "
               "remove bindVerb from kube-scheduler's configuration",
               response);
        return;
    }
    struct bind_call *call = call_new(x, &question);
    if (call != NULL)
        call->deferral = http_defer(request);
    if (call != NULL && call->deferral != NULL) {
        begin(call);
        return;
    }
    if (call != NULL)
        arena_done(&call->arena);
    free(call);
    refuse(x, &question, EXTENDER_NO_MEMORY, "no memory, or stopping: try again", response);
}
