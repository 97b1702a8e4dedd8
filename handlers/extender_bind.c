/*
 * POST /extender/v1/bind: the scheduler has chosen a node and leaves the binding to us. The pod
 * counts there before the API server is asked, so that a pod filtered meanwhile sees it, and no
 * more when that fails. The answer comes when the API server's has come; no thread waits for it.
 */
#include "handlers/extender.h"

#include "base/log.h"
#include "http/wire_extender.h"
#include "kube/binding.h"

#include <errno.h>
#include <stdlib.h>

/* One call; outlives the request. */
struct bind_call {
    const struct extender *x;
    struct http_deferral *deferral;
    struct arena arena;
    struct object_meta pod;
    struct str node;
};

static void release(const struct bind_call *call) {
    cache_write_begin(call->x->cache);
    cache_release(call->x->cache, &call->pod);
    cache_write_end(call->x->cache);
}

static void on_bound(void *ctx, enum kube_bound outcome, const char *why) {
    struct bind_call *call = ctx;
    struct http_response response = {.text.max = 16 << 10};
    if (outcome ==
        KUBE_NOT_BOUND) /* KUBE_UNKNOWN: it may be bound, so it counts until it is seen */
        release(call);
    if (outcome != KUBE_BOUND)
        LOG_W("pod not bound", LOG_STR("namespace", call->pod.namespace),
              LOG_STR("pod", call->pod.name), LOG_STR("node", call->node), LOG_CSTR("err", why));
    extender_bind_encode(outcome == KUBE_BOUND ? "" : why, &response);
    http_deferral_answer(call->deferral, &response);
    arena_done(&call->arena);
    free(call);
}

static void reserve(const struct extender *x, const struct bind_call *call) {
    if (x->reservations == RESERVATIONS_OFF)
        return;
    cache_write_begin(x->cache);
    int r = cache_reserve_expected(x->cache, &call->pod, call->node);
    cache_write_end(x->cache);
    if (r == -ENOMEM)
        LOG_W("no memory to reserve the node of a pod", LOG_STR("pod", call->pod.name));
}

static struct bind_call *call_new(const struct extender *x,
                                  const struct extender_binding *binding) {
    struct bind_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    call->x = x;
    arena_init(&call->arena, 64 << 10);
    call->pod = (struct object_meta){.name = arena_str(&call->arena, binding->name),
                                     .namespace = arena_str(&call->arena, binding->namespace),
                                     .uid = arena_str(&call->arena, binding->uid)};
    call->node = arena_str(&call->arena, binding->node);
    if (!arena_failed(&call->arena))
        return call;
    arena_done(&call->arena);
    free(call);
    return NULL;
}

/* From here on the answer is on_bound()'s. */
static void begin(const struct extender *x, struct bind_call *call) {
    const struct kube_binding binding = {call->pod.namespace, call->pod.name, call->pod.uid,
                                         call->node};
    struct err err = {0};
    reserve(x, call);
    if (kube_bind(x->client, NULL, &binding, x->bind_timeout_ms, on_bound, call, &err) != 0)
        on_bound(call, KUBE_NOT_BOUND, err.text);
}

void extender_bind(void *ctx, const struct http_request *request, struct http_response *response) {
    const struct extender *x = ctx;
    struct extender_binding binding;
    struct err err = {0};
    if (extender_binding_decode(request->body, request->arena, &binding, &err) != 0) {
        extender_bind_encode(err.text, response);
        return;
    }
    if (x->client == NULL) {
        extender_bind_encode("there is no API server to bind with: start with --kubeconfig or "
                             "--in-cluster, or remove bindVerb from kube-scheduler's configuration",
                             response);
        return;
    }
    struct bind_call *call = call_new(x, &binding);
    if (call != NULL)
        call->deferral = http_defer(request);
    if (call != NULL && call->deferral != NULL) {
        begin(x, call);
        return;
    }
    if (call != NULL)
        arena_done(&call->arena);
    free(call);
    extender_bind_encode("no memory, or stopping: try again", response);
}
