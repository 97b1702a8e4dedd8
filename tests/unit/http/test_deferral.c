/* Answers that come later: from other threads, too early, too late, and never. */
#include "base/log.h"
#include "http/http.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { DEFERRED = 64, SHORT_MS = 150 };

struct fixture {
    struct served served;
    struct http_deferral *deferrals[DEFERRED]; /* in the order of the requests */
    _Atomic unsigned count;
    _Atomic unsigned refused; /* http_defer() gave none */
    _Atomic unsigned resumed, dropped;
    pthread_t handler;          /* the thread of the last handler */
    _Atomic unsigned elsewhere; /* they went on, and not on that thread */
    sem_t deferred, answered;
    struct net net;
    struct net_answer answer;
};

/* ---- handlers ---- */

static void later(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    f->handler = pthread_self();
    struct http_deferral *d = http_defer(request);
    if (d == NULL) {
        (void)atomic_fetch_add(&f->refused, 1);
        http_answer_text(response, 503, "no deferral");
    } else {
        f->deferrals[atomic_fetch_add(&f->count, 1) % DEFERRED] = d;
    }
    (void)sem_post(&f->deferred);
}

static void give(struct http_deferral *d, int status, const char *text) {
    struct http_response response = {.text.max = 1024};
    http_answer_text(&response, status, "%s", text);
    http_deferral_answer(d, &response);
}

static void at_once(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    struct http_deferral *d = http_defer(request);
    if (d == NULL)
        http_answer_text(response, 503, "no deferral");
    else
        give(d, 200, "at once");
}

/* What goes on for a handler, and answers with the request's body. */
static void answer_now(void *ctx, const struct http_request *request,
                       struct http_response *response) {
    struct fixture *f = ctx;
    (void)atomic_fetch_add(&f->resumed, 1);
    http_answer_text(response, 200, "resumed '%.*s'", STR_ARG(request->body));
}

/* The same where there is one connection: it goes on where its handler was. */
static void answer_there(void *ctx, const struct http_request *request,
                         struct http_response *response) {
    struct fixture *f = ctx;
    (void)atomic_fetch_add(&f->elsewhere, !pthread_equal(f->handler, pthread_self()));
    answer_now(f, request, response);
}

static void later_again(void *ctx, const struct http_request *request,
                        struct http_response *response) {
    struct fixture *f = ctx;
    (void)atomic_fetch_add(&f->elsewhere, !pthread_equal(f->handler, pthread_self()));
    (void)atomic_fetch_add(&f->resumed, 1);
    later(f, request, response);
}

static void drop(void *ctx) {
    struct fixture *f = ctx;
    (void)atomic_fetch_add(&f->dropped, 1);
}

static void resume(struct fixture *f, struct http_deferral *d, http_handler_fn *go_on) {
    const struct http_continuation next = {go_on, drop, f};
    http_deferral_resume(d, &next);
}

/* Returns only after another thread has answered. */
static void slowly(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    later(f, request, response);
    (void)sem_wait(&f->answered);
}

static void hello(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx, (void)request;
    http_answer_text(response, 200, "hello");
}

/* Defers only when the test has opened the gate. */
static void gate(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    (void)sem_post(&f->served.entered);
    (void)sem_wait(&f->served.leave);
    later(f, request, response);
}

/* ---- the tests' ---- */

static const struct http_route rows[] = {
    {"GET", "/later", "later", later, HTTP_ANY},
    {"GET", "/at-once", "at-once", at_once, HTTP_ANY},
    {"GET", "/slowly", "slowly", slowly, HTTP_ANY},
    {"GET", "/hello", "hello", hello, HTTP_ANY},
    {"GET", "/gate", "gate", gate, HTTP_ANY},
    {"POST", "/later", "later", later, HTTP_ANY},
};
static const struct http_routes routes = HTTP_ROUTES(rows);

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.net.fd = -1};
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f, NULL};
    assert_int_equal(sem_init(&f.deferred, 0, 0), 0);
    assert_int_equal(sem_init(&f.answered, 0, 0), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    net_answer_done(&f->answer);
    net_close(&f->net);
    served_done(&f->served);
    (void)sem_destroy(&f->deferred);
    (void)sem_destroy(&f->answered);
    return 0;
}

static void start(struct fixture *f) {
    served_start(&f->served);
    assert_true(net_open(&f->net, served_address(&f->served)));
}

static void ask(struct net *net, const char *path) {
    assert_true(net_say(net, "GET "));
    assert_true(net_say(net, path));
    assert_true(net_say(net, " HTTP/1.1\r\nHost: x\r\n\r\n"));
}

static void expect(struct fixture *f, int status, const char *text) {
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, status);
    assert_str(strbuf_str(&f->answer.body), text);
}

static void ask_later(struct fixture *f, struct net *net) {
    ask(net, "/later");
    wait_sem(&f->deferred, "the handler");
}

static void stop(struct fixture *f, unsigned drain_ms) {
    http_listener_stop(f->served.listener, drain_ms);
    f->served.listener = NULL;
}

/* ---- in good order ---- */

static void test_the_answer_comes_later(void **state) {
    struct fixture *f = *state;
    start(f);
    ask_later(f, &f->net);
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 1);
    struct http_response response = {.text.max = 100};
    strbuf_append_str(&response.text, STR("{}"));
    response.retry_after_s = 7;
    http_answer_json(&response, 429);
    http_deferral_answer(f->deferrals[0], &response);
    expect(f, 429, "{}");
    assert_contains(f->answer.head.p, "\r\nContent-Type: application/json\r\n");
    assert_contains(f->answer.head.p, "\r\nRetry-After: 7\r\n");
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 0);
    metric_becomes("evenkeel_http_requests_total{listener=\"test\",verb=\"later\",code=\"429\"}",
                   1);
}

/* Dashboards know the webhook's by another name. */
static void test_the_webhook_shows_what_is_in_flight(void **state) {
    static const char series[] =
        "controller_runtime_webhook_requests_in_flight{webhook=\"/later\"}";
    struct fixture *f = *state;
    f->served.options.name = "webhook";
    start(f);
    ask_later(f, &f->net);
    metric_becomes(series, 1);
    give(f->deferrals[0], 200, "later");
    expect(f, 200, "later\n");
    metric_becomes(series, 0);
}

static void test_the_connection_goes_on(void **state) {
    struct fixture *f = *state;
    start(f);
    for (unsigned i = 0; i < 3; i++) {
        ask_later(f, &f->net);
        give(f->deferrals[i], 200, "later");
        expect(f, 200, "later\n");
        ask(&f->net, "/hello");
        expect(f, 200, "hello\n");
    }
}

static void test_the_next_request_waits_its_turn(void **state) {
    struct fixture *f = *state;
    start(f);
    ask(&f->net, "/later");
    ask(&f->net, "/hello");
    ask(&f->net, "/later");
    wait_sem(&f->deferred, "the handler");
    give(f->deferrals[0], 200, "first");
    expect(f, 200, "first\n");
    expect(f, 200, "hello\n");
    wait_sem(&f->deferred, "the handler");
    give(f->deferrals[1], 200, "third");
    expect(f, 200, "third\n");
}

static void test_head(void **state) {
    struct fixture *f = *state;
    start(f);
    assert_true(net_say(&f->net, "HEAD /later HTTP/1.1\r\nHost: x\r\n\r\n"));
    wait_sem(&f->deferred, "the handler");
    give(f->deferrals[0], 200, "later");
    assert_true(net_hear_head(&f->net, &f->answer));
    assert_contains(f->answer.head.p, "\r\nContent-Length: 6\r\n");
    ask(&f->net, "/hello");
    expect(f, 200, "hello\n");
}

static void test_over_tls(void **state) {
    struct fixture *f = *state;
    struct pki pki;
    pki_init(&pki);
    pki_make(&pki, &(struct pki_wish){.name = "server", .cn = "server"});
    f->served.options.tls.cert_file = pki_path(&pki, "server.pem");
    f->served.options.tls.key_file = pki_path(&pki, "server.key");
    served_start(&f->served);
    assert_true(net_open_tls(&f->net, served_address(&f->served), &(struct net_tls){.ca_file = 0}));
    for (unsigned i = 0; i < 3; i++) {
        ask_later(f, &f->net);
        ask(&f->net, "/hello");
        give(f->deferrals[i], 200, "later");
        expect(f, 200, "later\n");
        expect(f, 200, "hello\n");
    }
    pki_done(&pki);
}

/* One thread is enough for all who wait and for those who do not. */
static void test_others_are_served_meanwhile(void **state) {
    struct fixture *f = *state;
    struct net nets[10];
    f->served.options.threads = 1;
    start(f);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(net_open(&nets[i], served_address(&f->served)));
        ask_later(f, &nets[i]);
        ask(&f->net, "/hello");
        expect(f, 200, "hello\n");
    }
    for (unsigned i = 10; i-- > 0;) {
        give(f->deferrals[i], 200, "later");
        assert_true(net_hear(&nets[i], &f->answer));
        assert_int_equal(f->answer.status, 200);
        net_close(&nets[i]);
    }
}

static void test_an_answer_that_did_not_fit(void **state) {
    struct fixture *f = *state;
    start(f);
    ask_later(f, &f->net);
    struct http_response response = {.text.max = 3};
    http_answer_text(&response, 200, "more than three bytes");
    http_deferral_answer(f->deferrals[0], &response);
    expect(f, 500, "internal error: the answer did not fit into memory\n");
}

/* ---- going on ---- */

/* On the thread of the connection, whoever resumes it; the body is still there. */
static void test_the_handler_goes_on(void **state) {
    struct fixture *f = *state;
    start(f);
    for (unsigned i = 0; i < 6; i += 3) {
        assert_true(net_say(&f->net, "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
                                     "body"));
        for (unsigned again = 0; again < 2; again++) {
            wait_sem(&f->deferred, "the handler");
            resume(f, f->deferrals[i + again], later_again);
        }
        wait_sem(&f->deferred, "the handler");
        resume(f, f->deferrals[i + 2], answer_there);
        expect(f, 200, "resumed 'body'\n");
        ask(&f->net, "/hello");
        expect(f, 200, "hello\n");
    }
    assert_int_equal(atomic_load(&f->resumed), 6);
    assert_int_equal(atomic_load(&f->elsewhere), 0);
    assert_int_equal(atomic_load(&f->dropped), 0);
}

static void test_nothing_goes_on_after_the_end(void **state) {
    struct fixture *f = *state;
    start(f);
    ask_later(f, &f->net);
    stop(f, 0);
    expect(f, 503, "shutting down\n");
    resume(f, f->deferrals[0], answer_now);
    assert_int_equal(atomic_load(&f->resumed), 0);
    assert_int_equal(atomic_load(&f->dropped), 1);
}

/* Resumed, and the connection is lost or the listener stopped before it runs: one or the other. */
static void test_going_on_while_it_ends(void **state) {
    struct fixture *f = *state;
    start(f);
    for (unsigned i = 0; i < 20; i++) {
        struct net other;
        assert_true(net_open(&other, served_address(&f->served)));
        ask_later(f, &other);
        if (i % 2 == 0)
            net_close(&other);
        resume(f, f->deferrals[i], answer_now);
        if (i % 2 == 1)
            net_close(&other);
    }
    ask_later(f, &f->net);
    resume(f, f->deferrals[20], answer_now);
    stop(f, 0);
    assert_int_equal(atomic_load(&f->resumed) + atomic_load(&f->dropped), 21);
}

/* ---- too early ---- */

static void test_answered_before_the_handler_returns(void **state) {
    struct fixture *f = *state;
    start(f);
    for (int i = 0; i < 100; i++) {
        ask(&f->net, "/at-once");
        expect(f, 200, "at once\n");
    }
}

static void test_answered_by_another_before_the_handler_returns(void **state) {
    struct fixture *f = *state;
    start(f);
    for (unsigned i = 0; i < 10; i++) {
        ask(&f->net, "/slowly");
        wait_sem(&f->deferred, "the handler");
        give(f->deferrals[i], 200, "slowly");
        (void)sem_post(&f->answered);
        expect(f, 200, "slowly\n");
    }
}

/* ---- too late ---- */

static void test_the_client_has_gone(void **state) {
    struct fixture *f = *state;
    start(f);
    ask_later(f, &f->net);
    net_close(&f->net);
    give(f->deferrals[0], 200, "for nobody");
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 0);
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 0);
}

static void test_the_deadline(void **state) {
    struct fixture *f = *state;
    f->served.options.limits.request_ms = SHORT_MS;
    start(f);
    ask_later(f, &f->net);
    assert_true(net_ended(&f->net));
    metric_becomes("evenkeel_http_deadline_closes_total{listener=\"test\"}", 1);
    give(f->deferrals[0], 200, "too late");
    metric_becomes("evenkeel_http_connections{listener=\"test\"}", 0);
}

/* ---- the end ---- */

struct stopper {
    struct fixture *f;
    unsigned drain_ms;
};

static void *stop_listener(void *ctx) {
    const struct stopper *s = ctx;
    stop(s->f, s->drain_ms);
    return NULL;
}

/* Who waits is waited for. */
static void test_stopping_waits(void **state) {
    struct fixture *f = *state;
    struct stopper stopper = {f, 60000};
    struct net probe;
    pthread_t thread;
    start(f);
    ask_later(f, &f->net);
    char address[64];
    (void)snprintf(address, sizeof address, "%s", served_address(&f->served)); /* fits */
    assert_int_equal(pthread_create(&thread, NULL, stop_listener, &stopper), 0);
    while (net_open(&probe, address)) /* until nobody accepts any more */
        net_close(&probe);
    give(f->deferrals[0], 200, "in time");
    expect(f, 200, "in time\n");
    assert_contains(f->answer.head.p, "\r\nConnection: close\r\n");
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ... but not for ever: it is told, and the answer that comes then is for nobody. */
static void test_stopping_does_not_wait(void **state) {
    struct fixture *f = *state;
    start(f);
    ask_later(f, &f->net);
    stop(f, 0);
    expect(f, 503, "shutting down\n");
    assert_true(net_ended(&f->net));
    give(f->deferrals[0], 200, "too late");
}

/* A handler that wants to defer when the listener has given up all who wait. */
static void test_deferring_while_it_stops(void **state) {
    struct fixture *f = *state;
    struct stopper stopper = {f, 0};
    struct net gated;
    pthread_t thread;
    start(f); /* two threads; connections go to them in turn */
    assert_true(net_open(&gated, served_address(&f->served)));
    ask(&gated, "/gate");
    wait_sem(&f->served.entered, "the handler");
    ask_later(f, &f->net);
    assert_int_equal(pthread_create(&thread, NULL, stop_listener, &stopper), 0);
    (void)net_hear(&f->net, &f->answer); /* an answer or the end: it has been given up */
    (void)sem_post(&f->served.leave);
    wait_sem(&f->deferred, "the handler");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(f->refused, 1);
    assert_int_equal(f->count, 1);
    give(f->deferrals[0], 200, "too late");
    net_close(&gated);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_answer_comes_later),
        TEST(test_the_webhook_shows_what_is_in_flight),
        TEST(test_the_connection_goes_on),
        TEST(test_the_next_request_waits_its_turn),
        TEST(test_head),
        TEST(test_over_tls),
        TEST(test_others_are_served_meanwhile),
        TEST(test_an_answer_that_did_not_fit),
        TEST(test_the_handler_goes_on),
        TEST(test_nothing_goes_on_after_the_end),
        TEST(test_going_on_while_it_ends),
        TEST(test_answered_before_the_handler_returns),
        TEST(test_answered_by_another_before_the_handler_returns),
        TEST(test_the_client_has_gone),
        TEST(test_the_deadline),
        TEST(test_stopping_waits),
        TEST(test_stopping_does_not_wait),
        TEST(test_deferring_while_it_stops),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("deferral", tests, NULL, NULL);
}
