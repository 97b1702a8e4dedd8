/* Large questions do not keep a worker, so small ones do not wait for them. */
#include "base/limits.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = LIMIT_HTTP_LARGE_BODY + 1, SMALL = 10, SHORT_MS = 150 };

struct fixture {
    struct served served;
    struct net net;
    struct net_answer answer;
    char *body; /* of LARGE bytes */
    _Atomic unsigned handled;
};

static void gate(void *ctx, const struct http_request *request, struct http_response *response) {
    struct fixture *f = ctx;
    atomic_fetch_add(&f->handled, 1);
    (void)sem_post(&f->served.entered);
    (void)sem_wait(&f->served.leave);
    struct str test = http_request_header(request, "x-test");
    http_answer_text(response, 200, "%zu %.*s", request->body.n, STR_ARG(test));
}

static void length(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    http_answer_text(response, 200, "%zu", request->body.n);
}

/* On a thread for large questions? */
static void thread(void *ctx, const struct http_request *request, struct http_response *response) {
    char name[16] = "";
    (void)ctx, (void)request;
    (void)pthread_getname_np(pthread_self(), name, sizeof name); /* it fits */
    http_answer_text(response, 200, "%s", strcmp(name, "http-large") == 0 ? "large" : "worker");
}

static const struct http_route rows[] = {
    {"POST", "/thread", "thread", thread, HTTP_LARGE_JSON},
    {"POST", "/plain", "plain", thread, HTTP_JSON},
    {"POST", "/gate", "gate", gate, HTTP_LARGE_JSON},
    {"POST", "/length", "length", length, HTTP_LARGE_JSON},
};
static const struct http_routes routes = HTTP_ROUTES(rows);

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.net.fd = -1, .body = malloc(LARGE)};
    assert_non_null(f.body);
    memset(f.body, 'x', LARGE);
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f, NULL};
    f.served.options.threads = 1;
    f.served.options.large_threads = 1;
    f.served.options.limits.body_bytes = 2 * (size_t)LARGE;
    f.served.options.limits.bodies_in_flight = 32 * (size_t)LARGE;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    net_answer_done(&f->answer);
    net_close(&f->net);
    served_done(&f->served);
    free(f->body);
    return 0;
}

static void start(struct fixture *f) {
    served_start(&f->served);
    assert_true(net_open(&f->net, served_address(&f->served)));
}

static void ask(const struct fixture *f, struct net *net, const char *path, size_t n) {
    char head[256];
    (void)snprintf(head, sizeof head,
                   "POST %s HTTP/1.1\r\nHost: x\r\nX-Test: of it\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                   path, n);
    assert_true(net_say(net, head) && net_send(net, f->body, n));
}

static void expect(struct fixture *f, struct net *net, int status, const char *text) {
    assert_true(net_hear(net, &f->answer));
    assert_int_equal(f->answer.status, status);
    assert_str(strbuf_str(&f->answer.body), text);
}

/* The only worker answers others while one is being handled and more are waiting. */
static void test_small_ones_do_not_wait(void **state) {
    struct fixture *f = *state;
    struct net nets[3];
    char text[64];
    start(f);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(net_open(&nets[i], served_address(&f->served)));
        ask(f, &nets[i], "/gate", LARGE);
        ask(f, &f->net, "/length", SMALL);
        expect(f, &f->net, 200, "10\n");
    }
    wait_sem(&f->served.entered, "the first large question");
    ask(f, &f->net, "/length", SMALL);
    expect(f, &f->net, 200, "10\n");
    assert_int_equal(atomic_load(&f->handled), 1); /* one after the other */
    (void)snprintf(text, sizeof text, "%d of it\n", LARGE);
    for (unsigned i = 0; i < 3; i++) {
        (void)sem_post(&f->served.leave);
        expect(f, &nets[i], 200, text);
        net_close(&nets[i]);
    }
    assert_int_equal(atomic_load(&f->handled), 3);
}

/* At the limit and one byte beyond, one after the other on one connection. */
static void test_the_connection_goes_on(void **state) {
    struct fixture *f = *state;
    char text[64];
    start(f);
    for (size_t n = LARGE - 1; n <= LARGE; n++)
        ask(f, &f->net, "/length", n);
    ask(f, &f->net, "/length", SMALL);
    for (size_t n = LARGE - 1; n <= LARGE; n++) {
        (void)snprintf(text, sizeof text, "%zu\n", n);
        expect(f, &f->net, 200, text);
    }
    expect(f, &f->net, 200, "10\n");
}

/* Only a body that is larger than the limit goes to another thread, and only where the handler is
 * for large ones. */
static void test_which_are_large(void **state) {
    struct fixture *f = *state;
    start(f);
    for (size_t n = LARGE - 2; n <= LARGE; n++) {
        ask(f, &f->net, "/thread", n);
        expect(f, &f->net, 200, n <= LIMIT_HTTP_LARGE_BODY ? "worker\n" : "large\n");
        ask(f, &f->net, "/plain", n);
        expect(f, &f->net, 200, "worker\n");
    }
}

static void test_a_client_that_is_gone(void **state) {
    struct fixture *f = *state;
    struct net other;
    start(f);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(net_open(&other, served_address(&f->served)));
        ask(f, &other, "/gate", LARGE);
        wait_sem(&f->served.entered, "the large question");
        net_close(&other);
        (void)sem_post(&f->served.leave);
    }
    ask(f, &f->net, "/length", LARGE);
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
}

/* Those who hung up while they waited are not handled before those who did not. */
static void test_nobody_works_for_those_who_are_gone(void **state) {
    struct fixture *f = *state;
    struct net gone[3];
    start(f);
    ask(f, &f->net, "/gate", LARGE);
    wait_sem(&f->served.entered, "the first large question");
    for (unsigned i = 0; i < 3; i++) {
        assert_true(net_open(&gone[i], served_address(&f->served)));
        ask(f, &gone[i], "/gate", LARGE);
    }
    metric_becomes("evenkeel_http_bytes_held{listener=\"test\"}", 4.0 * LARGE);
    for (unsigned i = 0; i < 3; i++)
        net_close(&gone[i]);
    (void)sem_post(&f->served.leave);
    assert_true(net_hear(&f->net, &f->answer));
    ask(f, &f->net, "/length", LARGE);
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    assert_int_equal(atomic_load(&f->handled), 1);
}

static void *stop(void *ctx) {
    struct fixture *f = ctx;
    http_listener_stop(f->served.listener, 0);
    return NULL;
}

/* The one that is being handled is answered, though late; the one that waits is refused, or is
 * handled, too, where the machine is so busy that the listener did not begin to stop in time. */
static void test_the_listener_stops(void **state) {
    struct fixture *f = *state;
    struct net waiting;
    char text[64];
    pthread_t stopper;
    start(f);
    assert_true(net_open(&waiting, served_address(&f->served)));
    ask(f, &f->net, "/gate", LARGE);
    wait_sem(&f->served.entered, "the large question");
    ask(f, &waiting, "/gate", LARGE);
    metric_becomes("evenkeel_http_bytes_held{listener=\"test\"}", 2.0 * LARGE);
    assert_int_equal(pthread_create(&stopper, NULL, stop, f), 0);
    (void)usleep(SHORT_MS * 1000);
    (void)sem_post(&f->served.leave);
    (void)sem_post(&f->served.leave);
    (void)snprintf(text, sizeof text, "%d of it\n", LARGE);
    expect(f, &f->net, 200, text);
    assert_true(net_hear(&waiting, &f->answer));
    assert_int_equal(f->answer.status, atomic_load(&f->handled) == 1 ? 503 : 200);
    if (f->answer.status == 503)
        assert_contains(f->answer.head.p, "Retry-After: 1");
    assert_int_equal(pthread_join(stopper, NULL), 0);
    f->served.listener = NULL;
    net_close(&waiting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_small_ones_do_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_connection_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_which_are_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_client_that_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nobody_works_for_those_who_are_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_listener_stops, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
