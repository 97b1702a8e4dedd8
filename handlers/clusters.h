/*
 * POST /clusters/v1/VERB: questions about a fleet, or about one step of its scheduling
 * (lines/lines.h), on the extender's listener. `ctx` of every handler is a struct clusters.
 *
 * Answers to errors: 400 with {"error"} for a question that cannot be read; 503 with {"error"}
 * before the first sync, unless the question brings its own state. A question that can be read but
 * has no answer gets 200, and the "error" of the answer is set.
 *
 * A question about a binding without a state of its own waits for the estimators of Karmada's
 * clusters, if they are asked and the verb's answer depends on them.
 */
#pragma once

#include "clusters/ask.h"
#include "estimators/estimators.h"
#include "http/http.h"

/* Everything is borrowed. */
struct clusters {
    struct clusters_known known;    /* if known.fleet is NULL, no fleet is known */
    struct informer *karmada;       /* fleet/karmada.h; NULL: Karmada's clusters are not known */
    struct karmada_options options; /* for scheduling Karmada's bindings */
    struct estimators *estimators;  /* estimators of Karmada's clusters; NULL: no estimator is
                                       asked */
    int64_t estimate_ms;            /* how long to wait for estimators */
    bool (*is_ready)(void *ctx);    /* has the fleet been read? */
    void *ctx;
};

void clusters_filter(void *ctx, const struct http_request *request, struct http_response *response);
void clusters_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response);
void clusters_select(void *ctx, const struct http_request *request, struct http_response *response);
void clusters_assign(void *ctx, const struct http_request *request, struct http_response *response);
void clusters_estimate(void *ctx, const struct http_request *request,
                       struct http_response *response);
