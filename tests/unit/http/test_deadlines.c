/*
 * Slow clients against a real listener: each phase of a connection has its own absolute deadline.
 * Whoever sends a byte now and then gains nothing by it. The clock stands still but where a test
 * moves it, after the listener has taken all that was sent.
 */
#include "http/http.h"
#include "http/listener.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

enum { SHORT_MS = 150, LONG_MS = 60000, DRIP_MS = 30 };

static const char closes[] = "evenkeel_http_deadline_closes_total{listener=\"test\"}";
static const char connections[] = "evenkeel_http_connections{listener=\"test\"}";
static const char in_flight[] = "evenkeel_http_requests_in_flight{listener=\"test\"}";
static const char body_bytes[] = "evenkeel_http_request_body_bytes_total{listener=\"test\"}";

static struct clock_fake now;

/* A listener and a connection to it. */
struct visit {
    struct served served;
    struct net net;
    struct net_answer answer; /* the last one */
    int64_t deadline_ms;      /* the one that expect_closed() is about */
};

/* A listener whose deadlines are far away where `limits` says 0. */
static void prepare(struct visit *v, struct http_limits limits) {
    *v = (struct visit){.answer = {0}};
    served_init(&v->served);
    clock_fake_init(&now, 1000000);
    v->served.clock = &now.clock;
    v->served.options.threads = 1;
    v->served.options.limits = (struct http_limits){
        .body_bytes = 20000000,
        .bodies_in_flight = 20000000,
        .connections = 4,
        .connections_per_address = 4,
        .header_ms = limits.header_ms > 0 ? limits.header_ms : LONG_MS,
        .request_ms = limits.request_ms > 0 ? limits.request_ms : LONG_MS,
        .idle_ms = limits.idle_ms > 0 ? limits.idle_ms : LONG_MS,
    };
}

static void start(struct visit *v) {
    served_start(&v->served);
    assert_true(net_open(&v->net, served_address(&v->served)));
    metric_becomes(connections, 1);
}

static void begin(struct visit *v, struct http_limits limits) {
    prepare(v, limits);
    start(v);
}

/* From now on, `after_ms` are left to the client. */
static void set_deadline(struct visit *v, int64_t after_ms) {
    v->deadline_ms = now.at_ms + after_ms;
}

static unsigned closed_at(struct visit *v, int64_t at_ms) {
    now.at_ms = at_ms;
    (void)watchdog_check(v->served.listener->watchdog); /* its thread may have been quicker */
    return (unsigned)metric_now(closes);
}

/* Sends a byte every DRIP_MS until that time, which is before the deadline. */
static void drip_until(struct visit *v, char byte, int64_t until_ms) {
    while (now.at_ms < until_ms) {
        int64_t next_ms = now.at_ms + DRIP_MS;
        assert_true(net_send(&v->net, &byte, 1));
        served_catch_up(&v->served);
        assert_int_equal(closed_at(v, next_ms < until_ms ? next_ms : until_ms), 0);
    }
}

/* The connection is open until the deadline, and then it is closed. */
static void expect_closed(struct visit *v) {
    assert_int_equal(closed_at(v, v->deadline_ms - 1), 0);
    assert_int_equal(closed_at(v, v->deadline_ms), 1);
    assert_true(net_ended(&v->net));
}

static void drip(struct visit *v, char byte) {
    drip_until(v, byte, v->deadline_ms - 1);
    expect_closed(v);
}

static void finish(struct visit *v, double closed) {
    metric_becomes(closes, closed);
    metric_becomes(connections, 0);
    net_answer_done(&v->answer);
    net_close(&v->net);
    served_done(&v->served);
}

static void test_slow_headers(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    set_deadline(&v, SHORT_MS);
    assert_true(net_say(&v.net, "GET /hello HTTP/1.1\r\nX-Slow: "));
    drip(&v, 'x');
    finish(&v, 1);
}

/* The first headers count from the beginning of the connection, not from their first line. */
static void test_slow_request_line_and_headers(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    set_deadline(&v, SHORT_MS);
    assert_true(net_say(&v.net, "GET /"));
    drip_until(&v, 'x', now.at_ms + SHORT_MS * 2 / 3);
    assert_true(net_say(&v.net, " HTTP/1.1\r\nX-Slow: "));
    drip(&v, 'x');
    finish(&v, 1);
}

static void test_nothing_at_all(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    set_deadline(&v, SHORT_MS);
    expect_closed(&v);
    finish(&v, 1);
}

/* By the machine's clock, and without the test's help. */
static void test_real_time(void **state) {
    (void)state;
    struct visit v;
    prepare(&v, (struct http_limits){.header_ms = SHORT_MS});
    v.served.clock = clock_real();
    served_start(&v.served);
    assert_true(net_open(&v.net, served_address(&v.served)));
    assert_true(net_ended(&v.net));
    finish(&v, 1);
}

static void test_slow_body(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.request_ms = SHORT_MS});
    set_deadline(&v, SHORT_MS);
    assert_true(
        net_say(&v.net, "POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nx"));
    metric_becomes(body_bytes, 1);
    drip(&v, 'x');
    finish(&v, 1);
}

/* The answer does not fit into the socket's buffers, and nobody reads it. */
static void test_slow_reader(void **state) {
    (void)state;
    struct visit v;
    const size_t n = 16000000;
    begin(&v, (struct http_limits){.request_ms = SHORT_MS});
    set_deadline(&v, SHORT_MS);
    char *body = calloc(1, n);
    assert_non_null(body);
    assert_true(
        net_say(&v.net, "POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n"));
    assert_true(net_send(&v.net, body, n));
    free(body);
    served_catch_up(&v.served);
    assert_int_equal(closed_at(&v, v.deadline_ms - 1), 0);
    assert_int_equal(closed_at(&v, v.deadline_ms), 1);
    assert_false(net_hear(&v.net, &v.answer)); /* what comes now is cut short */
    finish(&v, 1);
}

/* An answer has been read, and the connection is idle. */
static void post(struct visit *v, unsigned idle_ms) {
    assert_true(net_post(&v->net, "/echo", 2, &v->answer));
    assert_int_equal(v->answer.status, 200);
    metric_becomes(in_flight, 0);
    set_deadline(v, idle_ms);
}

static void test_idle_connection(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.idle_ms = SHORT_MS});
    post(&v, SHORT_MS);
    expect_closed(&v);
    finish(&v, 1);
}

/* A next request whose first line never ends counts as idle. */
static void test_slow_second_request_line(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.idle_ms = SHORT_MS});
    post(&v, SHORT_MS);
    assert_true(net_say(&v.net, "GET /"));
    drip(&v, 'x');
    finish(&v, 1);
}

/* They count from their request line. */
static void test_slow_second_headers(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    post(&v, LONG_MS);
    assert_int_equal(closed_at(&v, now.at_ms + 10 * SHORT_MS), 0);
    set_deadline(&v, SHORT_MS);
    assert_true(net_say(&v.net, "GET /hello HTTP/1.1\r\nX-Slow: "));
    metric_becomes(in_flight, 1);
    drip(&v, 'x');
    finish(&v, 1);
}

static void test_slow_handshake(void **state) {
    (void)state;
    struct visit v;
    struct pki pki;
    pki_init(&pki);
    pki_make(&pki, &(struct pki_wish){.name = "server", .cn = "server"});
    prepare(&v, (struct http_limits){.header_ms = SHORT_MS});
    v.served.options.tls.cert_file = pki_path(&pki, "server.pem");
    v.served.options.tls.key_file = pki_path(&pki, "server.key");
    start(&v);
    set_deadline(&v, SHORT_MS);
    assert_true(net_send(&v.net, "\x16\x03\x01\x40\x00", 5)); /* a record of 16 KiB to come */
    drip(&v, '\0');
    finish(&v, 1);
    pki_done(&pki);
}

/* Requests that are in time are left alone, however many follow each other. */
static void test_busy_connection_stays(void **state) {
    (void)state;
    struct visit v;
    begin(&v,
          (struct http_limits){.header_ms = SHORT_MS, .request_ms = SHORT_MS, .idle_ms = SHORT_MS});
    for (int i = 0; i < 20; i++) {
        post(&v, SHORT_MS);
        assert_int_equal(closed_at(&v, v.deadline_ms - 1), 0);
    }
    net_close(&v.net);
    finish(&v, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_headers),
        cmocka_unit_test(test_slow_request_line_and_headers),
        cmocka_unit_test(test_nothing_at_all),
        cmocka_unit_test(test_real_time),
        cmocka_unit_test(test_slow_body),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_idle_connection),
        cmocka_unit_test(test_slow_second_request_line),
        cmocka_unit_test(test_slow_second_headers),
        cmocka_unit_test(test_slow_handshake),
        cmocka_unit_test(test_busy_connection_stays),
    };
    return cmocka_run_group_tests_name("deadlines", tests, NULL, NULL);
}
