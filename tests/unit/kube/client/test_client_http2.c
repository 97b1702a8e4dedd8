/* An API server that offers HTTP/2: the listener of gRPC, which refuses what is no call of it. */
#include "base/metrics.h"
#include "grpc/listener.h"
#include "kube/client/client.h"
#include "unit/http/pki.h"
#include "unit/kube/asked.h"
#include "unit/unit.h"

#include <stdio.h>

enum { REQUESTS = 5 };

struct fixture {
    struct pki pki;
    struct http_tls_options tls;
    struct grpc_listener *listener;
    struct kube_access access;
    struct kube_client *client;
    struct asked asked[REQUESTS];
    char server[64], files[3][128]; /* CA, certificate and key */
};

static const struct grpc_method methods[1];
static const struct grpc_service service = {.path = "/none/", .methods = methods};

static int setup(void **state) {
    static struct fixture f;
    struct err err;
    f = (struct fixture){.client = NULL};
    pki_init(&f.pki);
    pki_make(&f.pki, &(struct pki_wish){.name = "ca", .cn = "CA", .ca = true});
    pki_make(&f.pki, &(struct pki_wish){.name = "server",
                                        .issuer = "ca",
                                        .cn = "server",
                                        .dns = "api.example",
                                        .for_servers = true});
    static const char *const names[] = {"ca.pem", "server.pem", "server.key"};
    for (int i = 0; i < 3; i++)
        (void)snprintf(f.files[i], sizeof f.files[i], "%s", pki_path(&f.pki, names[i])); /* fits */
    f.tls = (struct http_tls_options){.cert_file = f.files[1], .key_file = f.files[2]};
    const struct grpc_listener_options options = {
        .address = "127.0.0.1:0", .threads = 1, .service = &service, .tls = &f.tls};
    if (grpc_listener_start(&options, clock_real(), &f.listener, &err) != 0)
        fail_msg("%s", err.text);
    (void)snprintf(f.server, sizeof f.server, "https://%s",
                   grpc_listener_address(f.listener)); /* fits */
    f.access = (struct kube_access){.server = f.server,
                                    .tls_server_name = "api.example",
                                    .source = "the test",
                                    .ca.file = f.files[0],
                                    .multiplex = true};
    for (int i = 0; i < REQUESTS; i++)
        asked_init(&f.asked[i], "GET", "/api/v1/nodes");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    kube_client_free(f->client);
    for (int i = 0; i < REQUESTS; i++)
        asked_done(&f->asked[i]);
    grpc_listener_stop(f->listener, 0);
    pki_done(&f->pki);
    return 0;
}

static void ask_all(struct fixture *f) {
    struct err err;
    if (kube_client_new(&f->access, NULL, &f->client, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < REQUESTS; i++)
        kube_request_start(f->client, &f->asked[i].request);
    for (int i = 0; i < REQUESTS; i++)
        asked_wait(&f->asked[i]);
}

static void requests_at_the_same_time_share_a_connection(void **state) {
    struct fixture *f = *state;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    ask_all(f);
    for (int i = 0; i < REQUESTS; i++) {
        assert_int_equal(f->asked[i].error, 0);
        assert_int_equal(f->asked[i].status, 405); /* calls of gRPC are made with POST */
    }
    metrics_render(&text);
    strbuf_append_char(&text, '\0');
    assert_non_null(strstr(text.p, "\nevenkeel_estimator_connections 1\n"));
}

static void who_is_not_to_share_speaks_http1(void **state) {
    struct fixture *f = *state;
    f->access.multiplex = false;
    ask_all(f);
    for (int i = 0; i < REQUESTS; i++) {
        assert_true(f->asked[i].error < 0); /* which this server does not speak */
        assert_int_equal(f->asked[i].status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_at_the_same_time_share_a_connection, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(who_is_not_to_share_speaks_http1, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
