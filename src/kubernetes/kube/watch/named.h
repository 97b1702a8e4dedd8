/*
 * A watch of the one object of a resource that has a given name.
 */
#pragma once

#include "kube/watch/watch.h"
#include "kube/watch/watch_metrics.h"

/* Zeroed: it watches nothing. Must not move while it watches. */
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

/* Starts a watch by `client`, which is borrowed, with metrics whose `resource` is "secrets/NAME": a
 * process watches an object once. 0, or -errno with a sentence. */
int named_watch_start(struct named_watch *w, struct kube_client *client,
                      const struct named_watch_options *options, struct err *err) MUST_CHECK;
/* Ends the watch; the sink is not called any more. Not on the client's thread. */
void named_watch_done(struct named_watch *w);
