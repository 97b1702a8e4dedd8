/*
 * The tables of routes, and the documents: configuration.md names every route, and no document
 * names one that there is not.
 */
#include "handlers/routes.h"

#include "admission/objects/objects.h"
#include "base/file.h"
#include "extender/verbs.h"
#include "handlers/extender.h"
#include "http/router.h"
#include "unit/unit.h"

#include <stdio.h>

enum { DOCUMENT_MAX = 1 << 20, ROUTES_MAX = 64 };

static const struct http_routes *const all[] = {
    &ops_routes,         &explain_routes,     &topology_routes,
    &log_level_routes,   &extender_routes,    &extender_binding_routes,
    &webhook_pod_routes, &webhook_hub_routes, &clusters_routes};
enum { TABLES = sizeof all / sizeof all[0] };

static struct strbuf read_document(const char *path) {
    struct err err;
    struct strbuf text = {.max = DOCUMENT_MAX};
    if (file_read(path, DOCUMENT_MAX, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    return text;
}

static const struct http_route *find(struct str method, struct str path) {
    for (size_t i = 0; i < TABLES; i++) {
        const struct http_service services[] = {{.routes = all[i]}, {0}};
        const struct router router = {services};
        bool path_known;
        const struct http_service *service;
        const struct http_route *route = router_find(&router, method, path, &service, &path_known);
        if (route != NULL)
            return route;
    }
    return NULL;
}

/* The next "`GET /path" or "`POST /path" of a text, whose query is left out; false at the end. */
static bool next_mention(struct str *text, struct str *ret_method, struct str *ret_path) {
    static const struct str methods[] = {{"GET", 3}, {"POST", 4}, {"PUT", 3}, {"DELETE", 6}};
    for (; text->n > 0; text->p++, text->n--) {
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
            char before[16];
            int n = snprintf(before, sizeof before, "`%s /", methods[i].p);
            if (!str_has_prefix(*text, (struct str){before, (size_t)n}))
                continue;
            const char *path = text->p + n - 1;
            size_t left = text->n - (size_t)n + 1, length = 0;
            while (length < left && strchr("`? \n", path[length]) == NULL)
                length++;
            *ret_method = methods[i];
            *ret_path = (struct str){path, length};
            *text = (struct str){path + length, left - length};
            return true;
        }
    }
    return false;
}

static void configuration_names_every_route(void **state) {
    struct strbuf document = read_document("docs/configuration.md");
    const struct http_route *named[ROUTES_MAX];
    struct str text = strbuf_str(&document), method, path;
    size_t count = 0;
    (void)state;
    while (next_mention(&text, &method, &path)) {
        assert_true(count < ROUTES_MAX);
        named[count] = find(method, path);
        if (named[count++] == NULL)
            fail_msg("no route for %.*s %.*s", STR_ARG(method), STR_ARG(path));
    }
    for (size_t i = 0; i < TABLES; i++)
        for (size_t k = 0; k < all[i]->count; k++) {
            const struct http_route *route = &all[i]->rows[k];
            size_t at = 0;
            while (at < count && named[at] != route)
                at++;
            if (at == count)
                fail_msg("docs/configuration.md does not name %s %s", route->method, route->path);
        }
    strbuf_done(&document);
}

static void no_document_names_another(void **state) {
    static const char *const documents[] = {"docs/metrics.md", "docs/security.md",
                                            "docs/guides/explain.md", "docs/guides/pods.md",
                                            "docs/guides/kube-scheduler.md"};
    int mentions = 0;
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        struct strbuf document = read_document(documents[i]);
        struct str text = strbuf_str(&document), method, path;
        for (; next_mention(&text, &method, &path); mentions++)
            if (find(method, path) == NULL)
                fail_msg("%s: no route for %.*s %.*s", documents[i], STR_ARG(method),
                         STR_ARG(path));
        strbuf_done(&document);
    }
    assert_true(mentions >= 5); /* the reader of documents reads */
}

/* The verb's route: that of bind, which can be switched off, is in a table of its own. */
static const struct http_route *route_of(size_t verb) {
    return verb < extender_routes.count ? &extender_routes.rows[verb]
                                        : &extender_binding_routes.rows[0];
}

/* A row for every verb, with a handler of its own. */
static void every_verb_has_a_route(void **state) {
    (void)state;
    assert_int_equal(extender_routes.count + 1, EXTENDER_VERBS);
    assert_int_equal(extender_binding_routes.count, 1);
    assert_string_equal(extender_binding_routes.rows[0].path, "/extender/v1/bind");
    for (size_t i = 0; i < EXTENDER_VERBS; i++) {
        const struct http_route *route = route_of(i);
        assert_string_equal(route->path, extender_verbs[i].path);
        assert_string_equal(route->name, extender_verbs[i].name);
        assert_int_equal(route->takes,
                         route->handle == extender_bind ? HTTP_JSON : HTTP_LARGE_JSON);
        for (size_t k = 0; k < i; k++)
            assert_true(route_of(k)->handle != route->handle);
    }
}

static void bind_can_be_off(void **state) {
    (void)state;
    const struct http_service services[] = {
        {.routes = &extender_routes}, {.routes = &extender_binding_off}, {0}};
    const struct router router = {services};
    bool path_known;
    const struct http_service *service;
    assert_null(router_find(&router, STR("POST"), STR("/extender/v1/bind"), &service, &path_known));
    assert_false(path_known);
    assert_non_null(strstr(router_why_off(&router, STR("/extender/v1/bind")), "set extender.bind"));
    assert_null(router_why_off(&router, STR("/extender/v1/filter")));
}

static void every_admitted_kind_has_a_route(void **state) {
    (void)state;
    assert_int_equal(webhook_pod_routes.count + webhook_hub_routes.count, ADMITTED_KINDS);
    for (size_t i = 0; i < ADMITTED_KINDS; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/webhooks/v1/%s", admitted_kinds[i]->name);
        const struct http_route *route = find(STR("POST"), str_of(path));
        assert_non_null(route);
        assert_string_equal(route->path, path);
        assert_string_equal(route->name, admitted_kinds[i]->name);
        assert_int_equal(route->takes, HTTP_JSON);
    }
}

static void a_hub_may_review_no_pods(void **state) {
    (void)state;
    const struct http_service services[] = {
        {.routes = &webhook_hub_routes}, {.routes = &webhook_pods_off}, {0}};
    const struct router router = {services};
    static const char *const paths[] = {"/webhooks/v1/pods", "/webhooks/v1/pods/validate"};
    bool path_known;
    const struct http_service *service;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_null(router_find(&router, STR("POST"), str_of(paths[i]), &service, &path_known));
        assert_non_null(strstr(router_why_off(&router, str_of(paths[i])), "set webhook.pods"));
    }
    assert_non_null(
        router_find(&router, STR("POST"), STR("/webhooks/v1/placements"), &service, &path_known));
    assert_int_equal(webhook_pods_off.count, sizeof paths / sizeof paths[0]);
}

static void probes_ask_for_health_alone(void **state) {
    (void)state;
    assert_int_equal(probe_routes.count, 2);
    assert_string_equal(probe_routes.rows[0].path, "/healthz");
    assert_string_equal(probe_routes.rows[1].path, "/readyz");
    assert_ptr_equal(find(STR("GET"), STR("/healthz"))->handle,
                     find(STR("GET"), STR("/livez"))->handle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_ask_for_health_alone),
        cmocka_unit_test(configuration_names_every_route),
        cmocka_unit_test(no_document_names_another),
        cmocka_unit_test(every_verb_has_a_route),
        cmocka_unit_test(bind_can_be_off),
        cmocka_unit_test(every_admitted_kind_has_a_route),
        cmocka_unit_test(a_hub_may_review_no_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
