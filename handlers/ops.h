/*
 * The ops listener's endpoints: is the process alive, may it get traffic, what does it measure,
 * what is it. `ctx` of every handler is a struct ops.
 */
#pragma once

#include "cache/cache.h"
#include "http/http.h"

#include <stdatomic.h>

struct elector;

struct ops {
    struct cache *cache;
    const struct elector *elector; /* NULL: no leader election */
    int64_t stale_after_ms;        /* of the extender */
    _Atomic bool *has_certificate; /* of the webhook; NULL: nothing to wait for */
    _Atomic bool unlisted;         /* the webhook's policies or Fluid's objects are still to come */
    _Atomic bool draining;         /* set at SIGTERM: not ready any more, still alive */
};

void ops_livez(void *ctx, const struct http_request *request, struct http_response *response);
void ops_readyz(void *ctx, const struct http_request *request, struct http_response *response);
void ops_metrics(void *ctx, const struct http_request *request, struct http_response *response);
void ops_version(void *ctx, const struct http_request *request, struct http_response *response);
