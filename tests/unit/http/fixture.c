#include "unit/http/fixture.h"

#include "base/metrics.h"
#include "unit/http/net.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdio.h>

static void echo(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    strbuf_append_str(&response->text, request->body);
    http_answer_json(response, 200);
}

static void hello(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx, (void)request;
    http_answer_text(response, 200, "hello");
}

static void tree(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    struct str header = http_request_header(request, "x-test");
    http_answer_text(response, 200, "%.*s|%.*s|%.*s|%.*s", STR_ARG(request->method),
                     STR_ARG(request->path), STR_ARG(request->query), STR_ARG(header));
}

static void who(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    http_answer_text(response, 200, "%.*s|%.*s|%d", STR_ARG(request->client),
                     STR_ARG(request->peer), request->peer_is_loopback);
}

static void pieces(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    size_t n = 2 * request->body.n; /* every second piece is empty */
    response->pieces = arena_array(request->arena, n + 1, sizeof(struct str));
    for (size_t i = 0; response->pieces != NULL && i < request->body.n; i++)
        response->pieces[2 * i] = (struct str){request->body.p + i, 1};
    response->piece_count = response->pieces != NULL ? n : 0;
    http_answer_json(response, response->pieces != NULL ? 200 : 500);
}

static void gate(void *ctx, const struct http_request *request, struct http_response *response) {
    struct served *s = ctx;
    (void)sem_post(&s->entered);
    (void)sem_wait(&s->leave);
    echo(NULL, request, response);
}

static void silent(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx, (void)request, (void)response;
}

static void large(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx, (void)request;
    response->text.max = 10;
    strbuf_append_str(&response->text, STR("more than ten bytes"));
    http_answer_json(response, 200);
}

static void much(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx, (void)request;
    char *to = strbuf_reserve(&response->text, MUCH);
    if (to != NULL) {
        memset(to, 'x', MUCH);
        response->text.n = MUCH;
    }
    http_answer_json(response, to != NULL ? 200 : 500);
}

static const struct http_route rows[] = {
    {"POST", "/echo", "echo", echo, HTTP_JSON},
    {"POST", "/raw", "raw", echo, HTTP_ANY},
    {"POST", "/pieces", "pieces", pieces, HTTP_JSON},
    {"POST", "/gate", "gate", gate, HTTP_JSON},
    {"POST", "/large", "large", large, HTTP_JSON},
    {"GET", "/hello", "hello", hello, HTTP_ANY},
    {"GET", "/who", "who", who, HTTP_ANY},
    {"GET", "/silent", "silent", silent, HTTP_ANY},
    {"GET", "/both", "both", hello, HTTP_ANY},
    {"PUT", "/both", "both", hello, HTTP_ANY},
    {"GET", "/much", "much", much, HTTP_ANY},
    {"GET", "/tree/*", "tree", tree, HTTP_ANY},
};
static const struct http_routes routes = HTTP_ROUTES(rows);

void served_init(struct served *s) {
    *s = (struct served){.clock = clock_real()};
    s->options = (struct http_listener_options){
        .name = "test",
        .address = "127.0.0.1:0",
        .threads = 2,
        .limits = {.body_bytes = 1000,
                   .bodies_in_flight = 1 << 20,
                   .connections = 16,
                   .connections_per_address = 16,
                   .header_ms = 10000,
                   .request_ms = 10000,
                   .idle_ms = 10000},
        .services = {{.routes = &routes, .ctx = s}},
    };
    assert_int_equal(sem_init(&s->entered, 0, 0), 0);
    assert_int_equal(sem_init(&s->leave, 0, 0), 0);
}

void served_start(struct served *s) {
    struct err err;
    if (http_listener_start(&s->options, s->clock, &s->listener, &err) != 0)
        fail_msg("%s", err.text);
}

void served_done(struct served *s) {
    for (int i = 0; i < 64; i++) /* a test that has failed may have left handlers waiting */
        (void)sem_post(&s->leave);
    if (s->listener != NULL)
        http_listener_stop(s->listener, 0);
    s->listener = NULL;
    (void)sem_destroy(&s->entered);
    (void)sem_destroy(&s->leave);
}

const char *served_address(const struct served *s) {
    return http_listener_address(s->listener);
}

static void ask_for_nothing(const struct served *s) {
    const struct net_tls anyone = {.ca_file = NULL};
    struct net net;
    struct net_answer answer = {0};
    assert_true(s->options.tls.cert_file != NULL ? net_open_tls(&net, served_address(s), &anyone)
                                                 : net_open(&net, served_address(s)));
    assert_true(net_say(&net, "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(net_hear(&net, &answer));
    assert_int_equal(answer.status, 404);
    net_answer_done(&answer);
    net_close(&net);
}

/* The thread looks at all its connections in turn. When it answers the second of these, it has been
 * at each other connection at least once. */
void served_catch_up(struct served *s) {
    static const char connections[] = "evenkeel_http_connections{listener=\"test\"}";
    const double before = metric_now(connections);
    assert_int_equal(s->options.threads, 1);
    ask_for_nothing(s);
    ask_for_nothing(s);
    metric_becomes(connections, before);
}

double metric_now(const char *series) {
    struct strbuf text = {0};
    char line[256];
    strbuf_append_char(&text, '\n');
    metrics_render(&text);
    strbuf_append_char(&text, '\0');
    assert_false(strbuf_failed(&text));
    (void)snprintf(line, sizeof line, "\n%s ", series);
    const char *at = strstr(text.p, line);
    double value = at != NULL ? strtod(at + strlen(line), NULL) : -1;
    strbuf_done(&text);
    return value;
}

void metric_becomes(const char *series, double value) {
    int64_t until_ns = clock_now_ns() + 60000000000;
    while (metric_now(series) != value) {
        if (clock_now_ns() > until_ns)
            fail_msg("%s is %g and never became %g", series, metric_now(series), value);
        (void)sched_yield();
    }
}
