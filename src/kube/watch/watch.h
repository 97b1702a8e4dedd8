/*
 * A reflector (kube/watch/reflector.h) on a client (kube/client/client.h): keeps a sink the same as
 * one resource of an API server, until it is stopped. The sink is called on the client's thread.
 */
#pragma once

#include "kube/client/client.h"
#include "kube/watch/reflector.h"

struct kube_watch;

/* Begins at once. `client` and `clock` (NULL: the real one) are borrowed for the watch's life. */
int kube_watch_start(struct kube_client *client, struct clock *clock,
                     const struct reflector_options *options, struct kube_watch **ret,
                     struct err *err) MUST_CHECK;
/* Asks nothing any more. Any thread; then free the client, then the watch. */
void kube_watch_stop(struct kube_watch *w);
void kube_watch_free(struct kube_watch *w);

/* As of the last byte that came. Any thread. */
void kube_watch_stats(struct kube_watch *w, struct reflector_stats *ret);
