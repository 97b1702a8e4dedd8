/*
 * A reflector (kube/watch/reflector.h) on a client (kube/client/client.h): keeps a sink the same as
 * one resource of an API server, until it is freed. The sink is called on the client's thread.
 */
#pragma once

#include "kube/client/client.h"
#include "kube/watch/reflector.h"

struct kube_watch;

/* Begins at once. `client` and `clock` (NULL: the real clock) are borrowed for the watch's life.
 * The role in the options is the client's, whatever is there. 0 or -ENOMEM. */
int kube_watch_start(struct kube_client *client, struct clock *clock,
                     const struct reflector_options *options, struct kube_watch **ret,
                     struct err *err) MUST_CHECK;
/*
 * Stops the watch at once: when this returns, the sink is not being called and will not be. NULL is
 * fine.
 *
 * Any thread, while the client lives; the caller holds no lock that the sink takes. On the client's
 * thread only from a timer or an on_done of somebody else, never from a sink: there libcurl or the
 * reflector is at work.
 */
void kube_watch_free(struct kube_watch *w);

/* As of the last byte that came. Any thread. */
void kube_watch_stats(struct kube_watch *w, struct reflector_stats *ret);
