/* Requests and answers: what is sent, what is understood, and how each kind of trouble is told. */
#include "base/file.h"
#include "base/log.h"
#include "kube/client/client.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/asked.h"
#include "unit/unit.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { SOON_MS = 100 };

struct fixture {
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct kube_client *client;
    struct asked asked;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    asked_init(&f.asked, "GET", "/api");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    kube_client_free(f->client);
    asked_done(&f->asked);
    api_call_done(&f->call);
    api_done(&f->api);
    return 0;
}

static void open_client(struct fixture *f) {
    struct err err;
    if (kube_client_new(&f->access, NULL, &f->client, &err) != 0)
        fail_msg("%s", err.text);
}

/* Starts the fixture's request and takes it as the server. */
static void ask(struct fixture *f) {
    if (f->client == NULL)
        open_client(f);
    kube_request_start(f->client, &f->asked.request);
    api_take(&f->api, &f->call);
}

/* ---- what is sent ---- */

static void test_headers(void **state) {
    struct fixture *f = *state;
    ask(f);
    assert_str(f->call.method, "GET");
    assert_str(f->call.path, "/api");
    assert_str(api_header(&f->call, "Host"), strstr(f->api.url, "127"));
    assert_str(api_header(&f->call, "Accept"), "application/json");
    assert_true(str_has_prefix(api_header(&f->call, "User-Agent"), STR("evenkeel/")));
    assert_str(api_header(&f->call, "Authorization"), "");
    assert_str(api_header(&f->call, "Content-Type"), "");
    assert_str(api_header(&f->call, "Accept-Encoding"), "");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
}

static void send_body(struct fixture *f, const char *method, const char *type, const char *want) {
    f->asked.request.method = method;
    f->asked.request.content_type = type;
    f->asked.request.body = STR("{\"a\":1}");
    ask(f);
    assert_str(f->call.method, method);
    assert_str(f->call.body, "{\"a\":1}");
    assert_str(api_header(&f->call, "Content-Type"), want);
    assert_str(api_header(&f->call, "Content-Length"), "7");
    api_answer(&f->call, 201, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.status, 201);
}

static void test_methods_with_a_body(void **state) {
    struct fixture *f = *state;
    send_body(f, "POST", NULL, "application/json");
    send_body(f, "PUT", NULL, "application/json");
    send_body(f, "PATCH", "application/merge-patch+json", "application/merge-patch+json");
    send_body(f, "DELETE", NULL, "application/json");
}

/* Of a method and a code that have come, and of none. */
static void test_requests_are_counted(void **state) {
    struct fixture *f = *state;
    char series[400];
    const char *host = strstr(f->api.url, "127");
    send_body(f, "PUT", NULL, "application/json");
    (void)snprintf(series, sizeof series,
                   "rest_client_requests_total{code=\"201\",method=\"PUT\",host=\"%s\"}", host);
    assert_true(metric_now(series) == 1);
    (void)snprintf(series, sizeof series,
                   "rest_client_request_duration_seconds_count{verb=\"PUT\",host=\"%s\"}", host);
    assert_true(metric_now(series) == 1);
    (void)snprintf(series, sizeof series,
                   "rest_client_request_duration_seconds_count{verb=\"GET\",host=\"%s\"}", host);
    assert_true(metric_now(series) == -1);
    asked_done(&f->asked);
    asked_init(&f->asked, "GET", "/api/v1/pods?watch=1");
    ask(f);
    api_deafen(&f->api); /* libcurl tries once more */
    api_reset(&f->call);
    asked_wait(&f->asked);
    assert_true(metric_now(series) == -1); /* a watch */
    (void)snprintf(series, sizeof series,
                   "rest_client_requests_total{code=\"<error>\",method=\"GET\",host=\"%s\"}", host);
    assert_true(metric_now(series) == 1);
}

/* Their series must differ: Prometheus takes no two of the same name and labels. */
static void test_two_roles_at_one_host(void **state) {
    struct fixture *f = *state;
    struct kube_access hubs = f->access;
    struct kube_client *hub;
    struct err err;
    char plain[200], series[200];
    const char *host = strstr(f->api.url, "127");
    hubs.role = "hub";
    open_client(f);
    if (kube_client_new(&hubs, NULL, &hub, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(kube_client_role(hub), "hub");
    assert_null(kube_client_role(f->client));
    (void)snprintf(plain, sizeof plain,
                   "rest_client_requests_total{code=\"200\",method=\"GET\",host=\"%s\"}", host);
    (void)snprintf(
        series, sizeof series,
        "rest_client_requests_total{code=\"200\",method=\"GET\",host=\"%s\",server=\"hub\"}", host);
    kube_request_start(hub, &f->asked.request);
    api_take(&f->api, &f->call);
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_true(metric_now(series) == 1);
    assert_true(metric_now(plain) == -1);
    (void)snprintf(series, sizeof series,
                   "rest_client_request_duration_seconds_count{verb=\"GET\",host=\"%s\",server="
                   "\"hub\"}",
                   host);
    assert_true(metric_now(series) == 1);
    assert_true(metric_now("evenkeel_clock_ahead_seconds") != -1);
    assert_true(metric_now("evenkeel_clock_ahead_seconds{server=\"hub\"}") != -1);
    kube_client_free(hub);
    assert_true(metric_now("evenkeel_clock_ahead_seconds{server=\"hub\"}") == -1);
}

static void test_a_token_is_shown(void **state) {
    struct fixture *f = *state;
    f->access.token = "secret";
    ask(f);
    assert_str(api_header(&f->call, "Authorization"), "Bearer secret");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
}

/* libcurl would ask first whether a large body is welcome, and wait a second for an answer. */
static void test_a_large_body(void **state) {
    struct fixture *f = *state;
    struct strbuf body = {0};
    for (int i = 0; i < 1 << 17; i++)
        strbuf_append_str(&body, STR("0123456789"));
    f->asked.request.method = "POST";
    f->asked.request.body = strbuf_str(&body);
    ask(f);
    assert_str(api_header(&f->call, "Expect"), "");
    assert_true(str_eq(f->call.body, strbuf_str(&body)));
    api_answer(&f->call, 201, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    strbuf_done(&body);
}

static void put_token(const char *path, const char *token) {
    assert_int_equal(file_write_atomic(path, str_of(token), 0600, NULL), 0);
}

/* A token that is refused is read again at once, although it is new. */
static void test_a_token_that_is_refused(void **state) {
    struct fixture *f = *state;
    char folder[] = "/tmp/evenkeel-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/token", folder); /* fits */
    put_token(path, "one");
    f->access.token_file = path;
    ask(f);
    assert_str(api_header(&f->call, "Authorization"), "Bearer one");
    put_token(path, "two");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    ask(f);
    assert_str(api_header(&f->call, "Authorization"), "Bearer one");
    api_answer(&f->call, 401, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.status, 401);
    ask(f);
    assert_str(api_header(&f->call, "Authorization"), "Bearer two");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static _Atomic unsigned freed_secrets, freed_wiped;

/* Stands before libcurl's own: what was a token must not be one any more when it is freed. */
void curl_slist_free_all(struct curl_slist *list) {
    while (list != NULL) {
        struct curl_slist *next = list->next;
        freed_secrets += strstr(list->data, "secret") != NULL;
        freed_wiped += list->data[0] == '\0';
        curl_free(list->data);
        curl_free(list);
        list = next;
    }
}

static void test_a_token_is_wiped(void **state) {
    struct fixture *f = *state;
    f->access.token = "secret";
    freed_secrets = freed_wiped = 0;
    ask(f);
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(freed_secrets, 0);
    assert_int_equal(freed_wiped, 1);
}

static void test_a_server_with_a_path(void **state) {
    struct fixture *f = *state;
    char server[128];
    (void)snprintf(server, sizeof server, "%s/clusters/one", f->api.url);
    f->access.server = server;
    ask(f);
    assert_str(f->call.path, "/clusters/one/api");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
}

static void test_a_server_that_is_no_url(void **state) {
    struct fixture *f = *state;
    struct err err;
    f->access.server = "https://[::1";
    assert_int_equal(kube_client_new(&f->access, NULL, &f->client, &err), -EINVAL);
    assert_contains(err.text, "the server's address 'https://[::1' is no URL");
    assert_null(f->client);
}

/* ---- what is understood ---- */

static void test_an_answer(void **state) {
    struct fixture *f = *state;
    ask(f);
    api_answer(&f->call, 200, "Content-Type: text/plain; charset=utf-8\r\n", "hello");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_string_equal(f->asked.error_text, "");
    assert_int_equal(f->asked.status, 200);
    assert_int_equal(f->asked.heads, 1);
    assert_int_equal(f->asked.head_status, 200);
    assert_int_equal(f->asked.retry_after_ms, -1);
    assert_string_equal(f->asked.content_type, "text/plain; charset=utf-8");
    assert_str(strbuf_str(&f->asked.body), "hello");
}

static void test_an_answer_without_anything(void **state) {
    struct fixture *f = *state;
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 204 No Content\r\n\r\n"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_int_equal(f->asked.status, 204);
    assert_string_equal(f->asked.content_type, "");
    assert_int_equal(f->asked.body.n, 0);
}

/* on_done may start the request again, and connections are kept. */
static void test_the_connection_is_used_again(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < 5; i++) {
        ask(f);
        assert_int_equal(f->call.connection, 0);
        api_answer(&f->call, 200, "", "{}");
        asked_wait(&f->asked);
        assert_int_equal(f->asked.ends, i + 1);
    }
}

/* A server may close an idle connection just when the next request is sent on it. */
static void test_a_connection_that_was_closed_meanwhile(void **state) {
    struct fixture *f = *state;
    ask(f);
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    ask(f);
    api_close(&f->call);
    api_take(&f->api, &f->call);
    assert_int_equal(f->call.connection, 1);
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_int_equal(f->asked.ends, 2);
}

static void test_interim_answers_are_no_heads(void **state) {
    struct fixture *f = *state;
    asked_stream(&f->asked);
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 100 Continue\r\n\r\n"
                                  "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "5\r\nhello\r\n0\r\nTrailer: one\r\n\r\n"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_int_equal(f->asked.heads, 1);
    assert_int_equal(f->asked.head_status, 200);
    assert_str(strbuf_str(&f->asked.body), "hello");
}

static void test_the_status_comes_before_the_body(void **state) {
    struct fixture *f = *state;
    asked_stream(&f->asked);
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\n"));
    wait_sem(&f->asked.told, "the status");
    assert_int_equal(f->asked.head_status, 410);
    assert_int_equal(f->asked.ends, 0);
    assert_true(api_say(&f->call, "gone"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_str(strbuf_str(&f->asked.body), "gone");
}

/* The server's clock, a second after the last answer at most, but for slow machines. time() may be
 * a tick behind, and so a second at its end. */
static void expect_clock(struct fixture *f, int64_t server_s) {
    int64_t after_us = kube_server_us(f->client) - server_s * 1000000;
    assert_true(after_us >= 0 && after_us < 10000000);
    double ahead_s = metric_now("evenkeel_clock_ahead_seconds");
    assert_true(ahead_s + (double)(server_s + 11) >= (double)time(NULL));
    assert_true(ahead_s + (double)(server_s - 2) <= (double)time(NULL));
}

/* An answer of a server whose clock is so much behind ours. */
static void compare_behind(struct fixture *f, time_t behind_s) {
    char date[64];
    time_t server_s = time(NULL) - behind_s;
    struct tm utc;
    (void)strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
                   gmtime_r(&server_s, &utc));
    ask(f);
    api_answer(&f->call, 200, date, "{}");
    asked_wait(&f->asked);
    expect_clock(f, server_s);
    kube_compare_clocks(f->client);
}

static void test_the_servers_clock(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *date;
        int64_t server_s; /* 0: the wall clock's */
    } answers[] = {
        {"X-Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 0},
        {"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 784111777},
        {"date:Sun, 06 Nov 1994 08:49:37 GMT\r\n", 784111777},
        {"Date: soon\r\n", 784111777},
        {"Date:\r\n", 784111777},
        {"Date: Fri, 01 Jan 2100 00:00:00 GMT\r\n", 4102444800},
    };
    char text[4096];
    int log[2];
    assert_int_equal(pipe(log), 0);
    log_setup(LOG_INFO, LOG_LOGFMT, log[1]);
    open_client(f);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        int64_t wall_s = time(NULL);
        ask(f);
        api_answer(&f->call, 200, answers[i].date, "{}");
        asked_wait(&f->asked);
        expect_clock(f, answers[i].server_s != 0 ? answers[i].server_s : wall_s);
        kube_compare_clocks(f->client);
    }
    compare_behind(f, 45);
    assert_int_equal(write(log[1], "still", 5), 5);
    compare_behind(f, 0);
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    ssize_t n = read(log[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = '\0';
    const char *warned = strstr(text, "set the clock right"),
               *over = strstr(text, "API server's again");
    const char *still = strstr(text, "still");
    assert_non_null(warned);
    assert_null(strstr(warned + 1, "set the clock right")); /* once */
    assert_non_null(still);
    assert_non_null(over);
    assert_true(over > still);
    (void)close(log[0]);
    (void)close(log[1]);
}

static void test_redirects_are_answers(void **state) {
    struct fixture *f = *state;
    char header[128];
    ask(f);
    (void)snprintf(header, sizeof header, "Location: %s/elsewhere\r\n", f->api.url);
    api_answer(&f->call, 302, header, "");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_int_equal(f->asked.status, 302);
}

static int64_t retry_after(struct fixture *f, const char *header) {
    ask(f);
    api_answer(&f->call, 429, header, "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    return f->asked.retry_after_ms;
}

static void test_retry_after(void **state) {
    struct fixture *f = *state;
    assert_int_equal(retry_after(f, ""), -1);
    assert_int_equal(retry_after(f, "Retry-After: 7\r\n"), 7000);
    assert_int_equal(retry_after(f, "Retry-After: soon\r\n"), -1);
    assert_int_equal(retry_after(f, "Retry-After: -7\r\n"), -1);
    /* nobody is to wait for years because of one odd answer */
    assert_int_equal(retry_after(f, "Retry-After: 9223372036854775807\r\n"), 300000);
    assert_int_equal(retry_after(f, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n"), 300000);
}

/* ---- limits ---- */

static void test_a_body_up_to_the_limit(void **state) {
    struct fixture *f = *state;
    f->asked.request.max_body = 5;
    ask(f);
    api_answer(&f->call, 200, "", "12345");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
    assert_str(strbuf_str(&f->asked.body), "12345");
}

static void test_a_body_beyond_the_limit(void **state) {
    struct fixture *f = *state;
    f->asked.request.max_body = 5;
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "3\r\n123\r\n3\r\n456\r\n0\r\n\r\n"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -EFBIG);
    assert_string_equal(f->asked.error_text, "the answer is larger than 5 bytes");
    assert_int_equal(f->asked.status, 200);
}

static void test_on_data_has_seen_enough(void **state) {
    struct fixture *f = *state;
    asked_stream(&f->asked);
    f->asked.enough = 5;
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ECANCELED);
    assert_int_equal(f->asked.status, 200);
    assert_str(strbuf_str(&f->asked.body), "hello");
    api_wait_gone(&f->call);
}

static void test_no_answer_in_time(void **state) {
    struct fixture *f = *state;
    f->asked.request.timeout_ms = SOON_MS;
    ask(f);
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ETIMEDOUT);
    assert_int_equal(f->asked.status, 0);
    assert_int_equal(f->asked.heads, 0);
    assert_string_not_equal(f->asked.error_text, "");
    api_wait_gone(&f->call);
}

static void test_half_an_answer_in_time(void **state) {
    struct fixture *f = *state;
    f->asked.request.timeout_ms = 10 * SOON_MS;
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ETIMEDOUT);
    assert_int_equal(f->asked.status, 200);
    assert_int_equal(f->asked.heads, 1);
}

/* A server that has begun and then says nothing more, though there is time left. */
static void test_silence(void **state) {
    struct fixture *f = *state;
    f->asked.request.timeout_ms = 600000;
    f->asked.request.silence_ms = 1; /* counted in whole seconds */
    asked_stream(&f->asked);
    ask(f);
    assert_true(api_say(&f->call, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ETIMEDOUT);
}

/* ---- trouble ---- */

static void test_nobody_listens(void **state) {
    struct fixture *f = *state;
    api_deafen(&f->api);
    open_client(f);
    kube_request_start(f->client, &f->asked.request);
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ECONNREFUSED);
    assert_int_equal(f->asked.status, 0);
    assert_string_not_equal(f->asked.error_text, "");
}

static void expect_cut(struct fixture *f, const char *said, int status) {
    unsigned ends = f->asked.ends;
    ask(f);
    assert_true(api_say(&f->call, said));
    api_close(&f->call);
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ECONNRESET);
    assert_int_equal(f->asked.status, status);
    assert_string_not_equal(f->asked.error_text, "");
    assert_int_equal(f->asked.ends, ends + 1);
}

static void test_the_connection_is_cut(void **state) {
    struct fixture *f = *state;
    expect_cut(f, "", 0);
    expect_cut(f, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", 200);
    expect_cut(f, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 200);
}

static void test_the_connection_is_reset(void **state) {
    struct fixture *f = *state;
    ask(f);
    api_reset(&f->call);
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -ECONNRESET);
}

static void test_not_http(void **state) {
    struct fixture *f = *state;
    ask(f);
    assert_true(api_say(&f->call, "SSH-2.0-OpenSSH_9.2\r\n"));
    api_close(&f->call);
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, -EIO);
    assert_int_equal(f->asked.status, 0);
}

/* ---- proxies ---- */

static void set_proxy_variables(const char *http_proxy, const char *no_proxy) {
    assert_int_equal(setenv("http_proxy", http_proxy, 1), 0); /* NOLINT(concurrency-mt-unsafe) */
    assert_int_equal(setenv("all_proxy", http_proxy, 1), 0);  /* NOLINT(concurrency-mt-unsafe) */
    assert_int_equal(setenv("no_proxy", no_proxy, 1), 0);     /* NOLINT(concurrency-mt-unsafe) */
}

/* Only the kubeconfig decides. */
static void test_proxies_of_the_environment(void **state) {
    struct fixture *f = *state;
    set_proxy_variables("http://127.0.0.1:1", "");
    ask(f);
    assert_str(f->call.path, "/api");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
}

static void test_no_proxy_of_the_environment(void **state) {
    struct fixture *f = *state;
    set_proxy_variables("http://127.0.0.1:1", "*");
    f->access.server = "http://127.0.0.1:1";
    f->access.proxy_url = f->api.url;
    open_client(f);
    kube_request_start(f->client, &f->asked.request);
    api_take(&f->api, &f->call);
    assert_str(f->call.path, "http://127.0.0.1:1/api");
    assert_str(api_header(&f->call, "Host"), "127.0.0.1:1");
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
}

/* What the proxy says of itself is not the server's answer. */
static void test_a_proxy_that_refuses(void **state) {
    struct fixture *f = *state;
    f->access.server = "https://127.0.0.1:1";
    f->access.proxy_url = f->api.url;
    f->access.token = "secret";
    ask(f);
    assert_str(f->call.method, "CONNECT");
    assert_str(f->call.path, "127.0.0.1:1");
    assert_str(api_header(&f->call, "Authorization"), "");
    api_answer(&f->call, 403, "", "no");
    api_close(&f->call);
    asked_wait(&f->asked);
    assert_true(f->asked.error < 0);
    assert_int_equal(f->asked.status, 0);
    assert_int_equal(f->asked.heads, 0);
    assert_int_equal(f->asked.body.n, 0);
    assert_contains(f->asked.error_text, "403");
}

/* ---- waiting for an answer ---- */

struct waiter {
    struct kube_client *client;
    struct strbuf body;
    struct err err;
    int result, status;
};

static void *wait_for_answer(void *ctx) {
    struct waiter *w = ctx;
    w->result = kube_call(w->client, "POST", "/api", STR("{}"), &w->body, &w->status, &w->err);
    return NULL;
}

static void call_and_answer(struct fixture *f, struct waiter *w, const char *body) {
    pthread_t thread;
    if (f->client == NULL)
        open_client(f);
    strbuf_clear(&w->body);
    w->client = f->client;
    w->status = -1;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_answer, w), 0);
    api_expect(&f->api, &f->call, "POST", "/api");
    if (body != NULL)
        api_answer(&f->call, 403, "", body);
    api_close(&f->call);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_call(void **state) {
    struct fixture *f = *state;
    struct waiter w = {.body = {.max = 5}};
    call_and_answer(f, &w, "no");
    assert_int_equal(w.result, 0);
    assert_int_equal(w.status, 403);
    assert_str(strbuf_str(&w.body), "no");
    call_and_answer(f, &w, "too much");
    assert_int_equal(w.result, -EFBIG);
    assert_int_equal(w.err.code, -EFBIG);
    assert_int_equal(w.status, -1);
    call_and_answer(f, &w, NULL);
    assert_int_equal(w.result, -ECONNRESET);
    assert_string_not_equal(w.err.text, "");
    strbuf_done(&w.body);
}

static void test_two_clients(void **state) {
    struct fixture *f = *state;
    struct kube_client *other = NULL;
    assert_int_equal(kube_client_new(&f->access, NULL, &other, NULL), 0);
    ask(f);
    kube_client_free(other); /* what libcurl has for all of them stays */
    api_answer(&f->call, 200, "", "{}");
    asked_wait(&f->asked);
    assert_int_equal(f->asked.error, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_headers),
        TEST(test_methods_with_a_body),
        TEST(test_requests_are_counted),
        TEST(test_two_roles_at_one_host),
        TEST(test_a_token_is_shown),
        TEST(test_a_large_body),
        TEST(test_a_token_that_is_refused),
        TEST(test_a_token_is_wiped),
        TEST(test_a_server_with_a_path),
        TEST(test_a_server_that_is_no_url),
        TEST(test_an_answer),
        TEST(test_an_answer_without_anything),
        TEST(test_the_connection_is_used_again),
        TEST(test_a_connection_that_was_closed_meanwhile),
        TEST(test_interim_answers_are_no_heads),
        TEST(test_the_status_comes_before_the_body),
        TEST(test_redirects_are_answers),
        TEST(test_retry_after),
        TEST(test_the_servers_clock),
        TEST(test_a_body_up_to_the_limit),
        TEST(test_a_body_beyond_the_limit),
        TEST(test_on_data_has_seen_enough),
        TEST(test_no_answer_in_time),
        TEST(test_half_an_answer_in_time),
        TEST(test_silence),
        TEST(test_nobody_listens),
        TEST(test_the_connection_is_cut),
        TEST(test_the_connection_is_reset),
        TEST(test_not_http),
        TEST(test_proxies_of_the_environment),
        TEST(test_no_proxy_of_the_environment),
        TEST(test_a_proxy_that_refuses),
        TEST(test_call),
        TEST(test_two_clients),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
