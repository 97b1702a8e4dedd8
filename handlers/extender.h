/*
 * The extender's endpoints: one file each, decode, ask the engine, encode. `ctx` of every handler
 * is a struct extender.
 *
 * What they answer when something is wrong: a malformed request gets a sentence that names what and
 * where (filter in its Error field with status 200, which keeps the connection; the other verbs,
 * which have no such field, with status 400). Before the first sync: "not ready" (Error, or 503).
 * When we are unwell ourselves (memory), no opinion: every node passes, scores are 0.
 */
#pragma once

#include "cache/cache.h"
#include "engine/engine.h"
#include "http/http.h"

struct extender {
    struct cache *cache;
    const struct engine_options *options;
    bool reserve_single_node; /* a filter answer of exactly one node counts at once */
};

void extender_filter(void *ctx, const struct http_request *request, struct http_response *response);
void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response);
void extender_preempt(void *ctx, const struct http_request *request,
                      struct http_response *response);

#define EXTENDER_NOT_READY "not ready: the cluster state has not been read yet; see /readyz"
