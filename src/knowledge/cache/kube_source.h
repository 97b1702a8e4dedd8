/*
 * Feeds the cache from an API server: one list and watch (kube/watch/watch.h) per kind that
 * spreading needs.
 *
 * Pods come without the finished ones (a field selector, as kube-scheduler does), so what the
 * server calls deleted may only have finished. Workloads (Services, ReplicaSets, ...) are watched
 * only where default constraints need their selectors.
 *
 * Threads: the client's thread writes into the cache; kube_source_poll() belongs to the main loop.
 */
#pragma once

#include "cache/cache.h"
#include "kube/client/client.h"

struct kube_source;

struct kube_source_options {
    struct cache *cache;
    struct kube_client *client; /* borrowed until kube_source_free() */
    struct clock *clock;        /* NULL: the real one; the cache's */
    bool workloads;
    uint64_t seed; /* of jitter */
    void (*on_ready)(
        void *ctx); /* the cache has become ready; on the client's thread. May be NULL */
    void *ctx;
};

/* Begins at once; the cache becomes ready by itself. Registers metrics per resource. 0 or -ENOMEM.
 */
int kube_source_new(const struct kube_source_options *options, struct kube_source **ret,
                    struct err *err) MUST_CHECK;
/* When this returns, the cache is not written to any more. Any thread but the client's. NULL is
 * fine. */
void kube_source_free(struct kube_source *s);

/* Tells the cache how old what it has is. About once a second. */
void kube_source_poll(struct kube_source *s);
