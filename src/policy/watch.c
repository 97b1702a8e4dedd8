#include "policy/watch.h"

#include "base/log.h"
#include "kube/watch/feed.h"

#include <errno.h>
#include <stdlib.h>

struct policy_watch {
    struct policy_watch_options options;
    struct feed feed;
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
    const struct feed_options feed = {
        .kind = &watched_kinds[KIND_TOPOLOGY_POLICY],
        .client = options->client,
        .clock = options->clock,
        .sink = {w, sync_begin, sync_end, apply, remove_policy},
        .seed = options->seed,
    };
    int r = feed_start(&w->feed, &feed, err);
    if (r == 0)
        *ret = w;
    else
        free(w);
    return r;
}

void policy_watch_free(struct policy_watch *w) {
    if (w == NULL)
        return;
    feed_stop(&w->feed);
    free(w);
}

bool policy_watch_listed(struct policy_watch *w) {
    return feed_listed(&w->feed);
}
