/*
 * A reflector (kube/watch/reflector.h) on a client (kube/client/client.h): keeps a sink the same as
 * one resource of an API server, until it is freed. The sink is called on the client's thread.
 */
#pragma once

#include "kube/client/client.h"
#include "kube/watch/reflector.h"

struct kube_watch;

/* Begins at once. `client` and `clock` (NULL: the real clock) are borrowed for the watch's life.
 * The client's role replaces the role in the options. 0 or -ENOMEM. */
int kube_watch_start(struct kube_client *client, struct clock *clock,
                     const struct reflector_options *options, struct kube_watch **ret,
                     struct err *err) MUST_CHECK;
/*
 * Stops the watch at once: when this returns, the sink is not being called and will not be. NULL is
 * fine.
 *
 * Call it on any thread, while the client lives; the caller must hold no lock that the sink takes.
 * On the client's thread, call it only in a timer or an on_done that is not this watch's, and never
 * in a sink, because libcurl or the reflector is at work there.
 */
void kube_watch_free(struct kube_watch *w);

/* Returns the figures as of the last byte that came. Any thread. */
void kube_watch_stats(struct kube_watch *w, struct reflector_stats *ret);
