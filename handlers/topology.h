/*
 * Reports how even workloads are, on the ops listener, for callers who may read explanations
 * (explain/access.h). The `ctx` of the handler is a struct topology_door.
 */
#pragma once

#include "cache/cache.h"
#include "evenness/latest.h"
#include "explain/access.h"
#include "http/http.h"

/* Everything is borrowed. */
struct topology_door {
    struct evenness_latest *latest; /* NULL: no workloads are known */
    struct explain_access *access;
    const struct cache *cache; /* its age is that of the data; NULL: not known */
    uint64_t nonce; /* number of this process, because two processes may give a report the same
                       number */
};

void topology_report(void *ctx, const struct http_request *request, struct http_response *response);
