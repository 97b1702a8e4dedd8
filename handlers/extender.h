/*
 * The extender's endpoints: one file each, decode, ask the engine, encode. `ctx` of every handler
 * is a struct extender.
 *
 * What they answer when something is wrong: a malformed request gets a sentence that names what and
 * where (filter in its Error field with status 200, which keeps the connection; the other verbs,
 * which have no such field, with status 400). Before the first sync: "not ready" (Error, or 503).
 * When we are unwell ourselves (memory), no opinion: every node passes, scores are 0. When memory
 * is too short to read the request: Error, or 503.
 */
#pragma once

#include "extender/service.h"
#include "http/http.h"

void extender_filter(void *ctx, const struct http_request *request, struct http_response *response);
void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response);
/* Prioritize beside kube-scheduler's own PodTopologySpread plugin: scores all but what that plugin
 * scores, which knows kube-scheduler's last choices and has a hundred steps. */
void extender_complement(void *ctx, const struct http_request *request,
                         struct http_response *response);
void extender_preempt(void *ctx, const struct http_request *request,
                      struct http_response *response);
void extender_bind(void *ctx, const struct http_request *request, struct http_response *response);
