/* The cache fed by watches of a fake API server. */
#include "cache/kube_source.h"

#include "base/log.h"
#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define META(name, version)                                                                        \
    "\"metadata\":{\"name\":\"" name "\",\"uid\":\"" name "\",\"resourceVersion\":\"" version "\""
#define NODE(name, version) "{" META(name, version) "}}"
#define POD(name, version, node)                                                                   \
    "{" META(name, version) ",\"namespace\":\"shop\"},\"spec\":{\"nodeName\":\"" node "\"}}"
#define SERIES(name, resource) "evenkeel_watch_" name "{resource=\"" resource "\"}"

enum { KINDS = 7 };

struct fixture {
    struct api api;
    struct api_call calls[KINDS]; /* of each kind, in this order */
    struct kube_access access;
    struct clock_fake clock;
    struct cache *cache;
    struct kube_client *client;
    struct kube_source *source;
};

static const char *const paths[KINDS] = {
    "/api/v1/nodes",
    "/api/v1/pods",
    "/api/v1/namespaces",
    "/api/v1/services",
    "/api/v1/replicationcontrollers",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
};
enum { NODES, PODS, NAMESPACES, SERVICES };

static int setup(void **state) {
    static struct fixture f;
    struct cache_options options = {.clock = &f.clock.clock};
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    assert_int_equal(cache_new(&options, &f.cache, NULL), 0);
    *state = &f;
    return 0;
}

static void finish(struct fixture *f) {
    kube_source_free(f->source);
    kube_client_free(f->client);
    f->client = NULL;
    f->source = NULL;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    finish(f);
    cache_free(f->cache);
    for (int i = 0; i < KINDS; i++)
        api_call_done(&f->calls[i]);
    api_done(&f->api);
    metrics_reset();
    return 0;
}

static void start(struct fixture *f, bool workloads) {
    struct err err;
    if (kube_client_new(&f->access, &f->clock.clock, &f->client, &err) != 0)
        fail_msg("%s", err.text);
    const struct kube_source_options options = {.cache = f->cache,
                                                .client = f->client,
                                                .clock = &f->clock.clock,
                                                .workloads = workloads,
                                                .seed = 1};
    if (kube_source_new(&options, &f->source, &err) != 0)
        fail_msg("%s", err.text);
}

static bool asks_for(const struct api_call *call, const char *path) {
    size_t n = strlen(path);
    return str_has_prefix(call->path, str_of(path)) && call->path.p[n] == '?';
}

static bool asks(const struct api_call *call, const char *part) {
    return memmem(call->path.p, call->path.n, part, strlen(part)) != NULL;
}

/* Takes the first request of so many kinds. */
static void take_all(struct fixture *f, int kinds) {
    struct api_call call = {0};
    for (int i = 0; i < kinds; i++) {
        api_take(&f->api, &call);
        int kind = 0;
        while (kind < kinds && !asks_for(&call, paths[kind]))
            kind++;
        assert_true(kind < kinds);
        assert_null(f->calls[kind].text.p);
        f->calls[kind] = call;
        call = (struct api_call){0};
    }
}

static void say(struct fixture *f, int kind, const char *text) {
    assert_true(api_say(&f->calls[kind], text));
}

/* Waits until the cache holds so many. */
static void expect_stats(struct fixture *f, uint32_t nodes, uint32_t pods, uint32_t namespaces) {
    int64_t until_ns = clock_now_ns() + 10000000000;
    for (;;) {
        struct cache_stats stats = cache_stats(f->cache);
        if (stats.nodes == nodes && stats.pods == pods && stats.namespaces == namespaces)
            return;
        if (clock_now_ns() > until_ns)
            fail_msg("%u nodes, %u pods, %u namespaces", stats.nodes, stats.pods, stats.namespaces);
        (void)sched_yield();
    }
}

/* Waits until the cache knows a node, or does not. */
static void expect_node(struct fixture *f, const char *name, bool known) {
    int64_t until_ns = clock_now_ns() + 10000000000;
    for (bool found = !known; found != known;) {
        struct cache_view view;
        cache_view_open(f->cache, &view);
        found = topology_find(&view.nodes, str_of(name)) != TOPOLOGY_NONE;
        cache_view_close(&view);
        if (found != known && clock_now_ns() > until_ns)
            fail_msg("node %s is %s", name, found ? "still known" : "not known");
        (void)sched_yield();
    }
}

static void expect_ready(struct fixture *f) {
    int64_t until_ns = clock_now_ns() + 10000000000;
    while (!cache_ready(f->cache)) {
        if (clock_now_ns() > until_ns)
            fail_msg("never ready");
        (void)sched_yield();
    }
}

/* One node, one pod on it and its namespace, as of version 7. */
static void come_into_sync(struct fixture *f) {
    start(f, false);
    take_all(f, 3);
    say(f, NODES, STREAM EVENT("ADDED", NODE("a", "5")) MARKER("7"));
    say(f, PODS, STREAM EVENT("ADDED", POD("p", "6", "a")) MARKER("7"));
    say(f, NAMESPACES, STREAM EVENT("ADDED", NODE("shop", "4")) MARKER("7"));
    expect_ready(f);
    expect_stats(f, 1, 1, 1);
}

/* ---- listing ---- */

static void test_what_is_asked_for(void **state) {
    struct fixture *f = *state;
    start(f, false);
    take_all(f, 3);
    assert_true(asks(&f->calls[PODS], "?fieldSelector=status.phase%21%3DSucceeded"
                                      "%2Cstatus.phase%21%3DFailed&"));
    assert_false(asks(&f->calls[NODES], "fieldSelector"));
    assert_true(api_is_quiet(&f->api));
}

/* Ready means every kind; until then what is there may be half of it. */
static void test_ready_after_the_last_kind(void **state) {
    struct fixture *f = *state;
    start(f, false);
    take_all(f, 3);
    say(f, PODS, STREAM EVENT("ADDED", POD("p", "6", "a")) MARKER("7"));
    say(f, NAMESPACES, STREAM EVENT("ADDED", NODE("shop", "4")) MARKER("7"));
    expect_stats(f, 0, 1, 1);
    metric_becomes(SERIES("bookmarks_total", "pods"), 1);
    metric_becomes(SERIES("bookmarks_total", "namespaces"), 1);
    assert_false(cache_ready(f->cache));
    say(f, NODES, STREAM EVENT("ADDED", NODE("a", "5")));
    expect_stats(f, 1, 1, 1);
    assert_false(cache_ready(f->cache));
    say(f, NODES, MARKER("7"));
    expect_ready(f);
}

static void test_workloads_too(void **state) {
    struct fixture *f = *state;
    start(f, true);
    take_all(f, KINDS);
    for (int i = 0; i < KINDS; i++)
        if (i != SERVICES)
            say(f, i, STREAM MARKER("7"));
    metric_becomes(SERIES("bookmarks_total", "statefulsets"), 1);
    metric_becomes(SERIES("bookmarks_total", "nodes"), 1);
    assert_false(cache_ready(f->cache));
    say(f, SERVICES,
        STREAM EVENT("ADDED", "{" META("s", "5") ",\"namespace\":\"shop\"},\"spec\":{\"selector\":{"
                                                 "\"app\":\"web\"}}}") MARKER("7"));
    expect_ready(f);
    assert_int_equal(cache_stats(f->cache).workloads, 1);
}

/* ---- changes ---- */

static void test_changes(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    say(f, PODS, EVENT("ADDED", POD("q", "8", "a")));
    expect_stats(f, 1, 2, 1);
    say(f, PODS, EVENT("DELETED", POD("p", "9", "a")));
    expect_stats(f, 1, 1, 1);
    say(f, NODES, EVENT("ADDED", NODE("b", "10")) EVENT("DELETED", NODE("a", "11")));
    expect_node(f, "b", true);
    expect_node(f, "a", false);
    say(f, NAMESPACES, EVENT("DELETED", NODE("shop", "12")));
    expect_stats(f, 1, 1, 0);
}

/* One that cannot be understood must not keep the others away. */
static void test_an_object_without_a_name(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    say(f, NODES, EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"8\"}}"));
    say(f, NODES, EVENT("ADDED", NODE("b", "9")));
    expect_stats(f, 2, 1, 1);
    metric_becomes(SERIES("refused_objects_total", "nodes"), 1);
    assert_int_equal(metric_now(SERIES("errors_total", "nodes")), 0);
}

/* A pod that any API server takes: thousands of labels. It counts; and what else is in an object
 * that is gone, even what no API server sends, must not keep its name from being read, for then
 * everything of its kind would be listed anew. */
static void test_hostile_objects_come_and_go(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    CLEANUP(strbuf_done) struct strbuf event = {0};
    strbuf_appendf(&event,
                   "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"h\","
                   "\"namespace\":\"shop\",\"uid\":\"h\",\"resourceVersion\":\"8\",\"labels\":{");
    for (int i = 0; i < 3000; i++)
        strbuf_appendf(&event, "%s\"l%d\":\"\"", i > 0 ? "," : "", i);
    strbuf_appendf(&event, "}},\"spec\":{\"nodeName\":\"a\"}}}\n");
    strbuf_append_char(&event, '\0');
    say(f, PODS, event.p);
    expect_stats(f, 1, 2, 1);
    say(f, PODS,
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"h\",\"namespace\":\"shop\","
        "\"uid\":\"h\",\"resourceVersion\":\"9\",\"labels\":{\"a\":7}},\"spec\":[]}}\n");
    expect_stats(f, 1, 1, 1);
    assert_int_equal(metric_now(SERIES("listings_total", "pods")), 1);
    assert_int_equal(metric_now(SERIES("refused_objects_total", "pods")), 0);
}

/* What was missed while the server had forgotten where we were shows in the next listing. */
static void test_listing_again(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    say(f, PODS, EVENT("ADDED", POD("q", "8", "a")));
    expect_stats(f, 1, 2, 1);
    say(f, PODS, EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"));
    api_wait_gone(&f->calls[PODS]);
    api_take(&f->api, &f->calls[PODS]);
    say(f, PODS, STREAM EVENT("ADDED", POD("q", "8", "a")));
    metric_becomes(SERIES("events_total", "pods"), 3);
    expect_stats(f, 1, 2, 1); /* nothing is forgotten before the listing has ended */
    say(f, PODS, MARKER("20"));
    expect_stats(f, 1, 1, 1);
    assert_true(cache_ready(f->cache));
}

/* ---- age and metrics ---- */

/* The oldest kind counts. */
static void test_age(void **state) {
    struct fixture *f = *state;
    come_into_sync(f);
    f->clock.at_ms += 4000;
    assert_int_equal(cache_age_ms(f->cache), 0); /* nobody has said so yet */
    kube_source_poll(f->source);
    assert_int_equal(cache_age_ms(f->cache), 4000);
    say(f, NODES, EVENT("BOOKMARK", NODE("", "8")));
    say(f, NAMESPACES, EVENT("BOOKMARK", NODE("", "8")));
    metric_becomes(SERIES("age_seconds", "nodes"), 0);
    metric_becomes(SERIES("age_seconds", "namespaces"), 0);
    kube_source_poll(f->source);
    assert_int_equal(cache_age_ms(f->cache), 4000);
    f->clock.at_ms += 1000;
    say(f, PODS, EVENT("BOOKMARK", NODE("", "8")));
    metric_becomes(SERIES("age_seconds", "pods"), 0);
    kube_source_poll(f->source);
    assert_int_equal(cache_age_ms(f->cache), 1000);
}

static void test_metrics(void **state) {
    struct fixture *f = *state;
    start(f, false);
    take_all(f, 3);
    assert_true(metric_now(SERIES("age_seconds", "nodes")) == -1);
    metric_becomes(SERIES("listings_total", "nodes"), 1);
    say(f, NODES, STREAM EVENT("ADDED", NODE("a", "5")) MARKER("7"));
    metric_becomes(SERIES("events_total", "nodes"), 1);
    assert_int_equal(metric_now(SERIES("opened_total", "nodes")), 0);
    assert_int_equal(metric_now(SERIES("events_total", "pods")), 0);
    f->clock.at_ms += 1500;
    assert_true(metric_now(SERIES("age_seconds", "nodes")) == 1.5);
    assert_true(metric_now(SERIES("events_total", "services")) == -1); /* there is none */
    finish(f);
    assert_true(metric_now(SERIES("events_total", "nodes")) == -1);
}

/* ---- the end ---- */

static void test_the_end_at_any_moment(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    for (int i = 0; i < 50; i++) {
        start(f, true);
        for (int pause = 0; pause < i; pause++)
            (void)sched_yield();
        finish(f);
    }
    assert_false(cache_ready(f->cache));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_asked_for),
        TEST(test_ready_after_the_last_kind),
        TEST(test_workloads_too),
        TEST(test_changes),
        TEST(test_an_object_without_a_name),
        TEST(test_hostile_objects_come_and_go),
        TEST(test_listing_again),
        TEST(test_age),
        TEST(test_metrics),
        TEST(test_the_end_at_any_moment),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("kube source", tests, NULL, NULL);
}
