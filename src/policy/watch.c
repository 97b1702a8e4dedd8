#include "policy/watch.h"

#include "base/log.h"
#include "kube/watch/watch.h"
#include "kube/watch/watch_metrics.h"

#include <errno.h>
#include <stdlib.h>

#define RESOURCE "topologypolicies"

struct policy_watch {
    struct policy_watch_options options;
    struct kube_watch *watch;
    struct watch_metrics metrics;
    bool listing;
};

/* ---- the sink ---- */

static void changed(struct policy_watch *w) {
    if (!w->listing)
        w->options.on_change(w->options.ctx);
}

static void sync_begin(void *ctx) {
    struct policy_watch *w = ctx;
    w->listing = true;
    policy_live_begin(w->options.policies);
}

static void sync_end(void *ctx) {
    struct policy_watch *w = ctx;
    struct err err;
    w->listing = false;
    if (policy_live_end(w->options.policies, &err) == 0)
        changed(w);
    else
        LOG_E("policies of the API server are not in force", LOG_ERRTEXT(&err));
}

static int apply(void *ctx, struct str object, struct err *err) {
    struct policy_watch *w = ctx;
    int r = policy_live_apply(w->options.policies, object, err);
    if (r == 0)
        changed(w);
    return r;
}

static int remove_policy(void *ctx, struct str object, struct err *err) {
    struct policy_watch *w = ctx;
    int r = policy_live_remove(w->options.policies, object, err);
    if (r == 0)
        changed(w);
    return r;
}

/* ---- life ---- */

int policy_watch_start(const struct policy_watch_options *options, struct policy_watch **ret,
                       struct err *err) {
    struct policy_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory to watch policies");
    w->options = *options;
    if (w->options.clock == NULL)
        w->options.clock = clock_real();
    const struct reflector_options reflector = {
        .resource = RESOURCE,
        .path = "/apis/evenkeel.io/v1alpha1/topologypolicies",
        .optional = true,
        .sink = {w, sync_begin, sync_end, apply, remove_policy},
        .seed = options->seed,
    };
    int r = kube_watch_start(options->client, w->options.clock, &reflector, &w->watch, err);
    if (r != 0) {
        free(w);
        return r;
    }
    watch_metrics_register(&w->metrics, w->watch, w->options.clock, RESOURCE);
    *ret = w;
    return 0;
}

void policy_watch_stop(struct policy_watch *w) {
    if (w == NULL)
        return;
    watch_metrics_unregister(&w->metrics);
    kube_watch_stop(w->watch);
}

void policy_watch_free(struct policy_watch *w) {
    if (w == NULL)
        return;
    kube_watch_free(w->watch);
    free(w);
}

bool policy_watch_settled(struct policy_watch *w) {
    struct reflector_stats stats;
    kube_watch_stats(w->watch, &stats);
    return stats.synced || stats.errors > 0;
}
