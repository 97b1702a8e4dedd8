/*
 * Reads the pod that `evenkeel explain` is asked about from its API server, while a person waits. A
 * server that accepts no connection within 1.5 s is given up. A server that has accepted the
 * connection gets more time. Before that, a credential plugin gets ten minutes, because it may wait
 * for a login in a browser. Threads: the one that calls.
 */
#pragma once

#include "explain/subject.h"
#include "kube/auth/access.h"

enum { EXPLAINED_POD_MS = 10000, EXPLAINED_POD_MOST_S = 3600 };

struct explained_pod_wait {
    int64_t timeout_ms; /* time for the answer of a server that has accepted the connection */
    /* Called at most once, if the server has accepted the connection but does not answer soon;
     * `why` is the reason so far, borrowed. */
    void (*on_slow)(void *ctx, const char *why);
    void *ctx;
};

/* Sets *ret to the pod's text, in the arena. Reports on stderr that a plugin takes long. Returns 0,
 * -ENOENT (the server has no such pod), -ETIMEDOUT, or another error. */
int explained_pod_read(const struct kube_access *access, const struct subject *subject,
                       const struct explained_pod_wait *wait, struct arena *arena, struct str *ret,
                       struct err *err) MUST_CHECK;
