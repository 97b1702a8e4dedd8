/*
 * Fills the cache from an API server: one list and watch (kube/watch/watch.h) per kind that
 * spreading needs.
 *
 * A field selector leaves out finished pods, as in kube-scheduler, so a pod that the server reports
 * as deleted may only have finished. Workloads (Services, ReplicaSets, ...) are watched only if
 * default constraints need their selectors.
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
    struct clock *clock;        /* the same as the cache's; NULL: the real clock */
    bool workloads;
    uint64_t seed; /* seed of the jitter */
    void (*on_ready)(
        void *ctx); /* called when the cache is ready, on the client's thread; may be NULL */
    void *ctx;
};

/* Begins at once; the cache becomes ready later. Registers metrics per resource. Returns 0 or
 * -ENOMEM. */
int kube_source_new(const struct kube_source_options *options, struct kube_source **ret,
                    struct err *err) MUST_CHECK;
/* After the return, the source does not write to the cache. Call it on any thread but the client's.
 * Accepts NULL. */
void kube_source_free(struct kube_source *s);

/* Updates the ages of the cache's kinds. Call about once a second. */
void kube_source_poll(struct kube_source *s);
