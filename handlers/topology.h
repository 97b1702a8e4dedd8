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
    const struct cache *cache; /* its age is that of a report's data; NULL: not known */
    uint64_t nonce; /* random number of this process: two processes may give the same number to
                       different reports */
};

void topology_report(void *ctx, const struct http_request *request, struct http_response *response);
