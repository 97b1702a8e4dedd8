/*
 * Finds the handler of a request, and writes the lists for answers 404 and 405.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "http/http.h"

struct router {
    const struct http_service *services; /* borrowed; one without routes ends them */
};

/* The first route for this method and path, and the service that it is of; or NULL.
 * *ret_path_known: some route has the path. A few string comparisons; HEAD finds the routes of GET.
 */
const struct http_route *router_find(const struct router *router, struct str method,
                                     struct str path, const struct http_service **ret_service,
                                     bool *ret_path_known);
/* What to set so that this path is served, if it is one of a service that is off; otherwise NULL.
 */
const char *router_why_off(const struct router *router, struct str path);
/* "GET, HEAD, POST": the methods of a path. In the arena; NULL if there was no memory. */
const char *router_methods(const struct router *router, struct str path, struct arena *arena);
/* Appends "GET /livez, POST /extender/v1/filter": every route, for a 404. */
void router_describe(const struct router *router, struct strbuf *out);
/* Is it application/json, with or without parameters? */
bool router_is_json(struct str content_type);
