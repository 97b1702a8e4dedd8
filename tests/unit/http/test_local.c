/*
 * Which requests count as sent on this machine: over the loopback, by a program that names the
 * machine, and not by a mesh's proxy, which comes from 127.0.0.6. Over TLS the certificate has told
 * which name was meant.
 */
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <stdio.h>

struct fixture {
    struct served served;
    struct pki pki;
    char cert[512], key[512];
};

static void local(void *ctx, const struct http_request *request, struct http_response *response) {
    (void)ctx;
    http_answer_text(response, 200, "%s %s", request->is_local ? "local" : "remote",
                     request->peer_is_loopback ? "loopback" : "network");
}
static const struct http_route rows[] = {{"GET", "/local", "local", local, HTTP_ANY}};
static const struct http_routes routes = HTTP_ROUTES(rows);

static void begin(struct fixture *f, bool tls) {
    *f = (struct fixture){.cert = ""};
    served_init(&f->served);
    f->served.options.services[0] = (struct http_service){.routes = &routes};
    if (tls) {
        pki_init(&f->pki);
        pki_make(&f->pki, &(struct pki_wish){.name = "server", .cn = "server"});
        (void)snprintf(f->cert, sizeof f->cert, "%s", pki_path(&f->pki, "server.pem"));
        (void)snprintf(f->key, sizeof f->key, "%s", pki_path(&f->pki, "server.key"));
        f->served.options.tls.cert_file = f->cert;
        f->served.options.tls.key_file = f->key;
    }
    served_start(&f->served);
}

static void end(struct fixture *f) {
    served_done(&f->served);
    if (f->cert[0] != '\0')
        pki_done(&f->pki);
}

static void expect(struct net *net, const char *host, const char *text) {
    char request[256];
    struct net_answer answer = {0};
    (void)snprintf(request, sizeof request, "GET /local HTTP/1.1\r\nHost: %s\r\n\r\n", host);
    assert_true(net_say(net, request));
    assert_true(net_hear(net, &answer));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body.p, text);
    net_answer_done(&answer);
    net_close(net);
}

static void over_plain_http(void **state) {
    static const struct {
        const char *from, *host, *text;
    } table[] = {
        {"127.0.0.1", "localhost:8080", "local loopback\n"},
        {"127.0.0.1", "127.0.0.1", "local loopback\n"},
        {"127.0.0.1", "[::1]:8080", "local loopback\n"},
        {"127.0.0.7", "localhost", "local loopback\n"},
        {"127.0.0.1", "evenkeel.example.com", "remote loopback\n"}, /* a name that resolves here */
        {"127.0.0.1", "127.0.0.1.example.com", "remote loopback\n"},
        {"127.0.0.6", "localhost", "remote loopback\n"}, /* Istio's proxy */
        {"127.0.0.6", "evenkeel.example.com", "remote loopback\n"},
        {"127.0.0.60", "localhost", "local loopback\n"},
    };
    struct fixture f;
    (void)state;
    begin(&f, false);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct net net;
        assert_true(net_open_from(&net, table[i].from, served_address(&f.served)));
        expect(&net, table[i].host, table[i].text);
    }
    end(&f);
}

static void over_tls(void **state) {
    struct fixture f;
    const struct net_tls tls = {.ca_file = NULL};
    static const char *const hosts[] = {"localhost", "evenkeel.example.com"};
    (void)state;
    begin(&f, true);
    for (size_t i = 0; i < 2; i++) {
        struct net net;
        assert_true(net_open_tls(&net, served_address(&f.served), &tls));
        expect(&net, hosts[i], "local loopback\n");
    }
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_plain_http),
        cmocka_unit_test(over_tls),
    };
    return cmocka_run_group_tests_name("local requests", tests, NULL, NULL);
}
