/* /topology, called without a listener: who may read it, pages, and what it says of bad questions.
 */
#include "handlers/topology.h"

#include "base/json_reader.h"
#include "unit/cluster_builder.h"

#include <stdio.h>

enum { WORKLOADS = 5 };

struct fixture {
    struct cluster c; /* a and b in zone1, q in zone2 */
    struct topology_door door;
    struct http_response response;
    struct arena arena;
};

static void measure(struct fixture *f) {
    struct evenness_report *report = NULL;
    const struct str keys[] = {STR("zone"), STR("node")};
    assert_int_equal(evenness_measure(f->c.cache, keys, 2, &report, NULL), 0);
    assert_int_equal(evenness_latest_set(f->door.latest, report), 0);
}

static int setup(void **state) {
    static struct fixture f;
    char text[400];
    f = (struct fixture){.door = {.nonce = 7}};
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a b q");
    for (int w = 0; w < WORKLOADS; w++)
        for (int p = 0; p <= w; p++) {
            (void)snprintf(text, sizeof text,
                           "{\"metadata\":{\"name\":\"p%d-%d\",\"namespace\":\"shop\","
                           "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                           "\"StatefulSet\",\"name\":\"w%d\",\"controller\":true}]},"
                           "\"spec\":{\"nodeName\":\"a\"}}",
                           w, p, w);
            cluster_apply_json(&f.c, OBJECT_POD, text);
        }
    f.door.latest = evenness_latest_new();
    assert_non_null(f.door.latest);
    assert_int_equal(explain_access_new(NULL, &f.door.access, NULL), 0);
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->response.text);
    evenness_latest_free(f->door.latest);
    explain_access_free(f->door.access);
    arena_done(&f->arena);
    cluster_close(&f->c);
    return 0;
}

static const char *get_as(struct fixture *f, const char *query, bool is_local) {
    const struct http_request request = {
        .path = STR("/topology"), .query = str_of(query), .arena = &f->arena, .is_local = is_local};
    strbuf_done(&f->response.text);
    f->response = (struct http_response){0};
    topology_report(&f->door, &request, &f->response);
    strbuf_append_char(&f->response.text, '\0');
    return f->response.text.p;
}

static const char *get(struct fixture *f, const char *query) {
    return get_as(f, query, true);
}

static void before_the_first_report(void **state) {
    struct fixture *f = *state;
    assert_contains(get(f, ""), "nothing has been measured yet");
    assert_int_equal(f->response.status, 503);
    assert_int_equal(f->response.retry_after_s, 1);
}

static void where_no_workloads_are_known(void **state) {
    struct fixture *f = *state;
    struct evenness_latest *latest = f->door.latest;
    f->door.latest = NULL;
    assert_contains(get(f, ""), "neither extender nor webhook listens");
    assert_int_equal(f->response.status, 404);
    assert_int_equal(f->response.retry_after_s, 0);
    f->door.latest = latest;
}

/* A hub has clusters and perhaps no node. */
static void where_no_node_is_known(void **state) {
    struct fixture *f = *state;
    struct evenness_report *report = NULL;
    assert_int_equal(evenness_measure(f->c.cache, NULL, 0, &report, NULL), 0);
    assert_int_equal(evenness_latest_set(f->door.latest, report), 0);
    static const char *const queries[] = {"", "by=zone"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const char *text = get(f, queries[i]);
        assert_contains(text, "nothing is measured: no node with a zone, region or hostname");
        assert_null(strstr(text, "''"));
        assert_int_equal(f->response.status, 404);
    }
}

static void only_who_may_read(void **state) {
    struct fixture *f = *state;
    measure(f);
    assert_null(strstr(get_as(f, "", false), "w4"));
    assert_int_equal(f->response.status, 403);
}

static void pages_of_one_report(void **state) {
    struct fixture *f = *state;
    measure(f);
    const char *text = get(f, "by=zone&limit=2");
    assert_int_equal(f->response.status, 200);
    assert_string_equal(f->response.etag, "\"7.1\"");
    assert_contains(text, "{\"topologyKey\":\"zone\",\"domains\":[{\"name\":\"zone1\",\"nodes\":2,"
                          "\"pods\":15},{\"name\":\"zone2\",\"nodes\":1,\"pods\":0}],"
                          "\"workloads\":[{\"namespace\":\"shop\",\"name\":\"w4\",\"kind\":"
                          "\"StatefulSet\",\"pods\":5,\"domains\":{\"zone1\":5,\"zone2\":0},"
                          "\"skew\":5,\"bestSkew\":1,\"state\":\"uneven\"},{\"namespace\":"
                          "\"shop\",\"name\":\"w3\"");
    assert_contains(text, "}],\"continue\":\"7.1-2\"}");
    text = get(f, "by=zone&limit=2&continue=7.1-2");
    assert_contains(text, "\"workloads\":[{\"namespace\":\"shop\",\"name\":\"w2\"");
    text = get(f, "by=zone&limit=2&continue=7.1-4");
    assert_contains(text, "\"workloads\":[{\"namespace\":\"shop\",\"name\":\"w0\"");
    assert_null(strstr(text, "continue"));
    measure(f);
    assert_contains(get(f, "by=zone&limit=2&continue=7.1-2"), "begin again");
    assert_int_equal(f->response.status, 410);
}

static void some_workloads(void **state) {
    struct fixture *f = *state;
    measure(f);
    const char *text = get(f, "by=node&namespace=shop&name=w1");
    assert_contains(text, "\"workloads\":[{\"namespace\":\"shop\",\"name\":\"w1\",\"kind\":"
                          "\"StatefulSet\",\"pods\":2,\"domains\":{\"a\":2,\"b\":0,\"q\":0},"
                          "\"skew\":2,\"bestSkew\":1,\"state\":\"uneven\"}]}");
    assert_contains(get(f, "by=%7aone&name=none"), "\"workloads\":[]}");
}

static void questions_that_are_wrong(void **state) {
    static const struct {
        const char *query, *why;
        int status;
    } rows[] = {
        {"by=rack", "nothing is measured by 'rack'; ", 404},
        {"what=1", "'what=1': expected by=KEY", 400},
        {"limit=0", "'limit=0': expected", 400},
        {"limit=1001", "'limit=1001': expected", 400},
        {"limit", "'limit': expected", 400},
        {"continue=7", "continue: the value is not from an answer", 400},
        {"continue=7.1--1", "continue: the value is not from an answer", 400},
        {"continue=7.1-99999999999", "continue: the value is not from an answer", 400},
        {"continue=8.1-1", "begin again", 410},
    };
    struct fixture *f = *state;
    measure(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_contains(get(f, rows[i].query), rows[i].why);
        assert_int_equal(f->response.status, rows[i].status);
    }
    assert_contains(get(f, "continue=7.1-4000000000"), "\"workloads\":[]}");
}

/* It stays what it is for who reads it. */
static void a_report_that_is_held(void **state) {
    struct fixture *f = *state;
    measure(f);
    struct evenness_held *held = evenness_latest_hold(f->door.latest);
    measure(f);
    assert_int_equal(held->number, 1);
    assert_int_equal(held->report->workload_count, WORKLOADS);
    evenness_latest_release(f->door.latest, held);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(before_the_first_report),  T(where_no_workloads_are_known), T(where_no_node_is_known),
        T(only_who_may_read),        T(pages_of_one_report),          T(some_workloads),
        T(questions_that_are_wrong), T(a_report_that_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
