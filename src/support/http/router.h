/*
 * Finds the handler of a request, and writes the lists for answers 404 and 405.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "http/http.h"

struct router {
    const struct http_service *services; /* borrowed; a service without routes ends the list */
};

/* Returns the first route for this method and path, and its service; or NULL. *ret_path_known: some
 * route has the path. A few string comparisons; HEAD finds the routes of GET. */
const struct http_route *router_find(const struct router *router, struct str method,
                                     struct str path, const struct http_service **ret_service,
                                     bool *ret_path_known);
/* Returns the setting that would serve this path, if its routes are off; otherwise NULL. */
const char *router_why_off(const struct router *router, struct str path);
/* Returns the methods of a path, "GET, HEAD, POST". In the arena; NULL without memory. */
const char *router_methods(const struct router *router, struct str path, struct arena *arena);
/* Appends "GET /livez, POST /extender/v1/filter": every route, for a 404. */
void router_describe(const struct router *router, struct strbuf *out);
/* Is the content type application/json, with or without parameters? */
bool router_is_json(struct str content_type);
