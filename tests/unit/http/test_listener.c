/*
 * Listeners over plain HTTP, by raw bytes: routing, errors, limits, answers, starting and stopping.
 */
#include "base/limits.h"
#include "base/metrics.h"
#include "http/http.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

struct all {
    struct served served;
    struct net net;
    struct net_answer answer;
};

static struct all *prepare(void) {
    struct all *a = calloc(1, sizeof *a);
    assert_non_null(a);
    served_init(&a->served);
    a->net.fd = -1;
    return a;
}

static struct all *begin(void) {
    struct all *a = prepare();
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    return a;
}

static void end(struct all *a) {
    net_answer_done(&a->answer);
    net_close(&a->net);
    served_done(&a->served);
    free(a);
}

/* Sends text and expects an answer with this status on the same connection. */
static void ask(struct all *a, const char *text, int status) {
    assert_true(net_say(&a->net, text));
    assert_true(net_hear(&a->net, &a->answer));
    assert_int_equal(a->answer.status, status);
}

/* The connection has ended, as it does after chunks; here is another. */
static void reopen(struct all *a) {
    assert_true(net_ended(&a->net));
    net_close(&a->net);
    assert_true(net_open(&a->net, served_address(&a->served)));
}

#define HOST "Host: test\r\n"
#define JSON HOST "Content-Type: application/json\r\n"

static void test_two_requests_on_one_connection(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 7\r\n\r\n{\"a\":1}", 200);
    assert_str(strbuf_str(&a->answer.body), "{\"a\":1}");
    assert_contains(a->answer.head.p, "\r\nContent-Length: 7\r\n");
    assert_contains(a->answer.head.p, "\r\nContent-Type: application/json\r\n");
    assert_null(strstr(a->answer.head.p, "Connection: close"));
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
    assert_str(strbuf_str(&a->answer.body), "hello\n");
    assert_contains(a->answer.head.p, "\r\nContent-Type: text/plain; charset=utf-8\r\n");
    assert_int_equal(a->net.in.n, 0);
    end(a);
}

static void test_pipelined_requests_are_answered_in_order(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a,
        "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 1\r\n\r\n1"
        "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 1\r\n\r\n2",
        200);
    assert_str(strbuf_str(&a->answer.body), "1");
    assert_true(net_hear(&a->net, &a->answer));
    assert_str(strbuf_str(&a->answer.body), "2");
    end(a);
}

static void test_empty_body(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 0\r\n\r\n", 200);
    assert_str(strbuf_str(&a->answer.body), "");
    assert_contains(a->answer.head.p, "\r\nContent-Length: 0\r\n");
    end(a);
}

static void test_unknown_path(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "POST /nowhere HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}", 404);
    assert_contains(a->answer.body.p, "POST /echo, ");
    assert_contains(a->answer.body.p, ", GET /tree/*\n");
    assert_contains(a->answer.head.p, "\r\nConnection: close\r\n");
    assert_true(net_ended(&a->net)); /* there are too few for those who do not know us */
    end(a);
}

static void test_wrong_method(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "GET /echo HTTP/1.1\r\n" HOST "\r\n", 405);
    assert_contains(a->answer.head.p, "\r\nAllow: POST\r\n");
    ask(a, "DELETE /both HTTP/1.1\r\n" HOST "\r\n", 405);
    assert_contains(a->answer.head.p, "\r\nAllow: GET, HEAD, PUT\r\n");
    end(a);
}

static void test_content_type(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 415);
    assert_str(strbuf_str(&a->answer.body), "send Content-Type: application/json\n");
    ask(a, "POST /echo HTTP/1.1\r\n" HOST "Content-Type: text/json\r\nContent-Length: 2\r\n\r\n{}",
        415);
    ask(a,
        "POST /echo HTTP/1.1\r\n" HOST "content-type: Application/JSON ; charset=utf-8\r\n"
        "Content-Length: 2\r\n\r\n{}",
        200);
    ask(a, "POST /raw HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 200);
    /* of two the first counts */
    ask(a, "POST /echo HTTP/1.1\r\n" JSON "Content-Type: text/json\r\nContent-Length: 2\r\n\r\n{}",
        200);
    ask(a,
        "POST /echo HTTP/1.1\r\n" HOST "Content-Type: text/json\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        415);
    end(a);
}

static void test_announced_body_too_large(void **state) {
    (void)state;
    struct all *a = begin();
    assert_true(net_post(&a->net, "/echo", 1000, &a->answer));
    assert_int_equal(a->answer.status, 413);
    assert_contains(a->answer.body.p, "smaller than 1000 bytes");
    assert_true(net_post(&a->net, "/echo", 999, &a->answer)); /* the connection lives on */
    assert_int_equal(a->answer.status, 200);
    assert_int_equal(a->answer.body.n, 999);
    end(a);
}

static void test_much_too_large_is_answered_at_once(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 99999999999\r\n\r\n", 413);
    assert_true(net_ended(&a->net));
    end(a);
}

static void test_expect_continue(void **state) {
    (void)state;
    struct all *a = begin();
    assert_true(net_say(&a->net, "POST /echo HTTP/1.1\r\n" JSON
                                 "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    assert_true(net_hear(&a->net, &a->answer));
    assert_int_equal(a->answer.status, 100);
    ask(a, "{}", 200);
    /* refused without the body being asked for */
    ask(a, "POST /echo HTTP/1.1\r\n" JSON "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n",
        413);
    end(a);
}

static void test_chunked(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a,
        "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        200);
    assert_str(strbuf_str(&a->answer.body), "abcde");
    assert_contains(a->answer.head.p, "\r\nConnection: close\r\n");
    assert_true(net_ended(&a->net));
    end(a);
}

static void test_chunked_body_too_large(void **state) {
    (void)state;
    struct all *a = begin();
    char chunk[600];
    memset(chunk, 'x', sizeof chunk);
    assert_true(
        net_say(&a->net, "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 2; i++) {
        assert_true(net_say(&a->net, "258\r\n"));
        assert_true(net_send(&a->net, chunk, sizeof chunk));
        assert_true(net_say(&a->net, "\r\n"));
    }
    ask(a, "0\r\n\r\n", 413);
    assert_contains(a->answer.body.p, "smaller than 1000 bytes");
    assert_true(metric_now("evenkeel_http_requests_total{listener=\"test\",verb=\"echo\","
                           "code=\"413\"}") <= 1);
    reopen(a);
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
    end(a);
}

static void test_chunked_body_at_the_limit(void **state) {
    (void)state;
    struct all *a = begin();
    char request[1400];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(request, sizeof request,
                       "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n"
                       "%x\r\n%0*d\r\n0\r\n\r\n",
                       999 + i, 999 + i, 0);
        ask(a, request, i == 0 ? 200 : 413);
        reopen(a);
    }
    end(a);
}

/* A chunked body that never ends is not read for ever. */
static void test_endless_chunks(void **state) {
    (void)state;
    struct all *a = begin();
    static char chunk[7 + 65536 + 2];
    memcpy(chunk, "10000\r\n", 7);
    memset(chunk + 7, 'x', 65536);
    memcpy(chunk + 7 + 65536, "\r\n", 2);
    assert_true(
        net_say(&a->net, "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n"));
    int sent = 0;
    while (sent < 2000 && net_send(&a->net, chunk, sizeof chunk))
        sent++;
    assert_in_range(sent, 16, 1999);
    end(a);
}

/* Bodies that are not small, two of which do not fit: K bytes are taken whatever others hold. */
enum { K = LIMIT_HTTP_SMALL_BODY };

static void post_at(struct all *a, size_t n) {
    char head[256];
    (void)snprintf(head, sizeof head, "POST /gate HTTP/1.1\r\n" JSON "Content-Length: %zu\r\n\r\n",
                   n);
    assert_true(net_say(&a->net, head));
    char *body = calloc(1, n);
    assert_non_null(body);
    assert_true(net_send(&a->net, body, n));
    free(body);
    assert_int_equal(sem_wait(&a->served.entered), 0); /* they are held now */
}

static void test_budget_of_bodies(void **state) {
    (void)state;
    struct all *a = prepare();
    a->served.options.limits.body_bytes = a->served.options.limits.bodies_in_flight = 8 * K;
    a->served.options.threads = 3; /* one will be busy, and two connections follow */
    served_start(&a->served);
    struct net other;
    struct net_answer other_answer = {0};
    assert_true(net_open(&a->net, served_address(&a->served)));
    assert_true(net_open(&other, served_address(&a->served)));
    post_at(a, 4 * K + 1);
    assert_true(net_post(&other, "/echo", 4 * K, &other_answer));
    assert_int_equal(other_answer.status, 503);
    assert_contains(other_answer.head.p, "\r\nRetry-After: 1\r\n");
    assert_true(net_say(&other, "POST /echo HTTP/1.1\r\n" JSON
                                "Expect: 100-continue\r\nContent-Length: 262144\r\n\r\n"));
    assert_true(net_hear(&other, &other_answer));
    assert_int_equal(other_answer.status, 503); /* known from the length: not even asked for */
    net_close(&other);
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}",
                   1); /* answers count too */
    assert_true(net_open(&other, served_address(&a->served)));
    assert_true(net_post(&other, "/echo", K + 1, &other_answer));
    assert_int_equal(other_answer.status, 200);
    assert_int_equal(sem_post(&a->served.leave), 0);
    assert_true(net_hear(&a->net, &a->answer));
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 0);
    assert_true(net_post(&other, "/echo", 4 * K, &other_answer));
    assert_int_equal(other_answer.status, 200);
    net_answer_done(&other_answer);
    net_close(&other);
    end(a);
}

/* The same, when only the bytes as they come can tell. */
static void test_budget_of_chunked_bodies(void **state) {
    (void)state;
    struct all *a = prepare();
    static char request[3 * K];
    a->served.options.limits.bodies_in_flight = K;
    a->served.options.limits.body_bytes = 4 * K;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    (void)snprintf(request, sizeof request,
                   "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n"
                   "%x\r\n%0*d\r\n0\r\n\r\n",
                   (unsigned)K + 1, K + 1, 0);
    ask(a, request, 503);
    reopen(a);
    ask(a, "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        200);
    end(a);
}

/* What is small does not depend on what others hold, and what has no body takes no room. */
static void test_small_bodies_are_taken(void **state) {
    (void)state;
    struct all *a = prepare();
    struct net other;
    struct net_answer answer = {0};
    a->served.options.limits.body_bytes = 4 * K;
    a->served.options.limits.bodies_in_flight = 1000;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    assert_true(net_open(&other, served_address(&a->served)));
    post_at(a, K);
    assert_true(net_say(&other, "GET /hello HTTP/1.1\r\n" HOST "\r\n"));
    assert_true(net_hear(&other, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(net_post(&other, "/echo", 10000, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(net_post(&other, "/echo", K + 1, &answer));
    assert_int_equal(answer.status, 503);
    assert_int_equal(sem_post(&a->served.leave), 0);
    net_answer_done(&answer);
    net_close(&other);
    end(a);
}

/* Answers count until they have been read: clients that do not read hold no more than the budget.
 */
static void test_budget_of_answers(void **state) {
    (void)state;
    enum { READERS = 8 };
    static const char much[] = "GET /much HTTP/1.1\r\n" HOST "\r\n";
    struct all *a = prepare();
    struct net slow[READERS];
    int answered = 0, refused = 0;
    a->served.options.limits.bodies_in_flight = 3 * MUCH;
    served_start(&a->served);
    for (int i = 0; i < READERS; i++) {
        char first[16] = "";
        assert_true(net_open(&slow[i], served_address(&a->served)));
        assert_true(net_say(&slow[i], much));
        assert_int_equal(recv(slow[i].fd, first, 12, MSG_WAITALL), 12);
        answered += strcmp(first, "HTTP/1.1 200") == 0;
        refused += strcmp(first, "HTTP/1.1 503") == 0;
    }
    assert_int_equal(answered + refused, READERS);
    assert_in_range(answered, 1, 3); /* a text's buffer may be longer than the text */
    assert_true(net_open(&a->net, served_address(&a->served)));
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200); /* small ones go on */
    for (int i = 0; i < READERS; i++)
        net_close(&slow[i]);
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 1);
    ask(a, much, 200); /* room again */
    assert_int_equal(a->answer.body.n, MUCH);
    end(a);
}

/* What an answer of pieces holds is the arena that they are in, however short it is. */
static void test_budget_of_pieces(void **state) {
    (void)state;
    struct all *a = prepare();
    struct net other;
    struct net_answer answer = {0};
    a->served.options.limits.body_bytes = a->served.options.limits.bodies_in_flight = 1 << 20;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    assert_true(net_open(&other, served_address(&a->served)));
    assert_true(net_say(&a->net, "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"));
    assert_int_equal(sem_wait(&a->served.entered), 0);
    assert_true(net_post(&other, "/pieces", 100000, &answer)); /* 200,000 pieces of 16 bytes */
    assert_int_equal(answer.status, 503);
    assert_contains(answer.head.p, "\r\nRetry-After: 1\r\n");
    assert_contains(answer.body.p, "too many answers are being read");
    assert_true(net_post(&other, "/pieces", 10000, &answer));
    assert_int_equal(answer.status, 200);
    assert_int_equal(sem_post(&a->served.leave), 0);
    assert_true(net_hear(&a->net, &a->answer));
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 0);
    assert_true(net_post(&other, "/pieces", 100000, &answer)); /* alone: nobody to wait for */
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    net_close(&other);
    end(a);
}

static void test_unclear_length(void **state) {
    (void)state;
    static const char *const headers[] = {
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 2x\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999999\r\n",
    };
    struct all *a = begin();
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char request[256];
        (void)snprintf(request, sizeof request, "POST /echo HTTP/1.1\r\n" JSON "%s\r\n{}",
                       headers[i]);
        assert_true(net_say(&a->net, request));
        assert_true(net_hear(&a->net, &a->answer));
        assert_true(a->answer.status == 400 || a->answer.status == 413);
        assert_true(net_ended(&a->net));
        net_close(&a->net);
        assert_true(net_open(&a->net, served_address(&a->served)));
    }
    end(a);
}

static void test_malformed_requests(void **state) {
    (void)state;
    static const char *const requests[] = {
        "\x16\x03\x01\x02\r\n\r\n", /* a TLS client at the wrong door */
        "GET\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n", /* no Host */
        "GET /hello HTTP/1.1\r\n" HOST "no colon\r\n\r\n",
        "GET /hello HTTP/9.9\r\n" HOST "\r\n",
        "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    };
    struct all *a = begin();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        assert_true(net_say(&a->net, requests[i]));
        while (net_hear(&a->net, &a->answer))
            assert_in_range(a->answer.status, 400, 599);
        net_close(&a->net);
        assert_true(net_open(&a->net, served_address(&a->served)));
    }
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
    end(a);
}

static void test_headers_too_large(void **state) {
    (void)state;
    struct all *a = begin();
    static char header[40000];
    memset(header, 'x', sizeof header - 1);
    assert_true(net_say(&a->net, "GET /hello HTTP/1.1\r\n" HOST "X-Long: "));
    (void)net_say(&a->net, header); /* it may close before everything is sent */
    bool answered = net_hear(&a->net, &a->answer);
    assert_true(!answered || a->answer.status == 431);
    end(a);
}

static void test_what_a_handler_sees(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "GET /tree/a%20b/c?x=%20y&z HTTP/1.1\r\n" HOST "X-TEST: yes\r\n\r\n", 200);
    assert_str(strbuf_str(&a->answer.body), "GET|/tree/a b/c|x=%20y&z|yes\n");
    ask(a, "GET /tree/ HTTP/1.1\r\n" HOST "\r\n", 200);
    assert_str(strbuf_str(&a->answer.body), "GET|/tree/||\n");
    ask(a, "GET /who HTTP/1.1\r\n" HOST "\r\n", 200);
    assert_true(str_has_prefix(strbuf_str(&a->answer.body), STR("|127.0.0.1:")));
    assert_true(str_has_suffix(strbuf_str(&a->answer.body), STR("|1\n")));
    ask(a, "GET /tree HTTP/1.1\r\n" HOST "\r\n", 404);
    end(a);
}

static void test_head(void **state) {
    (void)state;
    struct all *a = begin();
    assert_true(net_say(&a->net, "HEAD /hello HTTP/1.1\r\n" HOST "\r\n"));
    assert_true(net_hear_head(&a->net, &a->answer));
    assert_int_equal(a->answer.status, 200);
    assert_contains(a->answer.head.p, "\r\nContent-Length: 6\r\n");
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200); /* no body in between */
    end(a);
}

static void test_pieces(void **state) {
    (void)state;
    struct all *a = prepare();
    a->served.options.limits.body_bytes = 1 << 20;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    for (int i = 0; i < 3; i++) {
        const size_t sizes[] = {1, 200000, 0};
        assert_true(net_post(&a->net, "/pieces", sizes[i], &a->answer));
        assert_int_equal(a->answer.status, 200);
        assert_int_equal(a->answer.body.n, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(a->answer.body.p[k], 'x');
    }
    end(a);
}

static void test_large_bodies_come_back_whole(void **state) {
    (void)state;
    struct all *a = prepare();
    const size_t n = 5000000;
    a->served.options.limits.body_bytes = n + 1;
    a->served.options.limits.bodies_in_flight = n;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    struct strbuf request = {0};
    strbuf_appendf(&request, "POST /raw HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n", n);
    size_t head = request.n;
    for (size_t i = 0; i < n; i++)
        strbuf_append_char(&request, (char)(i * 2654435761u >> 24));
    for (int i = 0; i < 2; i++) { /* twice: the budget is given back */
        assert_true(net_send(&a->net, request.p, request.n));
        assert_true(net_hear(&a->net, &a->answer));
        assert_int_equal(a->answer.status, 200);
        assert_int_equal(a->answer.body.n, n);
        assert_memory_equal(a->answer.body.p, request.p + head, n);
    }
    strbuf_done(&request);
    end(a);
}

static void test_handlers_that_fail(void **state) {
    (void)state;
    struct all *a = begin();
    assert_true(net_post(&a->net, "/large", 2, &a->answer));
    assert_int_equal(a->answer.status, 500);
    assert_contains(a->answer.body.p, "did not fit");
    ask(a, "GET /silent HTTP/1.1\r\n" HOST "\r\n", 500);
    end(a);
}

/* Whoever has waited longest goes; when nobody waits, the newcomer does. See test_slots.c. */
static void test_connection_limits(void **state) {
    (void)state;
    static const char *const reasons[] = {"all", "address"};
    for (int per_address = 0; per_address < 2; per_address++) {
        struct all *a = prepare();
        struct net more[2];
        char evicted[128], refused[128];
        (void)snprintf(evicted, sizeof evicted,
                       "evenkeel_http_connections_evicted_total{listener=\"test\",reason=\"%s\"}",
                       reasons[per_address]);
        (void)snprintf(refused, sizeof refused,
                       "evenkeel_http_connections_refused_total{listener=\"test\",reason=\"%s\"}",
                       reasons[per_address]);
        if (per_address)
            a->served.options.limits.connections_per_address = 2;
        else
            a->served.options.limits.connections = 2;
        served_start(&a->served);
        assert_true(net_open(&more[0], served_address(&a->served)));
        metric_becomes("evenkeel_http_connections{listener=\"test\"}", 1);
        assert_true(net_open(&a->net, served_address(&a->served)));
        ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
        assert_true(net_open(&more[1], served_address(&a->served)));
        assert_true(net_ended(&more[0]));
        metric_becomes(evicted, 1);
        net_close(&more[0]);
        for (int i = 0; i < 2; i++)
            assert_true(net_say(i == 0 ? &a->net : &more[1],
                                "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"));
        for (int i = 0; i < 2; i++)
            assert_int_equal(sem_wait(&a->served.entered), 0);
        assert_true(net_open(&more[0], served_address(&a->served)));
        assert_true(net_ended(&more[0]));
        metric_becomes(refused, 1);
        for (int i = 0; i < 2; i++)
            assert_int_equal(sem_post(&a->served.leave), 0);
        assert_true(net_hear(&a->net, &a->answer));
        net_close(&more[0]);
        net_close(&more[1]);
        end(a);
    }
}

/* Connections are dealt out in turn: with as many of them as threads, each has one to itself. */
static void test_connections_are_shared_among_threads(void **state) {
    (void)state;
    enum { THREADS = 4 };
    struct all *a = prepare();
    struct net net[THREADS];
    a->served.options.threads = THREADS;
    served_start(&a->served);
    for (int i = 0; i < THREADS; i++) {
        assert_true(net_open(&net[i], served_address(&a->served)));
        assert_true(net_say(&net[i], "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"));
        assert_int_equal(sem_wait(&a->served.entered), 0); /* one more thread is busy */
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(sem_post(&a->served.leave), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(net_hear(&net[i], &a->answer));
        net_close(&net[i]);
    }
    end(a);
}

static void test_metrics(void **state) {
    (void)state;
    struct all *a = begin();
    assert_true(net_post(&a->net, "/echo", 10, &a->answer));
    ask(a, "GET /nowhere HTTP/1.1\r\n" HOST "\r\n", 404);
    metric_becomes("evenkeel_http_requests_total{listener=\"test\",verb=\"echo\",code=\"200\"}", 1);
    metric_becomes("evenkeel_http_requests_total{listener=\"test\",verb=\"other\",code=\"404\"}",
                   1);
    metric_becomes("evenkeel_http_request_duration_seconds_count{listener=\"test\",verb=\"echo\"}",
                   1);
    metric_becomes("evenkeel_http_request_body_bytes_total{listener=\"test\"}", 10);
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 0);
    assert_true(metric_now("evenkeel_http_requests_total{listener=\"test\",verb=\"echo\","
                           "code=\"500\"}") == -1);
    end(a);
    assert_true(metric_now("evenkeel_http_connections{listener=\"test\"}") == -1);
}

static void test_drain_says_close(void **state) {
    (void)state;
    struct all *a = begin();
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
    assert_null(strstr(a->answer.head.p, "Connection: close"));
    http_listener_drain(a->served.listener);
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
    assert_contains(a->answer.head.p, "\r\nConnection: close\r\n");
    assert_true(net_ended(&a->net));
    net_close(&a->net);
    assert_true(net_open(&a->net, served_address(&a->served))); /* new ones still come in */
    ask(a, "GET /hello HTTP/1.1\r\n" HOST "\r\n", 200);
    end(a);
}

static void *stop(void *arg) {
    struct served *s = arg;
    http_listener_stop(s->listener, 10 * PATIENCE_MS);
    return NULL;
}

static void test_stop_lets_a_request_finish(void **state) {
    (void)state;
    struct all *a = begin();
    struct net late;
    struct timespec until;
    pthread_t thread;
    char address[64];
    (void)snprintf(address, sizeof address, "%s", served_address(&a->served));
    assert_true(net_say(&a->net, "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"));
    assert_int_equal(sem_wait(&a->served.entered), 0);
    assert_int_equal(pthread_create(&thread, NULL, stop, &a->served), 0);
    while (net_open(&late, address)) /* until new connections are refused */
        net_close(&late);
    assert_int_equal(sem_post(&a->served.leave), 0);
    assert_true(net_hear(&a->net, &a->answer));
    assert_int_equal(a->answer.status, 200);
    assert_contains(a->answer.head.p, "\r\nConnection: close\r\n");
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += PATIENCE_MS / 1000; /* a tenth of what it would wait for the request */
    assert_int_equal(pthread_timedjoin_np(thread, NULL, &until), 0);
    a->served.listener = NULL;
    end(a);
}

static void test_stop_does_not_wait_for_ever(void **state) {
    (void)state;
    struct all *a = begin();
    /* half a body, and nobody will send the rest */
    assert_true(net_say(&a->net, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 9\r\n\r\n{}"));
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 1);
    http_listener_stop(a->served.listener, 50);
    a->served.listener = NULL;
    assert_true(net_ended(&a->net));
    end(a);
}

struct caller {
    const char *address;
    pthread_t thread;
    bool refused;
};

/* Until one is refused; or for a minute, so that the test ends if stopping does not. */
static void *connect_again_and_again(void *arg) {
    struct caller *caller = arg;
    const int64_t until_ns = clock_now_ns() + PATIENCE_MS * INT64_C(1000000);
    struct net net;
    while (!caller->refused && clock_now_ns() < until_ns) {
        caller->refused = !net_open(&net, caller->address);
        net_close(&net);
    }
    return NULL;
}

/* New connections keep coming in faster than they are accepted. */
static void test_stop_in_a_storm_of_connections(void **state) {
    (void)state;
    struct all *a = prepare();
    struct caller callers[3];
    char address[64];
    served_start(&a->served);
    (void)snprintf(address, sizeof address, "%s", served_address(&a->served));
    for (int i = 0; i < 3; i++) {
        callers[i] = (struct caller){.address = address};
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, connect_again_and_again, &callers[i]), 0);
    }
    while (!net_open(&a->net, address) || !net_post(&a->net, "/echo", 1, &a->answer))
        net_close(&a->net); /* until one gets through */
    http_listener_stop(a->served.listener, 1000);
    a->served.listener = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_true(callers[i].refused); /* it has stopped while they went on */
    }
    end(a);
}

/* Requests that libmicrohttpd refuses itself, on many connections: it (0.9.75) crashes when it is
 * stopped while it does, and nothing is waited for here. */
static void test_stop_while_requests_are_refused(void **state) {
    (void)state;
    enum { ROUNDS = 100, CONNECTIONS = 16 };
    for (int round = 0; round < ROUNDS; round++) {
        struct all *a = prepare();
        struct net peers[CONNECTIONS];
        served_start(&a->served);
        for (int i = 0; i < CONNECTIONS; i++)
            assert_true(net_open(&peers[i], served_address(&a->served)));
        for (int i = 0; i < CONNECTIONS; i++)
            assert_true(
                net_say(&peers[i], "POST /echo HTTP/1.1\r\n" JSON "Content-Length: -1\r\n\r\n"));
        assert_true(net_hear(&peers[round % CONNECTIONS], &a->answer));
        assert_int_equal(a->answer.status, 400);
        http_listener_stop(a->served.listener, 0);
        a->served.listener = NULL;
        for (int i = 0; i < CONNECTIONS; i++)
            net_close(&peers[i]);
        end(a);
    }
}

static void *stop_at_once(void *arg) {
    struct served *s = arg;
    http_listener_stop(s->listener, 0);
    return NULL;
}

/* The worker gets no CPU while the listener stops: here because a handler holds it. Behind that
 * request, and perhaps before it, the worker has been handed others that libmicrohttpd refuses. */
static void test_stop_while_a_worker_is_starved(void **state) {
    (void)state;
    enum { BAD_BEFORE, HELD, BAD_BEHIND, CONNECTIONS, STARVED_MS = 1000 };
    struct all *a = prepare();
    struct net peers[CONNECTIONS];
    struct timespec until;
    pthread_t thread;
    a->served.options.threads = 1;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    for (int i = 0; i < CONNECTIONS; i++) {
        assert_true(net_open(&peers[i], served_address(&a->served)));
        assert_true(net_say(&peers[i], "GET /hello HTTP/1.1\r\n" HOST "\r\n"));
        assert_true(net_hear(&peers[i], &a->answer));
    }
    assert_true(net_say(&a->net, "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"));
    assert_int_equal(sem_wait(&a->served.entered), 0);
    for (int i = 0; i < CONNECTIONS; i++) /* which the worker then reads in one go */
        assert_true(net_say(
            &peers[i], i == HELD ? "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"
                                 : "POST /echo HTTP/1.1\r\n" JSON "Content-Length: -1\r\n\r\n"));
    assert_int_equal(sem_post(&a->served.leave), 0);
    assert_int_equal(sem_wait(&a->served.entered), 0);
    assert_int_equal(pthread_create(&thread, NULL, stop_at_once, &a->served), 0);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += STARVED_MS / 1000;
    assert_int_equal(pthread_timedjoin_np(thread, NULL, &until), ETIMEDOUT);
    assert_int_equal(sem_post(&a->served.leave), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    a->served.listener = NULL;
    for (int i = 0; i < CONNECTIONS; i++)
        net_close(&peers[i]);
    end(a);
}

static void test_one_thread(void **state) {
    (void)state;
    struct all *a = prepare();
    a->served.options.threads = 1;
    served_start(&a->served);
    assert_true(net_open(&a->net, served_address(&a->served)));
    assert_true(net_post(&a->net, "/echo", 5, &a->answer));
    assert_int_equal(a->answer.status, 200);
    end(a);
}

static void test_port_in_use(void **state) {
    (void)state;
    struct all *a = begin();
    struct http_listener_options options = a->served.options;
    struct http_listener *second = NULL;
    struct err err;
    char address[64];
    (void)snprintf(address, sizeof address, "%s", served_address(&a->served));
    options.address = address;
    assert_int_equal(http_listener_start(&options, clock_real(), &second, &err), -EADDRINUSE);
    assert_contains(err.text, "cannot listen on '127.0.0.1:");
    assert_contains(err.text, "Address already in use; ");
    assert_null(second);
    end(a);
}

static void refuse_options(const struct http_listener_options *options, const char *why) {
    struct http_listener *l = NULL;
    struct err err;
    assert_true(http_listener_start(options, clock_real(), &l, &err) < 0);
    assert_contains(err.text, why);
}

static void test_options_that_make_no_sense(void **state) {
    (void)state;
    struct all *a = prepare();
    static const char *const subjects[] = {"someone"};
    struct http_listener_options *o = &a->served.options, good = *o;
    o->threads = 0;
    refuse_options(o, "at least one thread");
    *o = good;
    o->tls.cert_file = "x.pem";
    refuse_options(o, "a certificate needs a key");
    *o = good;
    o->tls.client_ca_file = "x.pem";
    refuse_options(o, "client certificates need TLS");
    *o = good;
    o->tls.allowed_subjects = subjects;
    o->tls.allowed_subject_count = 1;
    refuse_options(o, "need a client CA");
    *o = good;
    o->address = "localhost";
    refuse_options(o, "expected host:port");
    end(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_requests_on_one_connection),
        cmocka_unit_test(test_pipelined_requests_are_answered_in_order),
        cmocka_unit_test(test_empty_body),
        cmocka_unit_test(test_unknown_path),
        cmocka_unit_test(test_wrong_method),
        cmocka_unit_test(test_content_type),
        cmocka_unit_test(test_announced_body_too_large),
        cmocka_unit_test(test_much_too_large_is_answered_at_once),
        cmocka_unit_test(test_expect_continue),
        cmocka_unit_test(test_chunked),
        cmocka_unit_test(test_chunked_body_too_large),
        cmocka_unit_test(test_chunked_body_at_the_limit),
        cmocka_unit_test(test_endless_chunks),
        cmocka_unit_test(test_budget_of_bodies),
        cmocka_unit_test(test_budget_of_chunked_bodies),
        cmocka_unit_test(test_small_bodies_are_taken),
        cmocka_unit_test(test_budget_of_answers),
        cmocka_unit_test(test_budget_of_pieces),
        cmocka_unit_test(test_unclear_length),
        cmocka_unit_test(test_malformed_requests),
        cmocka_unit_test(test_headers_too_large),
        cmocka_unit_test(test_what_a_handler_sees),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_large_bodies_come_back_whole),
        cmocka_unit_test(test_handlers_that_fail),
        cmocka_unit_test(test_connection_limits),
        cmocka_unit_test(test_connections_are_shared_among_threads),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_drain_says_close),
        cmocka_unit_test(test_stop_lets_a_request_finish),
        cmocka_unit_test(test_stop_does_not_wait_for_ever),
        cmocka_unit_test(test_stop_in_a_storm_of_connections),
        cmocka_unit_test(test_stop_while_requests_are_refused),
        cmocka_unit_test(test_stop_while_a_worker_is_starved),
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_port_in_use),
        cmocka_unit_test(test_options_that_make_no_sense),
    };
    return cmocka_run_group_tests_name("listener", tests, NULL, NULL);
}
