/*
 * POST /extender/v1/bind: kube-scheduler on one side, an API server on the other, and the cache in
 * between. Both sides are the test's.
 */
#include "base/log.h"
#include "handlers/extender.h"
#include "unit/cluster_builder.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

#define BIND "/extender/v1/bind"
#define FILTER "/extender/v1/filter"
#define POD "/api/v1/namespaces/default/pods/web"
#define ASKED "{\"PodName\":\"web\",\"PodNamespace\":\"default\",\"PodUID\":\"u\",\"Node\":\"a\"}"
#define SEEN(node) "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\"},\"spec\":{" node "}}"

enum { LONG_MS = 60000 };

struct fixture {
    struct cluster c; /* reservations last 1000 ms */
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct kube_client *client;
    struct extender x;
    struct ring *ring;
    struct served served;
    struct net net;
    struct net_answer answer;
};

static const struct http_route rows[] = {
    {"POST", BIND, "bind", extender_bind, HTTP_JSON},
    {"POST", FILTER, "filter", extender_filter, HTTP_JSON},
};
static const struct http_routes routes = HTTP_ROUTES(rows);

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.net.fd = -1};
    cluster_open(&f.c);
    cache_write_begin(f.c.cache);
    cache_sync_begin(f.c.cache, CACHE_ALL_KINDS);
    cache_sync_end(f.c.cache, CACHE_ALL_KINDS);
    cache_write_end(f.c.cache);
    cluster_nodes(&f.c, "a b");
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&f.access, NULL, &f.client, NULL), 0);
    f.x = (struct extender){.cache = f.c.cache,
                            .options = &f.c.options,
                            .reservations = RESERVATIONS_SINGLE_NODE,
                            .client = f.client,
                            .bind_timeout_ms = LONG_MS};
    assert_int_equal(ring_new(8, &f.ring), 0);
    f.x.decisions = f.ring;
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f.x, NULL};
    f.served.options.threads = 1;
    served_start(&f.served);
    assert_true(net_open(&f.net, served_address(&f.served)));
    extender_metrics_start();
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    extender_metrics_stop();
    net_answer_done(&f->answer);
    net_close(&f->net);
    served_done(&f->served);
    kube_client_free(f->client);
    ring_free(f->ring);
    api_call_done(&f->call);
    api_done(&f->api);
    cluster_close(&f->c);
    return 0;
}

/* ---- both sides ---- */

static void post(struct net *net, const char *path, const char *body) {
    struct strbuf request = {0};
    strbuf_appendf(&request,
                   "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   path, strlen(body), body);
    assert_true(net_send(net, request.p, request.n));
    strbuf_done(&request);
}

static void ask(struct net *net, const char *body) {
    post(net, BIND, body);
}

/* What kube-scheduler hears: always 200, and an error or none. */
static void expect_error(struct fixture *f, struct net *net, const char *error) {
    char body[512];
    (void)snprintf(body, sizeof body, "{\"Error\":\"%s\"}", error);
    assert_true(net_hear(net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    assert_str(strbuf_str(&f->answer.body), body);
}

/* The scheduler binds, and the API server hears of it. */
static void bind_pod(struct fixture *f) {
    ask(&f->net, ASKED);
    api_expect(&f->api, &f->call, "POST", POD "/binding");
    assert_non_null(memmem(f->call.body.p, f->call.body.n, "\"uid\":\"u\"", 9));
    assert_non_null(memmem(f->call.body.p, f->call.body.n, "\"name\":\"a\"", 10));
}

/* ---- the cache ---- */

/* A filter answer said that it may land on both. */
static void expect_pod(struct fixture *f) {
    const struct str nodes[] = {STR("a"), STR("b")};
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    pod.meta.uid = STR("u");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_expect(f->c.cache, &pod, nodes, 2, 0), 0);
    cache_write_end(f->c.cache);
}

/* How many pods with the label foo count on node a. */
static uint32_t count_on_a(struct fixture *f) {
    struct selector selector = cluster_selector(&f->c, "{\"matchLabels\":{\"foo\":\"\"}}");
    struct cache_view view;
    const uint32_t *counts;
    cache_view_open(f->c.cache, &view);
    assert_int_equal(cache_counter(&view, STR("default"), &selector, &counts), 0);
    uint32_t count = counts[topology_find(&view.nodes, STR("a"))];
    cache_view_close(&view);
    return count;
}

static void expect_reserved(struct fixture *f, bool reserved) {
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.reservations, reserved);
    assert_int_equal(stats.flights, 0);
    assert_int_equal(count_on_a(f), reserved);
}

/* The last binding is on record, with this in it. */
static void expect_recorded(struct fixture *f, const char *part) {
    const struct subject web = subject_pod(STR("default"), STR("web"));
    struct ring_entry entry;
    char text[LIMIT_DECISION_BYTES + 1] = "";
    assert_true(ring_find(f->ring, &web, UINT64_MAX, &entry));
    memcpy(text, entry.text, entry.n);
    assert_contains(text, "\"verb\":\"bind\"");
    assert_contains(text, "\"node\":\"a\"");
    assert_contains(text, part);
}

static double errors(const char *reason) {
    char series[128];
    (void)snprintf(series, sizeof series,
                   "evenkeel_extender_errors_total{verb=\"bind\",reason=\"%s\"}",
                   reason); /* fits */
    return metric_now(series);
}

/* ---- outcomes ---- */

static void test_bound(void **state) {
    struct fixture *f = *state;
    expect_pod(f);
    assert_int_equal(count_on_a(f), 0);
    bind_pod(f);
    expect_reserved(f, true); /* before anybody has said that it is bound */
    api_answer(&f->call, 201, "", "{}");
    expect_error(f, &f->net, "");
    expect_reserved(f, true); /* until it is seen */
    expect_recorded(f, "\"result\":\"bound\"");
    expect_recorded(f, "\"node\":\"a\",\"from\":\"127.0.0.1:"); /* no certificate, so no name */
    cluster_apply_json(&f->c, OBJECT_POD,
                       "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u\","
                       "\"labels\":{\"foo\":\"\"}},\"spec\":{\"nodeName\":\"a\"}}");
    assert_int_equal(cache_stats(f->c.cache).reservations, 0);
    assert_int_equal(count_on_a(f), 1);
}

static void test_not_bound(void **state) {
    struct fixture *f = *state;
    double not_bound = errors("not_bound"), unknown = errors("unknown");
    expect_pod(f);
    bind_pod(f);
    expect_reserved(f, true);
    api_answer(&f->call, 403, "", "{\"kind\":\"Status\",\"message\":\"no \\\"right\\\"\"}");
    expect_error(f, &f->net, "the API server says 403: no \\\"right\\\"");
    expect_reserved(f, false);
    expect_recorded(f, "\"result\":\"not bound\"");
    expect_recorded(f, "\"message\":\"the API server says 403: no \\\"right\\\"\"");
    assert_true(errors("not_bound") == not_bound + 1 && errors("unknown") == unknown);
}

static void test_bound_elsewhere(void **state) {
    struct fixture *f = *state;
    expect_pod(f);
    bind_pod(f);
    api_answer(&f->call, 409, "", "{}");
    api_expect(&f->api, &f->call, "GET", POD);
    expect_reserved(f, true); /* nobody knows yet */
    api_answer(&f->call, 200, "", SEEN("\"nodeName\":\"b\""));
    expect_error(f, &f->net, "the pod is bound to node 'b' already");
    expect_reserved(f, false);
}

/* Asked twice, because the first answer was lost on its way to the scheduler. */
static void test_bound_already(void **state) {
    struct fixture *f = *state;
    bind_pod(f);
    api_answer(&f->call, 409, "", "{}");
    api_expect(&f->api, &f->call, "GET", POD);
    api_answer(&f->call, 200, "", SEEN("\"nodeName\":\"a\""));
    expect_error(f, &f->net, "");
}

/* It may be bound: it counts until it is seen, or until its time is over. */
static void test_nobody_knows(void **state) {
    struct fixture *f = *state;
    double not_bound = errors("not_bound"), unknown = errors("unknown");
    f->x.bind_timeout_ms = 40; /* shorter than the pause before the next try */
    expect_pod(f);
    bind_pod(f);
    api_answer(&f->call, 500, "", "{\"kind\":\"Status\",\"message\":\"etcd\"}");
    expect_error(f, &f->net, "the API server says 500: etcd");
    expect_reserved(f, true);
    expect_recorded(f, "\"result\":\"not known\"");
    assert_true(errors("unknown") == unknown + 1 && errors("not_bound") == not_bound);
    f->c.clock.at_ms += 1001;
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache);
    cache_write_end(f->c.cache);
    expect_reserved(f, false);
}

static void test_no_answer(void **state) {
    struct fixture *f = *state;
    f->x.bind_timeout_ms = 40;
    expect_pod(f);
    bind_pod(f);
    assert_true(net_hear(&f->net, &f->answer));
    assert_contains(f->answer.body.p, "{\"Error\":\"the API server does not answer: ");
    expect_reserved(f, true);
}

/* What filter has reserved, because only one node was left, ends here too. */
static void test_a_reservation_of_filter(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    pod.meta.uid = STR("u");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve(f->c.cache, &pod, STR("a")), 0);
    cache_write_end(f->c.cache);
    bind_pod(f);
    expect_reserved(f, true);
    api_answer(&f->call, 404, "", "{\"kind\":\"Status\",\"message\":\"gone\"}");
    expect_error(f, &f->net, "the API server says 404: gone");
    expect_reserved(f, false);
}

static void test_reservations_off(void **state) {
    struct fixture *f = *state;
    f->x.reservations = RESERVATIONS_OFF;
    expect_pod(f);
    bind_pod(f);
    assert_int_equal(cache_stats(f->c.cache).reservations, 0);
    assert_int_equal(count_on_a(f), 0);
    api_answer(&f->call, 201, "", "{}");
    expect_error(f, &f->net, "");
}

/* Soft constraints count an assumed pod; it is on its node now, or nowhere. */
static void test_an_assumed_pod(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    pod.meta.uid = STR("u");
    f->x.reservations = RESERVATIONS_OFF;
    f->x.assume = true;
    for (int status = 201; status <= 403; status += 202) {
        cache_write_begin(f->c.cache);
        assert_int_equal(cache_assume_on(f->c.cache, &pod.meta, STR("b")), 0);
        cache_write_end(f->c.cache);
        bind_pod(f);
        api_answer(&f->call, status, "", "{\"kind\":\"Status\",\"message\":\"no\"}");
        expect_error(f, &f->net, status == 201 ? "" : "the API server says 403: no");
        assert_int_equal(cache_stats(f->c.cache).assumed, status == 201);
    }
}

/* ---- requests that go nowhere ---- */

static void test_names_that_cannot_be(void **state) {
    struct fixture *f = *state;
    expect_pod(f);
    ask(&f->net, "{\"PodName\":\"../web\",\"PodNamespace\":\"default\",\"PodUID\":\"u\","
                 "\"Node\":\"a\"}");
    expect_error(f, &f->net, "'default/../web' to 'a': names have a-z, 0-9, '-' and '.'");
    assert_int_equal(cache_stats(f->c.cache).reservations, 0);
    bind_pod(f); /* the connection is as good as before */
    api_answer(&f->call, 201, "", "{}");
    expect_error(f, &f->net, "");
}

static void test_no_api_server(void **state) {
    struct fixture *f = *state;
    f->x.client = NULL;
    expect_pod(f);
    ask(&f->net, ASKED);
    expect_error(f, &f->net,
                 "there is no API server to bind with: start with --kubeconfig or --in-cluster, or "
                 "remove bindVerb from kube-scheduler's configuration");
    assert_int_equal(cache_stats(f->c.cache).flights, 1); /* as it was */
    expect_recorded(f, "\"result\":\"not bound\"");
    expect_recorded(f, "\"message\":\"there is no API server");
}

static void test_requests_that_are_none(void **state) {
    struct fixture *f = *state;
    ask(&f->net, "{\"PodName\":\"web\",\"PodNamespace\":\"default\",\"Node\":\"a\"}");
    expect_error(f, &f->net,
                 "ExtenderBindingArgs: PodName, PodNamespace, PodUID and Node are needed");
    ask(&f->net, "[]");
    expect_error(f, &f->net,
                 "ExtenderBindingArgs: expected an object with PodName, PodNamespace, PodUID and "
                 "Node, at byte 0");
    ask(&f->net, "{\"PodName\":7}");
    expect_error(f, &f->net,
                 "ExtenderBindingArgs.PodName: expected a string, found a number, at byte 11");
    assert_true(api_is_quiet(&f->api));
}

static void test_other_methods(void **state) {
    struct fixture *f = *state;
    static const char *const methods[] = {"GET", "HEAD", "PUT"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(net_say(&f->net, methods[i]));
        assert_true(net_say(&f->net, " " BIND " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
        assert_true(i == 1 ? net_hear_head(&f->net, &f->answer) : net_hear(&f->net, &f->answer));
        assert_int_equal(f->answer.status, 405);
        assert_contains(f->answer.head.p, "\r\nAllow: POST\r\n");
    }
}

/* ---- many, and the end ---- */

/* One thread is enough for many that wait, and each hears its own outcome. */
static void test_many_at_once(void **state) {
    struct fixture *f = *state;
    enum { MANY = 12 };
    struct net nets[MANY];
    struct api_call calls[MANY] = {{0}};
    char text[256];
    for (int i = 0; i < MANY; i++) {
        assert_true(net_open(&nets[i], served_address(&f->served)));
        (void)snprintf(text, sizeof text,
                       "{\"PodName\":\"web-%d\",\"PodNamespace\":\"default\",\"PodUID\":\"u-%d\","
                       "\"Node\":\"a\"}",
                       i, i);
        ask(&nets[i], text);
        (void)snprintf(text, sizeof text, "/api/v1/namespaces/default/pods/web-%d/binding", i);
        api_expect(&f->api, &calls[i], "POST", text);
    }
    for (int i = MANY; i-- > 0;) {
        (void)snprintf(text, sizeof text, "{\"kind\":\"Status\",\"message\":\"number %d\"}", i);
        api_answer(&calls[i], 403, "", text);
        (void)snprintf(text, sizeof text, "the API server says 403: number %d", i);
        expect_error(f, &nets[i], text);
        net_close(&nets[i]);
        api_call_done(&calls[i]);
    }
}

/* ---- keeping their order ---- */

enum { LANES = 4 };

/* Several calls, each on a connection of its own, and bindings that keep their order. */
struct lanes {
    struct fixture *f;
    struct net nets[LANES];
    struct api_call call;
};

static void lanes_open(struct lanes *l, struct fixture *f) {
    *l = (struct lanes){.f = f};
    f->x.reservations = RESERVATIONS_CONSERVATIVE;
    assert_int_equal(bind_queue_new(&f->x.bindings), 0);
    for (int i = 0; i < LANES; i++)
        assert_true(net_open(&l->nets[i], served_address(&f->served)));
}

static void lanes_close(struct lanes *l) {
    for (int i = 0; i < LANES; i++)
        net_close(&l->nets[i]);
    api_call_done(&l->call);
    bind_queue_free(l->f->x.bindings);
    l->f->x.bindings = NULL;
}

/* Filter has answered: pod `i` may land on both nodes. */
static void lane_expect(struct lanes *l, const char *namespace, int i) {
    const struct str nodes[] = {STR("a"), STR("b")};
    char uid[16];
    struct pod pod = cluster_pod(&l->f->c, "foo", "", "");
    (void)snprintf(uid, sizeof uid, "u-%d", i);
    pod.meta.uid = str_of(uid);
    pod.meta.namespace = str_of(namespace);
    cache_write_begin(l->f->c.cache);
    assert_int_equal(cache_expect(l->f->c.cache, &pod, nodes, 2, cache_doubts(l->f->c.cache)), 0);
    cache_write_end(l->f->c.cache);
}

static void lane_ask(struct lanes *l, const char *namespace, int i) {
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{\"PodName\":\"web-%d\",\"PodNamespace\":\"%s\",\"PodUID\":\"u-%d\","
                   "\"Node\":\"a\"}",
                   i, namespace, i);
    ask(&l->nets[i], text);
}

static void wait_for_reservations(struct fixture *f, uint32_t count) {
    int64_t until_ns = clock_now_ns() + 10000000000;
    while (cache_stats(f->c.cache).reservations != count)
        if (clock_now_ns() > until_ns)
            fail_msg("%u reservations", cache_stats(f->c.cache).reservations);
}

static void lane_posted(struct lanes *l, const char *namespace, int i) {
    char path[128];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/%s/pods/web-%d/binding", namespace, i);
    api_expect(&l->f->api, &l->call, "POST", path);
}

static void test_in_order(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    for (int i = 0; i < 3; i++) {
        lane_expect(&l, "default", i);
        lane_ask(&l, "default", i);
        wait_for_reservations(f, (uint32_t)i + 1); /* at once, though its turn is to come */
    }
    assert_int_equal(count_on_a(f), 3);
    for (int i = 0; i < 3; i++) {
        lane_posted(&l, "default", i);
        assert_true(api_is_quiet(&f->api));
        api_answer(&l.call, 201, "", "{}");
        expect_error(f, &l.nets[i], "");
    }
    lane_expect(&l, "default", 3); /* and nothing is left of them */
    lane_ask(&l, "default", 3);
    lane_posted(&l, "default", 3);
    api_answer(&l.call, 201, "", "{}");
    expect_error(f, &l.nets[3], "");
    lanes_close(&l);
}

static void test_other_namespaces_do_not_wait(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    struct api_call first = {0};
    lanes_open(&l, f);
    lane_expect(&l, "default", 0);
    lane_ask(&l, "default", 0);
    lane_posted(&l, "default", 0);
    first = l.call;
    l.call = (struct api_call){0};
    lane_expect(&l, "elsewhere", 1);
    lane_ask(&l, "elsewhere", 1);
    lane_posted(&l, "elsewhere", 1);
    api_answer(&l.call, 201, "", "{}");
    expect_error(f, &l.nets[1], "");
    api_answer(&first, 201, "", "{}");
    expect_error(f, &l.nets[0], "");
    api_call_done(&first);
    lanes_close(&l);
}

/* Filter is asked about pod `i` again, and leaves both nodes. */
static void lane_filter(struct lanes *l, const char *namespace, int i) {
    char text[256];
    struct net net;
    (void)snprintf(
        text, sizeof text,
        "{\"Pod\":{\"metadata\":{\"name\":\"web-%d\",\"namespace\":\"%s\",\"uid\":\"u-%d\","
        "\"labels\":{\"foo\":\"\"}}},\"NodeNames\":[\"a\",\"b\"]}",
        i, namespace, i);
    assert_true(net_open(&net, served_address(&l->f->served)));
    post(&net, FILTER, text);
    assert_true(net_hear(&net, &l->f->answer));
    assert_contains(l->f->answer.body.p, "\"NodeNames\":[\"a\",\"b\"]");
    net_close(&net);
}

/* Nobody knows whether it is bound: then it may be on its node, and may not. */
static void test_an_outcome_that_nobody_knows(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    f->x.bind_timeout_ms = 40; /* shorter than the pause before the next try */
    lane_expect(&l, "default", 0);
    lane_ask(&l, "default", 0);
    lane_posted(&l, "default", 0);
    assert_int_equal(count_on_a(f), 1);
    api_answer(&l.call, 500, "", "{\"kind\":\"Status\",\"message\":\"etcd\"}");
    expect_error(f, &l.nets[0], "the API server says 500: etcd");
    assert_int_equal(count_on_a(f), 0);
    assert_int_equal(cache_stats(f->c.cache).flights, 1);
    f->c.clock.at_ms += 1001;
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache);
    cache_write_end(f->c.cache);
    assert_int_equal(cache_stats(f->c.cache).flights, 0);
    lanes_close(&l);
}

/* kube-scheduler has given up waiting; the binding may land all the same. */
static void test_asked_again_while_it_is_bound(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    lane_expect(&l, "default", 0);
    lane_ask(&l, "default", 0);
    lane_posted(&l, "default", 0);
    lane_filter(&l, "default", 0);
    assert_int_equal(count_on_a(f), 1);
    f->c.clock.at_ms += 60000;
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache); /* nor does it run out */
    cache_write_end(f->c.cache);
    assert_int_equal(count_on_a(f), 1);
    api_answer(&l.call, 201, "", "{}");
    expect_error(f, &l.nets[0], "");
    assert_int_equal(count_on_a(f), 1);
    assert_int_equal(cache_stats(f->c.cache).flights, 0);
    lane_filter(&l, "default", 0); /* it is bound, though nobody has seen it yet */
    assert_int_equal(count_on_a(f), 1);
    assert_int_equal(cache_stats(f->c.cache).flights, 0);
    lanes_close(&l);
}

/* Two bindings of a pod at a time: the second one's node would count, and the first may land. */
static void test_a_second_binding_of_the_pod(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    lane_expect(&l, "default", 0);
    lane_ask(&l, "default", 0);
    lane_posted(&l, "default", 0);
    lane_filter(&l, "default", 0);
    ask(&l.nets[1], "{\"PodName\":\"web-0\",\"PodNamespace\":\"default\",\"PodUID\":\"u-0\","
                    "\"Node\":\"b\"}");
    expect_error(f, &l.nets[1], "the pod is being bound already, or is bound: try again");
    assert_int_equal(count_on_a(f), 1);
    lane_filter(&l, "default", 0);
    api_answer(&l.call, 403, "", "{\"kind\":\"Status\",\"message\":\"no\"}");
    expect_error(f, &l.nets[0], "the API server says 403: no");
    assert_int_equal(count_on_a(f), 0);
    lane_ask(&l, "default", 0); /* filtered while the first one counted */
    expect_error(f, &l.nets[0],
                 "another pod, which counted when this pod was filtered, could not be bound: "
                 "filter this pod again");
    assert_true(api_is_quiet(&f->api));
    lanes_close(&l);
}

/* Of a pod that filter has not judged here nothing is known: neither whom it counts nor who counts
 * it. */
static void test_not_filtered_here(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    lane_ask(&l, "default", 0);
    expect_error(
        f, &l.nets[0],
        "this Evenkeel has not filtered the pod, or filtered it too long ago: filter it again");
    assert_true(api_is_quiet(&f->api));
    lanes_close(&l);
}

/* Who was judged on a binding that fails is to be judged again, wherever it stands. */
static void test_a_failure_takes_followers_along(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    for (int i = 0; i < 3; i++)
        lane_expect(&l, "default", i);
    lane_ask(&l, "default", 0);
    lane_posted(&l, "default", 0);
    lane_ask(&l, "default", 1);
    wait_for_reservations(f, 2);
    api_answer(&l.call, 404, "", "{\"kind\":\"Status\",\"message\":\"gone\"}");
    expect_error(f, &l.nets[0], "the API server says 404: gone");
    expect_error(f, &l.nets[1],
                 "another pod, which counted when this pod was filtered, could not be bound: "
                 "filter this pod again");
    wait_for_reservations(f, 0);
    lane_ask(&l, "default", 2); /* filtered before the failure, bound after it */
    expect_error(f, &l.nets[2],
                 "another pod, which counted when this pod was filtered, could not be bound: "
                 "filter this pod again");
    assert_int_equal(cache_stats(f->c.cache).flights, 0);
    lane_expect(&l, "default", 2);
    lane_ask(&l, "default", 2);
    lane_posted(&l, "default", 2);
    api_answer(&l.call, 201, "", "{}");
    expect_error(f, &l.nets[2], "");
    lanes_close(&l);
}

/* It waited so long that its own time is over: then it is not bound behind the scheduler's back. */
static void test_waited_in_vain(void **state) {
    struct fixture *f = *state;
    struct lanes l;
    lanes_open(&l, f);
    lane_expect(&l, "default", 0);
    lane_ask(&l, "default", 0);
    lane_posted(&l, "default", 0);
    f->x.bind_timeout_ms = 0;
    lane_expect(&l, "default", 1);
    lane_ask(&l, "default", 1);
    wait_for_reservations(f, 2);
    api_answer(&l.call, 201, "", "{}");
    expect_error(f, &l.nets[0], "");
    expect_error(f, &l.nets[1], "no time left after other bindings of the namespace: try again");
    assert_true(api_is_quiet(&f->api));
    wait_for_reservations(f, 1);
    lanes_close(&l);
}

/* The scheduler has given up: the binding goes its way all the same. */
static void test_the_scheduler_has_gone(void **state) {
    struct fixture *f = *state;
    expect_pod(f);
    bind_pod(f);
    net_close(&f->net);
    expect_reserved(f, true);
    api_answer(&f->call, 403, "", "{}");
    wait_for_reservations(f, 0);
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 0);
}

/* The order of a shutdown: the listener, the client, the cache. */
static void test_the_end(void **state) {
    struct fixture *f = *state;
    expect_pod(f);
    bind_pod(f);
    http_listener_stop(f->served.listener, 0);
    f->served.listener = NULL;
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 503);
    kube_client_free(f->client);
    f->client = NULL;
    expect_reserved(f, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_bound),
        TEST(test_not_bound),
        TEST(test_bound_elsewhere),
        TEST(test_bound_already),
        TEST(test_nobody_knows),
        TEST(test_no_answer),
        TEST(test_a_reservation_of_filter),
        TEST(test_reservations_off),
        TEST(test_an_assumed_pod),
        TEST(test_names_that_cannot_be),
        TEST(test_no_api_server),
        TEST(test_requests_that_are_none),
        TEST(test_other_methods),
        TEST(test_many_at_once),
        TEST(test_in_order),
        TEST(test_other_namespaces_do_not_wait),
        TEST(test_an_outcome_that_nobody_knows),
        TEST(test_asked_again_while_it_is_bound),
        TEST(test_a_second_binding_of_the_pod),
        TEST(test_not_filtered_here),
        TEST(test_a_failure_takes_followers_along),
        TEST(test_waited_in_vain),
        TEST(test_the_scheduler_has_gone),
        TEST(test_the_end),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("bind", tests, NULL, NULL);
}
