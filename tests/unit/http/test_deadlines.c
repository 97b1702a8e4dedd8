/*
 * Slow clients against a real listener: each phase of a connection has its own absolute deadline.
 * Whoever sends a byte now and then gains nothing by it.
 */
#include "http/http.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <poll.h>
#include <sys/socket.h>

enum { SHORT_MS = 150, LONG_MS = 60000, DRIP_MS = 10 };

static const char closes[] = "evenkeel_http_deadline_closes_total{listener=\"test\"}";

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

/* Sends `byte` every DRIP_MS until the other side closes; returns how long that took. */
static int64_t drip(struct net *net, char byte) {
    int64_t begun_ms = now_ms();
    struct pollfd p = {net->fd, POLLIN, 0};
    while (poll(&p, 1, DRIP_MS) == 0) {
        if (now_ms() - begun_ms > 5000)
            fail_msg("still open after 5 s");
        (void)send(net->fd, &byte, 1, MSG_NOSIGNAL); /* it may have been closed just now */
    }
    assert_true(net_ended(net));
    return now_ms() - begun_ms;
}

/* A listener and a connection to it. */
struct visit {
    struct served served;
    struct net net;
    struct net_answer answer; /* the last one */
};

/* A listener whose deadlines are far away where `limits` says 0. */
static void prepare(struct visit *v, struct http_limits limits) {
    *v = (struct visit){.answer = {0}};
    served_init(&v->served);
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
}

static void begin(struct visit *v, struct http_limits limits) {
    prepare(v, limits);
    start(v);
}

static void finish(struct visit *v, double closed) {
    metric_becomes(closes, closed);
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 0);
    net_answer_done(&v->answer);
    net_close(&v->net);
    served_done(&v->served);
}

static void test_slow_headers(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    assert_true(net_say(&v.net, "GET /hello HTTP/1.1\r\nX-Slow: "));
    assert_true(drip(&v.net, 'x') >= SHORT_MS - DRIP_MS);
    finish(&v, 1);
}

/* The first headers count from the beginning of the connection, not from their first line. */
static void test_slow_request_line_and_headers(void **state) {
    (void)state;
    struct visit v;
    int64_t begun_ms = now_ms();
    begin(&v, (struct http_limits){.header_ms = 1000});
    struct pollfd p = {v.net.fd, POLLIN, 0};
    assert_true(net_say(&v.net, "GET /"));
    while (now_ms() - begun_ms < 700) {
        assert_int_equal(poll(&p, 1, DRIP_MS), 0);
        assert_true(net_say(&v.net, "x"));
    }
    assert_true(net_say(&v.net, " HTTP/1.1\r\nX-Slow: "));
    (void)drip(&v.net, 'x');
    assert_in_range(now_ms() - begun_ms, 990, 1600);
    finish(&v, 1);
}

static void test_nothing_at_all(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    assert_true(net_ended(&v.net));
    finish(&v, 1);
}

static void test_slow_body(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.request_ms = SHORT_MS});
    assert_true(net_say(&v.net, "POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"));
    assert_true(drip(&v.net, 'x') >= SHORT_MS - DRIP_MS);
    finish(&v, 1);
}

/* The answer does not fit into the socket's buffers, and nobody reads it. */
static void test_slow_reader(void **state) {
    (void)state;
    struct visit v;
    const size_t n = 16000000;
    begin(&v, (struct http_limits){.request_ms = 500});
    char *body = calloc(1, n);
    assert_non_null(body);
    assert_true(
        net_say(&v.net, "POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n"));
    assert_true(net_send(&v.net, body, n));
    free(body);
    metric_becomes(closes, 1);
    assert_false(net_hear(&v.net, &v.answer)); /* what comes now is cut short */
    finish(&v, 1);
}

static void test_idle_connection(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.idle_ms = SHORT_MS});
    assert_true(net_post(&v.net, "/echo", 2, &v.answer));
    int64_t begun_ms = now_ms();
    assert_true(net_ended(&v.net));
    assert_true(now_ms() - begun_ms >= SHORT_MS - 20);
    finish(&v, 1);
}

/* A next request whose first line never ends counts as idle. */
static void test_slow_second_request_line(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.idle_ms = SHORT_MS});
    assert_true(net_post(&v.net, "/echo", 2, &v.answer));
    assert_true(net_say(&v.net, "GET /"));
    assert_true(drip(&v.net, 'x') >= SHORT_MS - DRIP_MS - 20);
    finish(&v, 1);
}

static void test_slow_second_headers(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = SHORT_MS});
    assert_true(net_post(&v.net, "/echo", 2, &v.answer));
    assert_true(net_say(&v.net, "GET /hello HTTP/1.1\r\nX-Slow: "));
    assert_true(drip(&v.net, 'x') >= SHORT_MS - DRIP_MS);
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
    assert_true(net_send(&v.net, "\x16\x03\x01\x40\x00", 5)); /* a record of 16 KiB to come */
    assert_true(drip(&v.net, '\0') >= SHORT_MS - DRIP_MS);
    finish(&v, 1);
    pki_done(&pki);
}

/* Requests that are in time are left alone, however many follow each other. */
static void test_busy_connection_stays(void **state) {
    (void)state;
    struct visit v;
    begin(&v, (struct http_limits){.header_ms = 2000, .request_ms = 2000, .idle_ms = 2000});
    int64_t begun_ms = now_ms();
    while (now_ms() - begun_ms < 2200) {
        assert_true(net_post(&v.net, "/echo", 100, &v.answer));
        assert_int_equal(v.answer.status, 200);
    }
    net_close(&v.net);
    finish(&v, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_headers),
        cmocka_unit_test(test_slow_request_line_and_headers),
        cmocka_unit_test(test_nothing_at_all),
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
