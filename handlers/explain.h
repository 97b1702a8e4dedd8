/*
 * The endpoints that answer "why there?", on the ops listener: the decisions about one object, the
 * recent decisions, the present decision about a Placement, and the decision that a given pod would
 * get now. `ctx` of every handler is a struct explain.
 *
 * They answer only callers who may read (explain/access.h). They record and change nothing.
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
    const struct extender *extender; /* the extender's decisions are explained, and it filters and
                                        scores the pods of what-ifs */
    const struct webhook *webhook;   /* admits the pods of what-ifs; NULL: no admission */
    struct explain_access *access;
    struct informer *volumes;          /* volumes for the claims of what-ifs; NULL: not known */
    const struct clusters *clusters;   /* the fleet; NULL: none */
    struct placement_history *history; /* moves of Placements; NULL: this process decides no
                                          Placement */
};

void explain_decisions(void *ctx, const struct http_request *request,
                       struct http_response *response);
void explain_pod(void *ctx, const struct http_request *request, struct http_response *response);
void explain_placement(void *ctx, const struct http_request *request,
                       struct http_response *response);
void explain_what_if(void *ctx, const struct http_request *request, struct http_response *response);

/* Splits the "NAMESPACE/NAME" that follows `before`, the beginning of the path. Returns false if
 * the path has another form. */
bool explain_split_path(struct str path, struct str before, struct str *ret_namespace,
                        struct str *ret_name);
