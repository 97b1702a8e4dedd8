/* Old data: up to a limit it is used and its age is told, beyond that nothing is concluded. */
#include "base/log.h"
#include "base/metrics.h"
#include "cache/internal.h"
#include "unit/handlers/called.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"

#include <stdio.h>
#include <unistd.h>

#define BOTH CALLED_NODES("\"b\",\"x\"")
#define STALE "evenkeel_extender_no_opinion_total{reason=\"stale\"}"
#define STEPS "evenkeel_extender_no_opinion_total{reason=\"steps\"}"
#define LABELS "evenkeel_extender_no_opinion_total{reason=\"labels\"}"
#define MEMORY "evenkeel_extender_no_opinion_total{reason=\"memory\"}"

#define ANSWER(names, failed)                                                                      \
    "{\"Nodes\":null,\"NodeNames\":[" names "],\"FailedNodes\":{" failed                           \
    "},\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"

static const char some[] = ANSWER("\"x\"", "\"b\":\"over maxSkew on zone\"");
static const char all[] = ANSWER("\"b\",\"x\"", "");
static const char soft[] =
    "{\"Pod\":{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"labels\":{\"foo\":\"\"}},"
    "\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
    "\"whenUnsatisfiable\":\"ScheduleAnyway\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}]}"
    "},"
    "\"NodeNames\":[\"b\",\"x\"]}";
static const char scores[] = "[]"; /* no opinion */
static const char preemption[] =
    "{\"Pod\":" CALLED_POD ",\"NodeNameToMetaVictims\":{\"b\":{\"Pods\":[]},\"x\":{\"Pods\":[]}}}";

enum { LIMIT_MS = 180000, SECOND_MS = 1000 };

static int setup(void **state) {
    static struct called called;
    called_init(&called);
    called.x.stale_after_ms = LIMIT_MS;
    extender_metrics_start();
    *state = &called;
    return 0;
}

static int teardown(void **state) {
    extender_metrics_stop();
    called_done(*state);
    return 0;
}

/* Every kind was heard so long ago. */
static void age(struct called *called, int64_t age_ms) {
    for (int kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        cache_heard(called->c.cache, (enum object_kind)kind, called->c.clock.at_ms - age_ms);
}

static void test_fresh(void **state) {
    struct called *called = *state;
    age(called, 0);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_int_equal(called->response.data_age_ms, 0);
    age(called, 5 * SECOND_MS);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_int_equal(called->response.data_age_ms, 5 * SECOND_MS);
}

/* Files have no age. */
static void test_no_age(void **state) {
    struct called *called = *state;
    called->c.clock.at_ms += 10 * LIMIT_MS;
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_int_equal(called->response.data_age_ms, 0);
}

static void test_filter_at_the_limit(void **state) {
    struct called *called = *state;
    double before = metric_now(STALE);
    age(called, LIMIT_MS);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_true(metric_now(STALE) == before);
    age(called, LIMIT_MS + 1);
    call_expecting(called, extender_filter, BOTH, 200, all);
    assert_int_equal(called->response.data_age_ms, LIMIT_MS + 1);
    assert_true(metric_now(STALE) == before + 1);
    age(called, 0);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_true(metric_now(STALE) == before + 1);
}

/* One kind that is silent is enough. */
static void test_one_kind(void **state) {
    struct called *called = *state;
    age(called, 0);
    cache_heard(called->c.cache, OBJECT_NAMESPACE, called->c.clock.at_ms - LIMIT_MS - 1);
    call_expecting(called, extender_filter, BOTH, 200, all);
}

static void test_no_limit(void **state) {
    struct called *called = *state;
    called->x.stale_after_ms = 0;
    age(called, 100 * LIMIT_MS);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_int_equal(called->response.data_age_ms, 100 * LIMIT_MS);
}

static void test_prioritize(void **state) {
    struct called *called = *state;
    age(called, 0);
    call_handler(called, extender_prioritize, soft);
    assert_false(str_eq(strbuf_str(&called->response.text), str_of(scores)));
    age(called, LIMIT_MS + 1);
    double before = metric_now(STALE), memory = metric_now(MEMORY);
    call_expecting(called, extender_prioritize, soft, 200, scores);
    assert_int_equal(called->response.data_age_ms, LIMIT_MS + 1);
    assert_true(metric_now(STALE) == before + 1);
    assert_true(metric_now(MEMORY) == memory);
}

static void test_preempt(void **state) {
    struct called *called = *state;
    age(called, 0);
    call_handler(called, extender_preempt, preemption);
    assert_null(memmem(called->response.text.p, called->response.text.n, "\"b\"", 3));
    age(called, LIMIT_MS + 1);
    double before = metric_now(STALE);
    call_handler(called, extender_preempt, preemption);
    assert_int_equal(called->response.status, 200);
    assert_non_null(memmem(called->response.text.p, called->response.text.n, "\"b\"", 3));
    assert_non_null(memmem(called->response.text.p, called->response.text.n, "\"x\"", 3));
    assert_int_equal(called->response.data_age_ms, LIMIT_MS + 1);
    assert_true(metric_now(STALE) == before + 1);
}

/* A pod that takes more steps than a call may take, while writers wait, is not held up either. */
static void test_too_many_steps(void **state) {
    struct called *called = *state;
    struct engine_options options = *called->x.options;
    const struct engine_options *before = called->x.options;
    double counted = metric_now(STEPS);
    age(called, 0);
    options.max_steps = 1;
    called->x.options = &options;
    call_expecting(called, extender_filter, BOTH, 200, all);
    call_expecting(called, extender_prioritize, soft, 200, scores);
    call_handler(called, extender_preempt, preemption);
    assert_int_equal(called->response.status, 200);
    assert_non_null(memmem(called->response.text.p, called->response.text.n, "\"b\"", 3));
    assert_true(metric_now(STEPS) == counted + 3);
    called->x.options = before;
    call_expecting(called, extender_filter, BOTH, 200, some);
}

/* Nor is one that would count pods whose labels are not kept, as long as these are there. */
static void test_labels_that_are_not_kept(void **state) {
    struct called *called = *state;
    struct cache *cache = called->c.cache;
    double counted = metric_now(LABELS);
    age(called, 0);
    cache->options.max_label_bytes = 1;
    struct object large = cluster_object(
        &called->c, OBJECT_POD,
        "{\"metadata\":{\"name\":\"large\",\"namespace\":\"default\",\"labels\":{\"n\":\"1\"}},"
        "\"spec\":{\"nodeName\":\"b\"}}");
    cluster_apply(&called->c, &large);
    call_expecting(called, extender_filter, BOTH, 200, all);
    call_expecting(called, extender_prioritize, soft, 200, scores);
    call_handler(called, extender_preempt, preemption);
    assert_int_equal(called->response.status, 200);
    assert_non_null(memmem(called->response.text.p, called->response.text.n, "\"b\"", 3));
    assert_true(metric_now(LABELS) == counted + 3);
    cluster_remove(&called->c, &large);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_true(metric_now(LABELS) == counted + 3);
}

/* What is no request is refused, however old the data. */
static void test_not_even_a_request(void **state) {
    struct called *called = *state;
    double before = metric_now(STALE);
    age(called, LIMIT_MS + 1);
    call_handler(called, extender_filter, "{}");
    assert_non_null(memmem(called->response.text.p, called->response.text.n, "\"Error\":\"", 9));
    call_handler(called, extender_prioritize, "{}");
    assert_int_equal(called->response.status, 400);
    assert_true(metric_now(STALE) == before);
}

/* Before the first listing has ended there is no age that would excuse an answer. */
static void test_not_ready(void **state) {
    struct called *called = *state;
    struct cache *ready = called->c.cache, *empty;
    struct cache_options options = {.clock = &called->c.clock.clock};
    assert_int_equal(cache_new(&options, &empty, NULL), 0);
    called->x.cache = empty;
    cache_heard(empty, OBJECT_NODE, called->c.clock.at_ms - LIMIT_MS - 1);
    call_handler(called, extender_filter, BOTH);
    assert_non_null(memmem(called->response.text.p, called->response.text.n, "not ready", 9));
    call_handler(called, extender_prioritize, BOTH);
    assert_int_equal(called->response.status, 503);
    called->x.cache = ready;
    cache_free(empty);
}

/* A reservation from better days stays: nothing has been learnt since. */
static void test_reservations_stay(void **state) {
    struct called *called = *state;
    called->x.reservations = RESERVATIONS_SINGLE_NODE;
    age(called, 0);
    call_expecting(called, extender_filter, BOTH, 200, some);
    assert_int_equal(cache_stats(called->c.cache).reservations, 1);
    age(called, LIMIT_MS + 1);
    call_expecting(called, extender_filter, BOTH, 200, all);
    assert_int_equal(cache_stats(called->c.cache).reservations, 1);
    assert_int_equal(cache_stats(called->c.cache).flights, 0);
}

/* On the wire it is a header, in seconds. */
static void test_the_header(void **state) {
    struct called *called = *state;
    static const struct http_route row[] = {
        {"POST", "/filter", "filter", extender_filter, HTTP_JSON}};
    static const struct http_routes routes = HTTP_ROUTES(row);
    struct served served;
    struct net net;
    struct net_answer answer = {0};
    char request[1024];
    served_init(&served);
    served.options.services[0] = (struct http_service){&routes, &called->x, NULL};
    served_start(&served);
    assert_true(net_open(&net, served_address(&served)));
    (void)snprintf(request, sizeof request,
                   "POST /filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   strlen(BOTH), BOTH);
    age(called, LIMIT_MS + 507);
    assert_true(net_say(&net, request));
    assert_true(net_hear(&net, &answer));
    assert_contains(answer.head.p, "\r\nEvenkeel-Data-Age: 180.507\r\n");
    age(called, 0);
    assert_true(net_say(&net, request));
    assert_true(net_hear(&net, &answer));
    assert_null(strcasestr(answer.head.p, "Evenkeel-Data-Age"));
    net_answer_done(&answer);
    net_close(&net);
    served_done(&served);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_fresh),
        TEST(test_no_age),
        TEST(test_filter_at_the_limit),
        TEST(test_one_kind),
        TEST(test_no_limit),
        TEST(test_prioritize),
        TEST(test_preempt),
        TEST(test_too_many_steps),
        TEST(test_labels_that_are_not_kept),
        TEST(test_not_even_a_request),
        TEST(test_not_ready),
        TEST(test_reservations_stay),
        TEST(test_the_header),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("staleness", tests, NULL, NULL);
}
