/*
 * The endpoints that API servers call while objects are admitted: one file each. `ctx` of every
 * handler is a struct webhook.
 *
 * What they answer when something is wrong: a request that is no review gets status 400 and a
 * sentence that names what and where. Everything else is allowed, with a warning to the user: no
 * object is held up because we are unwell.
 */
#pragma once

#include "cache/cache.h"
#include "data/source.h"
#include "http/http.h"
#include "kube/client/client.h"
#include "policy/policies.h"

struct ring;

struct webhook {
    struct cache *cache;
    struct policy_source *policies;
    struct fluid_source *fluid; /* NULL: nothing is known of data */
    bool annotate;              /* pods say by what they were changed */
    struct ring *decisions;     /* NULL: they are not recorded */
    struct kube_client *client; /* asked for what watches have not brought yet; NULL: nobody is */
    int64_t read_ms;            /* how long that may take in all; 0: it is not asked */
};

void webhook_pods(void *ctx, const struct http_request *request, struct http_response *response);

/* Registers, or takes out, the metrics of the endpoints and of what they look up. */
void webhook_metrics_start(void);
void webhook_metrics_stop(void);
