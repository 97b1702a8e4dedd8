/*
 * The endpoints that answer "why there?", on the ops listener: the decisions about one object, the
 * recent ones, and what would be decided. `ctx` of every handler is a struct explain.
 *
 * They answer only callers who may read (explain/access.h). Nothing is recorded or changed by
 * asking.
 */
#pragma once

#include "explain/access.h"
#include "extender/service.h"
#include "handlers/webhook.h"
#include "http/http.h"

/* Everything is borrowed. */
struct explain {
    const struct extender *extender; /* its decisions are explained, and it judges what-ifs */
    const struct webhook *webhook;   /* admits the pods of what-ifs; NULL: nothing does */
    struct explain_access *access;
};

void explain_decisions(void *ctx, const struct http_request *request,
                       struct http_response *response);
void explain_pod(void *ctx, const struct http_request *request, struct http_response *response);
void explain_what_if(void *ctx, const struct http_request *request, struct http_response *response);
