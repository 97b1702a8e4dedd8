/*
 * A watch of one object, which has a given name.
 */
#pragma once

#include "kube/watch/watch.h"
#include "kube/watch/watch_metrics.h"

/* All zero: it watches nothing. The struct must not move while it watches. */
struct named_watch {
    char path[192], query[320];
    struct kube_watch *watch;
    struct watch_metrics metrics;
};

/* Borrowed for the call. */
struct named_watch_options {
    const char *resource; /* "secrets", for metrics and logs; static */
    const char *path;     /* path of the resource: "/api/v1/namespaces/evenkeel/secrets" */
    const char *name;     /* at most 253 bytes, as Kubernetes names objects */
    struct reflector_sink sink;
};

/* Starts a watch on `client`, which is borrowed. The label `resource` of its metrics is
 * "secrets/NAME", so a process may watch an object only once. Returns 0, or -errno with a sentence.
 */
int named_watch_start(struct named_watch *w, struct kube_client *client,
                      const struct named_watch_options *options, struct err *err) MUST_CHECK;
/* Ends the watch; the sink is not called any more. Not on the client's thread. */
void named_watch_done(struct named_watch *w);
