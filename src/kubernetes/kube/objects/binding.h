/*
 * Binds a pod to a node, exactly once however many tries it takes: the pod's UID is a precondition,
 * and after an answer that leaves the result open we read the pod itself.
 *
 * upstream: the Binding subresource, pods/{name}/binding.
 */
#pragma once

#include "kube/client/client.h"

/* Borrowed during kube_bind() only. */
struct kube_binding {
    struct str namespace, name, uid, node;
};

enum kube_bound {
    KUBE_BOUND,     /* the pod is bound to this node */
    KUBE_NOT_BOUND, /* the pod is not bound to this node, and our request will not bind it */
    KUBE_UNKNOWN,   /* time ran out before the result was known */
};

/* Called on the client's thread, exactly once. `why` is a sentence, or "" if the pod is bound;
 * valid during the call. */
typedef void kube_bind_fn(void *ctx, enum kube_bound outcome, const char *why);

/* Tries for at most `timeout_ms`. Returns 0, -EINVAL (a name that is not valid) or -ENOMEM; after
 * an error `done` is not called. */
int kube_bind(struct kube_client *client, struct clock *clock, const struct kube_binding *what,
              int64_t timeout_ms, kube_bind_fn *done, void *ctx, struct err *err) MUST_CHECK;
