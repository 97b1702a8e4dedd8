/* What a filter answer leaves behind: where its pod may land, until that is known better. */
#include "base/log.h"
#include "unit/handlers/called.h"

#include <unistd.h>

#define ONE CALLED_NODES("\"b\",\"x\"")  /* only x passes */
#define TWO CALLED_NODES("\"x\",\"y\"")  /* both pass */
#define NONE CALLED_NODES("\"a\",\"b\"") /* none does */

static int setup(void **state) {
    static struct called called;
    called_init(&called);
    called.x.reservations = RESERVATIONS_SINGLE_NODE;
    *state = &called;
    return 0;
}

static int teardown(void **state) {
    called_done(*state);
    return 0;
}

static void ask(struct called *called, const char *body, uint32_t reservations, uint32_t flights) {
    call_handler(called, extender_filter, body);
    assert_int_equal(called->response.status, 200);
    struct cache_stats stats = cache_stats(called->c.cache);
    assert_int_equal(stats.reservations, reservations);
    assert_int_equal(stats.flights, flights);
}

/* Pods with the label foo that count on a node. */
static uint32_t count_on(struct called *called, const char *node) {
    struct selector selector = cluster_selector(&called->c, "{\"matchLabels\":{\"foo\":\"\"}}");
    struct cache_view view;
    const uint32_t *counts;
    cache_view_open(called->c.cache, &view);
    assert_int_equal(cache_counter(&view, STR("default"), &selector, &counts), 0);
    uint32_t count = counts[topology_find(&view.nodes, str_of(node))];
    cache_view_close(&view);
    return count;
}

static void test_off(void **state) {
    struct called *called = *state;
    called->x.reservations = RESERVATIONS_OFF;
    ask(called, ONE, 0, 0);
    ask(called, TWO, 0, 0);
}

static void test_one_node(void **state) {
    struct called *called = *state;
    ask(called, ONE, 1, 0);
    assert_int_equal(count_on(called, "x"), 1);
    assert_int_equal(count_on(called, "b"), 0);
}

static void test_two_nodes(void **state) {
    struct called *called = *state;
    ask(called, TWO, 0, 1);
    assert_int_equal(count_on(called, "x") + count_on(called, "y"), 0);
}

/* Its own reservation must not be held against the pod: with it, zone2 would be full. */
static void test_asked_again(void **state) {
    struct called *called = *state;
    for (int i = 0; i < 3; i++) {
        ask(called, ONE, 1, 0);
        assert_non_null(
            memmem(called->response.text.p, called->response.text.n, "\"NodeNames\":[\"x\"]", 17));
    }
    ask(called, TWO, 0, 1);
    assert_int_equal(count_on(called, "x"), 0);
    ask(called, ONE, 1, 0);
    assert_int_equal(count_on(called, "x"), 1);
}

/* It lands nowhere: the answers before are void. */
static void test_asked_again_and_no_node_is_left(void **state) {
    struct called *called = *state;
    ask(called, ONE, 1, 0);
    ask(called, NONE, 0, 0);
    assert_int_equal(count_on(called, "x"), 0);
    ask(called, TWO, 0, 1);
    ask(called, NONE, 0, 0);
}

/* In conservative mode another pod must keep away from where this one may land. */
static void test_conservative(void **state) {
    struct called *called = *state;
    static const char other[] =
        "{\"Pod\":{\"metadata\":{\"name\":\"second\",\"namespace\":\"default\",\"uid\":\"u-2\","
        "\"labels\":{\"foo\":\"\"}},\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,"
        "\"topologyKey\":\"node\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{"
        "\"matchLabels\":{\"foo\":\"\"}}}]}},\"NodeNames\":[\"x\",\"b\"]}";
    called->c.options.count_flights = true;
    called->x.reservations = RESERVATIONS_CONSERVATIVE;
    ask(called, TWO, 0, 1);
    ask(called, other, 0, 2); /* the only node left, but it may not land at all */
    assert_non_null(
        memmem(called->response.text.p, called->response.text.n, "\"NodeNames\":[\"b\"]", 17));
    ask(called, NONE, 0, 1); /* the first one lands nowhere after all */
    ask(called, other, 0, 1);
    assert_non_null(memmem(called->response.text.p, called->response.text.n,
                           "\"NodeNames\":[\"x\",\"b\"]", 21));
}

static void bind_begins(struct called *called, const char *node) {
    const struct object_meta pod = {.uid = STR("u")};
    cache_write_begin(called->c.cache);
    assert_int_equal(cache_bind_begin(called->c.cache, &pod, str_of(node)), 0);
    cache_write_end(called->c.cache);
}

/* kube-scheduler does not wait any longer; the binding may land all the same. */
static void test_asked_again_while_it_is_bound(void **state) {
    struct called *called = *state;
    ask(called, ONE, 1, 0);
    bind_begins(called, "x");
    ask(called, ONE, 1, 1); /* that it may land there is noted, too */
    assert_non_null(
        memmem(called->response.text.p, called->response.text.n, "\"NodeNames\":[\"x\"]", 17));
    ask(called, NONE, 1, 0);
    assert_int_equal(count_on(called, "x"), 1);
}

/* Nothing is concluded from data that is too old, and every node passes. Where the pod may land is
 * known all the same, so that it can be bound. */
static void test_stale(void **state) {
    struct called *called = *state;
    called->x.reservations = RESERVATIONS_CONSERVATIVE;
    called->x.stale_after_ms = 1000;
    for (int kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        cache_heard(called->c.cache, (enum object_kind)kind, called->c.clock.at_ms - 1001);
    ask(called, NONE, 0, 1);
    bind_begins(called, "b");
}

/* What an earlier process has sent to the API server is not known here. */
static void test_not_settled(void **state) {
    struct called *called = *state;
    static const char plain[] =
        "{\"Pod\":{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\","
        "\"uid\":\"u\"}},\"NodeNames\":[\"a\",\"b\"]}";
    called->x.reservations = RESERVATIONS_CONSERVATIVE;
    called->x.settled_ms = INT64_MAX;
    ask(called, TWO, 0, 0);
    assert_non_null(memmem(called->response.text.p, called->response.text.n,
                           "\"Error\":\"Evenkeel started just now: ", 36));
    ask(called, plain, 0, 1); /* no hard constraint is concerned */
    called->x.settled_ms = clock_real()->now_ms(clock_real());
    ask(called, TWO, 0, 1);
}

static void test_an_unknown_node(void **state) {
    struct called *called = *state;
    static const char body[] = "{\"Pod\":{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\","
                               "\"uid\":\"u\"}},\"NodeNames\":[\"nowhere\"]}";
    ask(called, body, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_off),
        TEST(test_one_node),
        TEST(test_two_nodes),
        TEST(test_asked_again),
        TEST(test_asked_again_and_no_node_is_left),
        TEST(test_conservative),
        TEST(test_asked_again_while_it_is_bound),
        TEST(test_stale),
        TEST(test_not_settled),
        TEST(test_an_unknown_node),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("filter's reservations", tests, NULL, NULL);
}
