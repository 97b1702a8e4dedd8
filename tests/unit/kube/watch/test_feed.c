/* A watched kind: what it waits for, and the metrics that it has. */
#include "base/log.h"
#include "kube/watch/feed.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <sched.h>

#define AGE "evenkeel_watch_age_seconds{resource=\"nodes\"}"
#define ABSENT "evenkeel_watch_absent{resource=\"topologypolicies\"}"

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct clock_fake clock;
    struct kube_client *client;
    struct feed feed;
};

static void nothing(void *ctx) {
    (void)ctx;
}

static int take(void *ctx, struct str object, struct err *err) {
    (void)ctx;
    (void)object;
    (void)err;
    return 0;
}

static void start_required(struct fixture *f, enum kind_row kind, bool required) {
    const struct feed_options options = {.kind = &watched_kinds[kind],
                                         .client = f->client,
                                         .clock = &f->clock.clock,
                                         .sink = {.ctx = f,
                                                  .sync_begin = nothing,
                                                  .sync_end = nothing,
                                                  .apply = take,
                                                  .remove = take},
                                         .seed = 1,
                                         .required = required};
    assert_int_equal(feed_start(&f->feed, &options, NULL), 0);
}

static void start(struct fixture *f, enum kind_row kind) {
    start_required(f, kind, false);
}

static int setup(void **state) {
    static struct fixture f;
    log_setup(LOG_ERROR, LOG_LOGFMT, 2);
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    clock_fake_init(&f.clock, 1000000);
    assert_int_equal(kube_client_new(&f.access, &f.clock.clock, &f.client, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    feed_stop(&f->feed);
    kube_client_free(f->client);
    api_call_done(&f->call);
    api_done(&f->api);
    metrics_reset();
    return 0;
}

/* Waits until the figures say so. */
static void wait_for(struct fixture *f, bool (*has)(const struct reflector_stats *stats)) {
    int64_t until_ms = clock_real()->now_ms(clock_real()) + 60000;
    struct reflector_stats stats;
    for (;;) {
        assert_true(feed_stats(&f->feed, &stats));
        if (has(&stats))
            return;
        if (clock_real()->now_ms(clock_real()) > until_ms)
            fail_msg("it has not come to that");
        (void)sched_yield();
    }
}

static bool has_failed(const struct reflector_stats *stats) {
    return stats->errors > 0;
}

static bool has_synced(const struct reflector_stats *stats) {
    return stats->synced;
}

/* ---- tests ---- */

static void test_not_started(void **state) {
    struct fixture *f = *state;
    struct reflector_stats stats;
    assert_false(feed_started(&f->feed));
    assert_false(feed_stats(&f->feed, &stats));
    assert_true(feed_listed(&f->feed)); /* it waits for nothing */
    assert_true(feed_synced(&f->feed));
    assert_true(feed_complete(&f->feed));
    feed_stop(&f->feed);
}

/* One that has been tried and has failed: waiting longer would not help, and it is not whole. */
static void test_a_listing_that_fails(void **state) {
    struct fixture *f = *state;
    start(f, KIND_NODE);
    assert_true(feed_started(&f->feed));
    assert_false(feed_listed(&f->feed));
    assert_false(feed_synced(&f->feed));
    api_expect(&f->api, &f->call, "GET", "/api/v1/nodes?*");
    api_answer(&f->call, 403, "", "{}");
    wait_for(f, has_failed);
    assert_true(feed_listed(&f->feed));
    assert_false(feed_synced(&f->feed));
    assert_false(feed_complete(&f->feed));
    assert_true(metric_now("evenkeel_watch_errors_total{resource=\"nodes\"}") == 1);
}

static void test_a_listing(void **state) {
    struct fixture *f = *state;
    start(f, KIND_NODE);
    api_expect(&f->api, &f->call, "GET", "/api/v1/nodes?*");
    assert_true(api_say(&f->call, STREAM MARKER("10")));
    wait_for(f, has_synced);
    assert_true(feed_listed(&f->feed));
    assert_true(feed_synced(&f->feed));
}

/* An API server that does not know watch-lists is asked for a list, which is waited for. */
static void test_a_listing_without_watch_lists(void **state) {
    struct fixture *f = *state;
    start(f, KIND_NODE);
    api_expect(&f->api, &f->call, "GET", "/api/v1/nodes?watch=1*");
    api_answer(&f->call, 422, "", "{}");
    api_expect(&f->api, &f->call, "GET", "/api/v1/nodes?limit=*");
    assert_false(feed_listed(&f->feed));
    assert_true(metric_now("evenkeel_watch_errors_total{resource=\"nodes\"}") == 0);
    api_answer(&f->call, 422, "", "{}"); /* a list is known everywhere */
    wait_for(f, has_failed);
    assert_true(feed_listed(&f->feed));
}

/* A kind that nobody has installed is listed: there is none of it. */
static void test_a_kind_that_is_not_installed(void **state) {
    struct fixture *f = *state;
    start(f, KIND_TOPOLOGY_POLICY);
    assert_true(metric_now(ABSENT) == 0);
    api_take(&f->api, &f->call);
    api_answer(&f->call, 404, "", "404 page not found\n");
    wait_for(f, has_synced);
    assert_true(feed_listed(&f->feed));
    assert_true(feed_synced(&f->feed));
    assert_true(metric_now(ABSENT) == 1);
    assert_true(metric_now("evenkeel_watch_errors_total{resource=\"topologypolicies\"}") == 0);
    assert_true(feed_complete(&f->feed)); /* it never was there */
}

/* ... unless somebody needs it: then the API server is not whole. */
static void test_a_required_kind_that_is_not_installed(void **state) {
    struct fixture *f = *state;
    start_required(f, KIND_TOPOLOGY_POLICY, true);
    api_take(&f->api, &f->call);
    api_answer(&f->call, 404, "", "404 page not found\n");
    wait_for(f, has_failed);
    assert_true(feed_listed(&f->feed));
    assert_false(feed_synced(&f->feed));
    assert_false(feed_complete(&f->feed));
}

/* Seconds since the API server was heard, -1 before that; gone with the watch, and back with it. */
static void test_the_age(void **state) {
    struct fixture *f = *state;
    start(f, KIND_NODE);
    assert_true(metric_now(AGE) == -1);
    api_expect(&f->api, &f->call, "GET", "/api/v1/nodes?*");
    assert_true(api_say(&f->call, STREAM MARKER("10")));
    wait_for(f, has_synced);
    assert_true(metric_now(AGE) == 0);
    f->clock.at_ms += 2500;
    assert_true(metric_now(AGE) == 2.5);
    feed_stop(&f->feed);
    assert_false(feed_started(&f->feed));
    CLEANUP(strbuf_done) struct strbuf text = {0};
    metrics_render(&text);
    assert_non_null(text.p); /* the client's */
    assert_null(memmem(text.p, text.n, "evenkeel_watch_", strlen("evenkeel_watch_")));
    start(f, KIND_NODE);
    assert_true(metric_now(AGE) == -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(not_started),
        TEST(a_listing_that_fails),
        TEST(a_listing),
        TEST(a_kind_that_is_not_installed),
        TEST(the_age),
        TEST(a_listing_without_watch_lists),
        TEST(a_required_kind_that_is_not_installed),
    };
    return cmocka_run_group_tests_name("kube/feed", tests, NULL, NULL);
}
