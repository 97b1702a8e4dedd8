#include "http/router.h"
#include "unit/unit.h"

static int for_all, for_special;

static const struct http_route first[] = {
    {.method = "GET", .path = "/livez", .name = "livez"},
    {.method = "GET", .path = "/explain", .name = "explain"},
    {.method = "POST", .path = "/explain", .name = "explain"},
};
static const struct http_route second[] = {
    {.method = "GET", .path = "/explain/special", .name = "special"},
    {.method = "GET", .path = "/explain/*", .name = "explain"},
};
static const struct http_route switched_off[] = {
    {.method = "POST", .path = "/bind", .name = "bind"},
    {.method = "GET", .path = "/explain", .name = "explain"},
};
static const struct http_routes first_routes = HTTP_ROUTES(first),
                                second_routes = HTTP_ROUTES(second), none = {0},
                                off_routes = HTTP_ROUTES_OFF(switched_off, "set it");
static const struct http_service services[] = {
    {&off_routes, &for_all, NULL},     {&first_routes, &for_all, NULL},      {&none, NULL, NULL},
    {&off_routes, &for_special, NULL}, {&second_routes, &for_special, NULL}, {0}};
static const struct router router = {services};

/* Which route is found: its number, -1 for none, -2 for a path known with other methods. */
static int find(const char *method, const char *path) {
    bool known;
    const struct http_service *service;
    const struct http_route *route =
        router_find(&router, str_of(method), str_of(path), &service, &known);
    if (route == NULL)
        return known ? -2 : -1;
    assert_true(known);
    bool is_first = route >= first && route < first + 3;
    assert_ptr_equal(service->ctx, is_first ? &for_all : &for_special);
    return is_first ? (int)(route - first) : 3 + (int)(route - second);
}

static void test_find(void **state) {
    (void)state;
    assert_int_equal(find("GET", "/livez"), 0);
    assert_int_equal(find("HEAD", "/livez"), 0);
    assert_int_equal(find("POST", "/livez"), -2);
    assert_int_equal(find("get", "/livez"), -2);
    assert_int_equal(find("GET", "/livez/"), -1);
    assert_int_equal(find("GET", "/live"), -1);
    assert_int_equal(find("GET", "/livezz"), -1);
    assert_int_equal(find("GET", ""), -1);
    assert_int_equal(find("GET", "/explain"), 1);
    assert_int_equal(find("POST", "/explain"), 2);
    assert_int_equal(find("GET", "/explain/special"), 3);
    assert_int_equal(find("GET", "/explain/"), 4);
    assert_int_equal(find("GET", "/explain/a/b"), 4);
    assert_int_equal(find("PUT", "/explain/a/b"), -2);
    assert_int_equal(find("GET", "/explainer"), -1);
}

/* They are as unknown as any other path, except that it can be said what to set. */
static void test_what_is_off(void **state) {
    (void)state;
    assert_int_equal(find("POST", "/bind"), -1);
    assert_string_equal(router_why_off(&router, STR("/bind")), "set it");
    assert_null(router_why_off(&router, STR("/livez")));
    assert_null(router_why_off(&router, STR("/nothing")));
    CLEANUP(strbuf_done) struct strbuf all = {.max = 4096};
    router_describe(&router, &all);
    strbuf_append_char(&all, '\0');
    assert_null(strstr(all.p, "bind"));
}

static void test_methods(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    assert_string_equal(router_methods(&router, STR("/explain"), &arena), "GET, HEAD, POST");
    assert_string_equal(router_methods(&router, STR("/livez"), &arena), "GET, HEAD");
    arena_done(&arena);
}

static void test_describe(void **state) {
    (void)state;
    struct strbuf text = {0};
    router_describe(&router, &text);
    assert_str(strbuf_str(&text), "GET /livez, GET /explain, POST /explain, GET /explain/special, "
                                  "GET /explain/*");
    strbuf_done(&text);
}

static void test_is_json(void **state) {
    (void)state;
    assert_true(router_is_json(STR("application/json")));
    assert_true(router_is_json(STR("Application/JSON; charset=utf-8")));
    assert_true(router_is_json(STR(" application/json ;x=y")));
    assert_false(router_is_json(STR("")));
    assert_false(router_is_json(STR("application/jsonp")));
    assert_false(router_is_json(STR("text/plain; application/json")));
    assert_false(router_is_json(STR("application/json, text/plain")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),    cmocka_unit_test(test_what_is_off),
        cmocka_unit_test(test_methods), cmocka_unit_test(test_describe),
        cmocka_unit_test(test_is_json),
    };
    return cmocka_run_group_tests_name("router", tests, NULL, NULL);
}
