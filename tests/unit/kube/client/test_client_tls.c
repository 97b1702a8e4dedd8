/* Certificates on both sides, and proxies in between. */
#include "base/log.h"
#include "http/http.h"
#include "kube/client/client.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/kube/api.h"
#include "unit/kube/asked.h"
#include "unit/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
    struct pki pki;
    struct served served;
    struct kube_access access;
    struct clock_fake clock;
    struct kube_client *client;
    struct asked asked[2];
    struct api proxy;
    char server[64], files[4][128]; /* CA, client's certificate and key */
};

static void host(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    http_answer_text(response, 200, "%.*s", STR_ARG(http_request_header(request, "Host")));
}

static void who(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    http_answer_text(response, 200, "%.*s", STR_ARG(request->client));
}

static void gate(void *ctx, const struct http_request *request, struct http_response *response) {
    struct served *s = ctx;
    (void)request;
    (void)sem_post(&s->entered);
    (void)sem_wait(&s->leave);
    http_answer_text(response, 200, "through");
}

static void make_certificates(const struct pki *pki) {
    pki_make(pki, &(struct pki_wish){.name = "ca", .cn = "CA", .ca = true});
    pki_make(pki, &(struct pki_wish){.name = "other", .cn = "Other", .ca = true});
    pki_make(pki, &(struct pki_wish){.name = "server",
                                     .issuer = "ca",
                                     .cn = "server",
                                     .dns = "api.example",
                                     .for_servers = true});
    pki_make(pki, &(struct pki_wish){
                      .name = "client", .issuer = "ca", .cn = "first", .for_clients = true});
    pki_make(pki, &(struct pki_wish){
                      .name = "next", .issuer = "ca", .cn = "second", .for_clients = true});
}

static void keep_path(struct fixture *f, int i, const char *name) {
    (void)snprintf(f->files[i], sizeof f->files[i], "%s", pki_path(&f->pki, name)); /* fits */
}

static const struct http_route rows[] = {
    {"GET", "/host", "host", host, HTTP_ANY},
    {"GET", "/who", "who", who, HTTP_ANY},
    {"GET", "/gate", "gate", gate, HTTP_ANY},
};
static const struct http_routes routes = HTTP_ROUTES(rows);

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.client = NULL};
    pki_init(&f.pki);
    make_certificates(&f.pki);
    keep_path(&f, 0, "ca.pem");
    keep_path(&f, 1, "client.pem");
    keep_path(&f, 2, "client.key");
    keep_path(&f, 3, "other.pem");
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f.served, NULL};
    f.served.options.tls.cert_file = pki_path(&f.pki, "server.pem");
    f.served.options.tls.key_file = pki_path(&f.pki, "server.key");
    f.served.options.tls.client_ca_file = pki_path(&f.pki, "ca.pem");
    served_start(&f.served);
    (void)snprintf(f.server, sizeof f.server, "https://%s", served_address(&f.served)); /* fits */
    f.access = (struct kube_access){.server = f.server,
                                    .tls_server_name = "api.example",
                                    .source = "the test",
                                    .ca.file = f.files[0],
                                    .client_certificate.file = f.files[1],
                                    .client_key.file = f.files[2]};
    clock_fake_init(&f.clock, 1000000);
    api_init(&f.proxy);
    asked_init(&f.asked[0], "GET", "/host");
    asked_init(&f.asked[1], "GET", "/host");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    (void)sem_post(&f->served.leave); /* whoever stands there still */
    (void)sem_post(&f->served.leave);
    kube_client_free(f->client);
    asked_done(&f->asked[0]);
    asked_done(&f->asked[1]);
    served_done(&f->served);
    api_done(&f->proxy);
    pki_done(&f->pki);
    return 0;
}

static void start(struct fixture *f, unsigned i) {
    struct err err;
    if (f->client == NULL && kube_client_new(&f->access, &f->clock.clock, &f->client, &err) != 0)
        fail_msg("%s", err.text);
    kube_request_start(f->client, &f->asked[i].request);
}

static void expect_answer(struct asked *asked, const char *body) {
    asked_wait(asked);
    assert_string_equal(asked->error_text, "");
    assert_int_equal(asked->error, 0);
    assert_int_equal(asked->status, 200);
    assert_int_equal(asked->heads, 1);
    assert_str(strbuf_str(&asked->body), body);
}

static void expect_refusal(struct asked *asked) {
    asked_wait(asked);
    assert_int_equal(asked->error, -EIO);
    assert_int_equal(asked->status, 0);
    assert_int_equal(asked->heads, 0);
    assert_contains(asked->error_text, "certificate");
}

/* ---- the server's certificate ---- */

/* Its name is checked against tls-server-name, and the request goes to the address. */
static void test_another_name(void **state) {
    struct fixture *f = *state;
    char body[80];
    start(f, 0);
    (void)snprintf(body, sizeof body, "%s\n", served_address(&f->served)); /* fits */
    expect_answer(&f->asked[0], body);
}

static void test_not_that_name(void **state) {
    struct fixture *f = *state;
    f->access.tls_server_name = NULL;
    start(f, 0);
    expect_refusal(&f->asked[0]);
}

static void test_not_that_ca(void **state) {
    struct fixture *f = *state;
    f->access.ca.file = f->files[3];
    start(f, 0);
    expect_refusal(&f->asked[0]);
}

static void test_nothing_is_checked(void **state) {
    struct fixture *f = *state;
    f->access.ca.file = f->files[3];
    f->access.tls_server_name = NULL;
    f->access.insecure_skip_tls_verify = true;
    start(f, 0);
    asked_wait(&f->asked[0]);
    assert_int_equal(f->asked[0].error, 0);
}

/* ---- ours ---- */

static void test_our_certificate(void **state) {
    struct fixture *f = *state;
    f->asked[0].request.path = "/who";
    start(f, 0);
    expect_answer(&f->asked[0], "first\n");
}

/* Whatever streams ends when the certificates are replaced; what is a question goes on. */
static void test_our_certificate_is_replaced(void **state) {
    struct fixture *f = *state;
    f->asked[0].request.path = f->asked[1].request.path = "/gate";
    asked_stream(&f->asked[0]);
    start(f, 0);
    start(f, 1);
    wait_sem(&f->served.entered, "the first request");
    wait_sem(&f->served.entered, "the second request");
    pki_copy(&f->pki, "next.key", "client.key");
    pki_copy(&f->pki, "next.pem", "client.pem");
    f->clock.at_ms += 10000;
    asked_wait(&f->asked[0]);
    assert_int_equal(f->asked[0].error, -ECONNRESET);
    assert_string_equal(f->asked[0].error_text, "the certificates have changed");
    assert_int_equal(f->asked[0].heads, 0);
    assert_int_equal(f->asked[1].ends, 0);
    (void)sem_post(&f->served.leave);
    (void)sem_post(&f->served.leave);
    expect_answer(&f->asked[1], "through\n");
    asked_done(&f->asked[0]);
    asked_init(&f->asked[0], "GET", "/who");
    start(f, 0);
    expect_answer(&f->asked[0], "second\n");
}

/* ---- through a proxy ---- */

static bool pass_on(int from, int to) {
    char bytes[1 << 14];
    ssize_t n = recv(from, bytes, sizeof bytes, 0);
    for (ssize_t at = 0, sent; at < n; at += sent)
        if ((sent = send(to, bytes + at, (size_t)(n - at), MSG_NOSIGNAL)) <= 0)
            return false;
    return n > 0;
}

/* Between the client and the server, until one of them ends or the request is over. */
static void relay(struct fixture *f, const struct api_call *call, struct net *server) {
    int client = f->proxy.connections[call->connection].fd;
    struct pollfd both[] = {{client, POLLIN, 0}, {server->fd, POLLIN, 0}};
    bool open = true;
    for (int rounds = 0; open && f->asked[0].ends == 0 && rounds < 1000; rounds++) {
        (void)poll(both, 2, 10); /* looks for the end now and then */
        for (int i = 0; open && i < 2; i++)
            if (both[i].revents != 0)
                open = pass_on(both[i].fd, both[1 - i].fd);
    }
}

/* What the proxy says is not the answer, and on_head is told once. */
static void test_through_a_proxy(void **state) {
    struct fixture *f = *state;
    struct api_call call = {0};
    struct net server;
    char body[80], name[64];
    (void)snprintf(body, sizeof body, "%s\n", served_address(&f->served)); /* fits */
    (void)snprintf(name, sizeof name, "%s", served_address(&f->served));   /* fits */
    f->access.proxy_url = f->proxy.url;
    start(f, 0);
    api_expect(&f->proxy, &call, "CONNECT", name);
    assert_true(net_open(&server, served_address(&f->served)));
    assert_true(api_say(&call, "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n"));
    relay(f, &call, &server);
    expect_answer(&f->asked[0], body);
    net_close(&server);
    api_call_done(&call);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_another_name),    TEST(test_not_that_name),
        TEST(test_not_that_ca),     TEST(test_nothing_is_checked),
        TEST(test_our_certificate), TEST(test_our_certificate_is_replaced),
        TEST(test_through_a_proxy),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    return cmocka_run_group_tests_name("client over TLS", tests, NULL, NULL);
}
