/*
 * The extender's endpoints, one file each: decode the request, ask the engine, encode the answer.
 * `ctx` of every handler is a struct extender.
 *
 * Answers to errors: a malformed request gets a sentence with the problem and its place (filter in
 * its Error field with status 200, which keeps the connection; the other verbs, which have no such
 * field, with status 400). Before the first sync: "not ready" (Error, or 503). If memory for a
 * decision runs out, we have no opinion: every node passes, scores are 0. If memory for reading the
 * request runs out: Error, or 503.
 */
#pragma once

#include "extender/service.h"
#include "http/http.h"

void extender_filter(void *ctx, const struct http_request *request, struct http_response *response);
void extender_prioritize(void *ctx, const struct http_request *request,
                         struct http_response *response);
/* Like prioritize, but leaves the part of the PodTopologySpread plugin out of the scores: for use
 * beside kube-scheduler's own plugin, which knows kube-scheduler's last choices and has a hundred
 * steps. */
void extender_complement(void *ctx, const struct http_request *request,
                         struct http_response *response);
void extender_preempt(void *ctx, const struct http_request *request,
                      struct http_response *response);
void extender_bind(void *ctx, const struct http_request *request, struct http_response *response);
