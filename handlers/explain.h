/*
 * The endpoints that answer "why there?", on the ops listener: the decisions about one object, the
 * recent ones, what is decided of a Placement, and what would be decided of a pod. `ctx` of every
 * handler is a struct explain.
 *
 * They answer only callers who may read (explain/access.h). Nothing is recorded or changed by
 * asking.
 */
#pragma once

#include "explain/access.h"
#include "extender/service.h"
#include "handlers/clusters.h"
#include "handlers/webhook.h"
#include "http/http.h"
#include "hub/placement_history.h"

/* Everything is borrowed. */
struct explain {
    const struct extender *extender; /* its decisions are explained, and it judges what-ifs */
    const struct webhook *webhook;   /* admits the pods of what-ifs; NULL: nothing does */
    struct explain_access *access;
    const struct clusters *clusters;   /* what is known of a fleet; NULL: nothing */
    struct placement_history *history; /* of Placements; NULL: this process decides none */
};

void explain_decisions(void *ctx, const struct http_request *request,
                       struct http_response *response);
void explain_pod(void *ctx, const struct http_request *request, struct http_response *response);
void explain_placement(void *ctx, const struct http_request *request,
                       struct http_response *response);
void explain_what_if(void *ctx, const struct http_request *request, struct http_response *response);

/* "NAMESPACE/NAME" behind `before`, with which the path begins. */
bool explain_split_path(struct str path, struct str before, struct str *ret_namespace,
                        struct str *ret_name);
