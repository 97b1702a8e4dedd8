/*
 * The extender's endpoints, one file each: decode the request, ask the engine, encode the answer.
 * `ctx` of every handler is a struct extender.
 *
 * Answers to errors: a malformed request gets a sentence with the problem and its place (filter in
 * its Error field with status 200, which keeps the connection; the other verbs, which have no such
 * field, with status 400). Before the first sync: "not ready" (Error, or 503). Without memory we
 * have no opinion: every node passes, scores are 0. Without memory to read the request: Error, or
 * 503.
 */
#pragma once

#include "extender/service.h"
#include "http/http.h"

void extender_filter(void *ctx, const struct http_request *request, struct http_response *response);
void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response);
/* As prioritize, for use beside kube-scheduler's own PodTopologySpread plugin: leaves that plugin's
 * part out of the scores. The plugin knows kube-scheduler's last choices and has a hundred
 * steps. */
void extender_complement(void *ctx, const struct http_request *request,
                         struct http_response *response);
void extender_preempt(void *ctx, const struct http_request *request,
                      struct http_response *response);
void extender_bind(void *ctx, const struct http_request *request, struct http_response *response);
