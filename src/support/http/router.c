/*
 * A linear search: a listener has about ten routes, and comparing ten short strings is cheaper than
 * a smarter search.
 */
#include "http/router.h"

static bool path_matches(const struct http_route *route, struct str path) {
    struct str pattern = str_of(route->path);
    if (str_has_suffix(pattern, STR("/*")))
        return str_has_prefix(path, (struct str){pattern.p, pattern.n - 1});
    return str_eq(pattern, path);
}

/* Returns route number `i`, counted through all services that are served, or NULL; and its service.
 */
static const struct http_route *route_at(const struct router *router, size_t i,
                                         const struct http_service **ret_service) {
    const struct http_service *s = router->services;
    for (; s->routes != NULL && (s->routes->off != NULL || i >= s->routes->count); s++)
        i -= s->routes->off == NULL ? s->routes->count : 0;
    *ret_service = s;
    return s->routes != NULL ? &s->routes->rows[i] : NULL;
}

const struct http_route *router_find(const struct router *router, struct str method,
                                     struct str path, const struct http_service **ret_service,
                                     bool *ret_path_known) {
    struct str wanted = str_eq(method, STR("HEAD")) ? STR("GET") : method;
    const struct http_route *route;
    *ret_path_known = false;
    for (size_t i = 0; (route = route_at(router, i, ret_service)) != NULL; i++) {
        if (!path_matches(route, path))
            continue;
        *ret_path_known = true;
        if (str_eq(str_of(route->method), wanted))
            return route;
    }
    return NULL;
}

const char *router_why_off(const struct router *router, struct str path) {
    for (const struct http_service *s = router->services; s->routes != NULL; s++)
        for (size_t i = 0; s->routes->off != NULL && i < s->routes->count; i++)
            if (path_matches(&s->routes->rows[i], path))
                return s->routes->off;
    return NULL;
}

const char *router_methods(const struct router *router, struct str path, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf list = {.max = 4096};
    const struct http_route *route;
    const struct http_service *service;
    for (size_t i = 0; (route = route_at(router, i, &service)) != NULL; i++) {
        if (!path_matches(route, path))
            continue;
        struct str method = str_of(route->method);
        strbuf_append_str(&list, list.n > 0 ? STR(", ") : STR(""));
        strbuf_append_str(&list, method);
        if (str_eq(method, STR("GET")))
            strbuf_append_str(&list, STR(", HEAD"));
    }
    return strbuf_failed(&list) ? NULL : arena_cstr(arena, strbuf_str(&list));
}

void router_describe(const struct router *router, struct strbuf *out) {
    const struct http_route *route;
    const struct http_service *service;
    for (size_t i = 0; (route = route_at(router, i, &service)) != NULL; i++)
        strbuf_appendf(out, "%s%s %s", i > 0 ? ", " : "", route->method, route->path);
}

bool router_is_json(struct str content_type) {
    size_t semicolon = str_find(content_type, ';');
    if (semicolon != SIZE_MAX)
        content_type.n = semicolon;
    return str_eq_nocase(str_trim(content_type), STR("application/json"));
}
