/* Answers as handlers make them, and the headers that are made of them. */
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>

/* What the handler answers, with its own text. */
static struct {
    pthread_mutex_t lock;
    struct http_response response;
} wish = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void as_wished(void *ctx, const struct http_request *request,
                      struct http_response *response) {
    (void)ctx, (void)request;
    struct strbuf text = response->text;
    pthread_mutex_lock(&wish.lock);
    *response = wish.response;
    pthread_mutex_unlock(&wish.lock);
    response->text = text;
    strbuf_append_str(&response->text, STR("as wished"));
}
static const struct http_route rows[] = {{"GET", "/wish", "wish", as_wished, HTTP_ANY}};
static const struct http_routes routes = HTTP_ROUTES(rows);

struct fixture {
    struct served served;
    struct net_answer answer;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.answer = {0}};
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){.routes = &routes};
    served_start(&f.served);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    net_answer_done(&f->answer);
    served_done(&f->served);
    return 0;
}

/* The head, NUL-terminated. */
static const char *ask(struct fixture *f, const struct http_response *wished, int status) {
    struct net net;
    pthread_mutex_lock(&wish.lock);
    wish.response = *wished;
    pthread_mutex_unlock(&wish.lock);
    assert_true(net_open(&net, served_address(&f->served)));
    assert_true(net_say(&net, "GET /wish HTTP/1.1\r\nHost: a\r\n\r\n"));
    assert_true(net_hear(&net, &f->answer));
    net_close(&net);
    assert_int_equal(f->answer.status, status);
    return f->answer.head.p;
}

/* ---- headers ---- */

static void nothing_but_what_is_said(void **state) {
    const char *head = ask(*state, &(struct http_response){.status = 200}, 200);
    static const char *const others[] = {
        "Content-Type", "Allow", "ETag", "Retry-After", "Evenkeel-Data-Age", "Connection: close"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(strcasestr(head, others[i]));
}

static void what_is_said(void **state) {
    const char *head = ask(*state,
                           &(struct http_response){.status = 405,
                                                   .content_type = "text/x",
                                                   .allow = "GET, HEAD",
                                                   .etag = "\"7\"",
                                                   .retry_after_s = 12},
                           405);
    assert_contains(head, "\r\nContent-Type: text/x\r\n");
    assert_contains(head, "\r\nAllow: GET, HEAD\r\n");
    assert_contains(head, "\r\nETag: \"7\"\r\n");
    assert_contains(head, "\r\nRetry-After: 12\r\n");
}

static void the_age_of_data(void **state) {
    static const struct {
        int64_t ms;
        const char *text; /* NULL: none is said */
    } table[] = {
        {-5, NULL},      {0, NULL},       {1, "0.001"},        {999, "0.999"},
        {1000, "1.000"}, {1050, "1.050"}, {180507, "180.507"}, {INT64_MAX, "9223372036854775.807"}};
    char line[80];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *head =
            ask(*state, &(struct http_response){.status = 200, .data_age_ms = table[i].ms}, 200);
        (void)snprintf(line, sizeof line, "\r\nEvenkeel-Data-Age: %s\r\n",
                       table[i].text != NULL ? table[i].text : ""); /* fits */
        if (table[i].text != NULL)
            assert_contains(head, line);
        else
            assert_null(strcasestr(head, "Evenkeel-Data-Age"));
    }
}

/* Whoever is refused as a stranger does not keep a connection. */
static void strangers(void **state) {
    static const int ends[] = {401, 403, 404}, stays[] = {200, 400, 405, 409, 415, 429, 500, 503};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        assert_contains(ask(*state, &(struct http_response){.status = ends[i]}, ends[i]),
                        "\r\nConnection: close\r\n");
    for (size_t i = 0; i < sizeof stays / sizeof stays[0]; i++)
        assert_null(strcasestr(ask(*state, &(struct http_response){.status = stays[i]}, stays[i]),
                               "Connection: close"));
}

/* A handler that has forgotten to answer, or answers what is no status. */
static void no_status(void **state) {
    struct fixture *f = *state;
    static const int statuses[] = {0, -1, 100, 199, 600, 1000};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        (void)ask(f, &(struct http_response){.status = statuses[i]}, 500);
        assert_string_equal(f->answer.body.p, "internal error: no answer\n");
    }
    (void)ask(f, &(struct http_response){.status = 599}, 599);
    assert_string_equal(f->answer.body.p, "as wished");
}

/* ---- texts ---- */

/* One line for people: what is longer is cut, and says so. */
static void lines(void **state) {
    static char text[1100];
    (void)state;
    memset(text, 'x', sizeof text);
    for (int n = 1022; n <= 1025; n++) {
        struct http_response response = {.pieces = &(struct str){"p", 1}, .piece_count = 1};
        strbuf_append_str(&response.text, STR("what was there before"));
        http_answer_text(&response, 400, "%.*s", n, text);
        assert_int_equal(response.status, 400);
        assert_null(response.pieces);
        assert_int_equal(response.piece_count, 0);
        const bool whole = n < 1024;
        assert_int_equal(response.text.n, whole ? n + 1 : 1023 + 4);
        assert_true(str_has_suffix(strbuf_str(&response.text), whole ? STR("x\n") : STR("x...\n")));
        assert_int_equal(response.text.p[0], 'x');
        strbuf_done(&response.text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_but_what_is_said),
        TEST(what_is_said),
        TEST(the_age_of_data),
        TEST(strangers),
        TEST(no_status),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
