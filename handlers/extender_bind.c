/*
 * POST /extender/v1/bind: the scheduler has chosen a node and leaves the binding to us. The pod
 * counts on the node before we ask the API server, so that the filter for another pod sees it
 * meanwhile; if the binding fails, it no longer counts. We answer after the API server has
 * answered; no thread waits for that answer.
 *
 * If bindings keep their order (x->bindings), a failed binding also fails the bindings that wait
 * behind it. It also marks as doubtful the answers about pods that were filtered meanwhile, because
 * these answers may rely on the binding. All of this happens under one lock (bind_queue_abandon()),
 * so no pod is filtered against a half-undone state. A binding with an unknown outcome fails in the
 * same way: its pod may be on the node, so other pods must keep away, but no pod may rely on it.
 */
#include "handlers/extender.h"

#include "base/log.h"
#include "explain/ages.h"
#include "explain/scheduling.h"
#include "extender/errors.h"
#include "extender/wire.h"
#include "kube/objects/binding.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define JUDGED_ON_NOTHING                                                                          \
    "another pod, which counted when this pod was filtered, could not be bound: filter this pod "  \
    "again"
#define WAITED_IN_VAIN "no time left after other bindings of the namespace: try again"
#define BEING_BOUND "the pod is being bound already, or is bound: try again"
#define NOT_FILTERED                                                                               \
    "this Evenkeel has not filtered the pod, or filtered it too long ago: filter it again"
#define NO_MEMORY "no memory to count the pod on its node: try again"
#define NOT_LEFT "filter did not leave this node to the pod: filter the pod again"

/* The binding to make, its caller, and the time of the request. */
struct bind_question {
    struct object_meta pod; /* namespace, name and uid */
    struct str node;
    struct str by;   /* the name in the caller's verified certificate; "": no certificate */
    struct str from; /* the caller's address */
    struct moment began;
};

/* One call of bind. It outlives the request. */
struct bind_call {
    struct bind_ticket ticket;
    const struct extender *x;
    struct http_deferral *deferral;
    struct arena arena; /* owns the question's strings */
    struct bind_question question;
    int64_t deadline_ms;
    bool counted;            /* cache_bind_begin() has succeeded */
    const char *refusal;     /* the reason if reserve() has returned false; static */
    enum kube_bound outcome; /* outcome of a failed call; undo() reads it */
};

static struct bind_call *call_of(struct bind_ticket *ticket) {
    return (struct bind_call *)((char *)ticket - offsetof(struct bind_call, ticket));
}

/* ---- the cache ---- */

/* Moves the assumed pod to the chosen node; other pods count when the watch shows them. */
static void move_assumed(const struct bind_call *call) {
    cache_write_begin(call->x->cache);
    int r = cache_move_assumed(call->x->cache, &call->question.pod, call->question.node);
    cache_write_end(call->x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to note the node of a pod", LOG_STR("pod", call->question.pod.name));
}

/* Returns the reason to refuse a binding, from the result `r` of cache_bind_begin(). Returns NULL
 * if we make the binding. */
static const char *refusal(const struct extender *x, int r) {
    bool strict = x->reservations == RESERVATIONS_CONSERVATIVE;
    switch (r) {
    case -EBUSY:
        return BEING_BOUND;
    case -ESTALE:
        return JUDGED_ON_NOTHING;
    case -EINVAL:
        return NOT_LEFT;
    case -ENOENT:
        return strict ? NOT_FILTERED : NULL;
    case -ENOMEM:
        return strict ? NO_MEMORY : NULL;
    default:
        return NULL; /* -ENXIO: the node has no domain yet in which the pod would count */
    }
}

static bool reserve(struct bind_ticket *ticket) {
    struct bind_call *call = call_of(ticket);
    if (call->x->assume)
        move_assumed(call);
    if (call->x->reservations == RESERVATIONS_OFF)
        return true;
    cache_write_begin(call->x->cache);
    int r = cache_bind_begin(call->x->cache, &call->question.pod, call->question.node);
    call->counted = r == 0;
    call->refusal = refusal(call->x, r);
    if (call->refusal != NULL) /* a refused pod does not land where the filter let it */
        cache_release(call->x->cache, &call->question.pod);
    cache_write_end(call->x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to reserve the node of a pod", LOG_STR("pod", call->question.pod.name));
    return call->refusal == NULL;
}

/* Updates the cache with the outcome of the binding. The caller holds the write lock. */
static void settle(const struct bind_call *call, enum kube_bound outcome) {
    bool strict = call->x->reservations == RESERVATIONS_CONSERVATIVE;
    if (!call->counted && outcome == KUBE_NOT_BOUND)
        cache_unassume(call->x->cache, &call->question.pod);
    if (!call->counted)
        return;
    if (outcome == KUBE_NOT_BOUND)
        cache_bind_end(call->x->cache, &call->question.pod, CACHE_NOT_BOUND);
    else if (outcome == KUBE_UNKNOWN && strict)
        cache_bind_end(call->x->cache, &call->question.pod, CACHE_MAYBE_BOUND);
    else /* also an unknown outcome: it counts as a success until the watch shows the pod */
        cache_bind_end(call->x->cache, &call->question.pod, CACHE_BOUND);
}

/* Undoes a failed binding, and the bindings behind it. */
static void undo(struct bind_ticket *list) {
    const struct bind_call *first = call_of(list);
    cache_write_begin(first->x->cache);
    settle(first, first->outcome);
    for (struct bind_ticket *t = list->next; t != NULL; t = t->next)
        settle(call_of(t), KUBE_NOT_BOUND);
    cache_doubt_expected(first->x->cache, list->namespace);
    cache_write_end(first->x->cache);
}

/* ---- outcomes ---- */

static void record(const struct extender *x, const struct bind_question *q, enum kube_bound outcome,
                   const char *why) {
    static const char *const results[] = {
        [KUBE_BOUND] = "bound", [KUBE_NOT_BOUND] = "not bound", [KUBE_UNKNOWN] = "not known"};
    struct recording rec;
    struct decision_ages ages;
    struct decision_about about = {.verb = "bind",
                                   .subject = subject_pod(q->pod.namespace, q->pod.name),
                                   .uid = q->pod.uid,
                                   .at_us = q->began.at_us,
                                   .took_us = moment_took_us(&q->began),
                                   .result = results[outcome],
                                   .message = outcome == KUBE_BOUND ? STR("") : str_of(why)};
    ages_of(x->cache, NULL, 0, &ages, &about);
    if (!recording_begin(&rec, x->decisions, &about))
        return;
    decision_put_binding(&rec.decision, q->node, q->by, q->from);
    recording_end(&rec);
}

static void log_outcome(const struct bind_question *q, enum kube_bound outcome, const char *why) {
    if (outcome == KUBE_BOUND)
        LOG_I("pod bound", LOG_STR("namespace", q->pod.namespace), LOG_STR("pod", q->pod.name),
              LOG_STR("node", q->node), LOG_STR("by", q->by), LOG_STR("from", q->from));
    else
        LOG_W("pod not bound", LOG_STR("namespace", q->pod.namespace), LOG_STR("pod", q->pod.name),
              LOG_STR("node", q->node), LOG_STR("by", q->by), LOG_STR("from", q->from),
              LOG_CSTR("err", why));
}

static void end(struct bind_call *call, enum kube_bound outcome, const char *why) {
    struct http_response response = {.text.max = 16 << 10};
    log_outcome(&call->question, outcome, why);
    if (outcome != KUBE_BOUND)
        extender_count_error("bind",
                             outcome == KUBE_UNKNOWN ? EXTENDER_UNKNOWN : EXTENDER_NOT_BOUND);
    record(call->x, &call->question, outcome, why);
    extender_bind_encode(outcome == KUBE_BOUND ? "" : why, &response);
    http_deferral_answer(call->deferral, &response);
    arena_done(&call->arena);
    free(call);
}

static void fail(struct bind_call *call, enum kube_bound outcome, const char *why) {
    call->outcome = outcome;
    bind_queue_abandon(call->x->bindings, &call->ticket, undo);
    for (struct bind_ticket *next, *t = call->ticket.next; t != NULL; t = next) {
        next = t->next;
        end(call_of(t), KUBE_NOT_BOUND, JUDGED_ON_NOTHING);
    }
    end(call, outcome, why);
}

static void post(struct bind_call *call);

static void on_bound(void *ctx, enum kube_bound outcome, const char *why) {
    struct bind_call *call = ctx;
    const struct extender *x = call->x;
    struct bind_ticket *next = NULL;
    if (x->bindings != NULL && outcome != KUBE_BOUND) {
        fail(call, outcome, why);
        return;
    }
    cache_write_begin(x->cache);
    settle(call, outcome);
    cache_write_end(x->cache);
    if (x->bindings != NULL)
        next = bind_queue_next(x->bindings, &call->ticket);
    end(call, outcome, why);
    if (next != NULL)
        post(call_of(next));
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

/* Begins the binding. From now on end() answers the request, also after a failure. */
static void begin(struct bind_call *call) {
    enum bind_turn turn = BIND_FIRST;
    call->deadline_ms = clock_real()->now_ms(clock_real()) + call->x->bind_timeout_ms;
    if (call->x->bindings != NULL)
        turn = bind_queue_join(call->x->bindings, &call->ticket, reserve);
    else if (!reserve(&call->ticket))
        turn = BIND_REFUSED;
    if (turn == BIND_FIRST)
        post(call);
    else if (turn == BIND_REFUSED)
        end(call, KUBE_NOT_BOUND, call->refusal);
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
                               .by = arena_str(&call->arena, q->by),
                               .from = arena_str(&call->arena, q->from),
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
    log_outcome(q, KUBE_NOT_BOUND, why);
    extender_count_error("bind", reason);
    extender_bind_encode(why, response);
}

/* We bind with our own credentials, so the caller must be on this machine or must have a client
 * certificate. (If a client CA is configured, the listener refuses every caller without a
 * certificate.) */
static bool may_bind(const struct http_request *request) {
    return request->is_local || !str_empty(request->client);
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
        .by = request->client,
        .from = request->peer,
        .began = moment_now()};
    if (!may_bind(request)) {
        refuse(x, &question, EXTENDER_UNVERIFIED,
               "only callers with a client certificate, and programs on this machine, may bind: "
               "set extender.clientCAFile, and certFile and keyFile in kube-scheduler's tlsConfig",
               response);
        return;
    }
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
