/* Who may call a listener that asks for client certificates. */
#include "base/file.h"
#include "base/limits.h"
#include "http/http.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

struct all {
    struct pki pki;
    struct served served;
    char cert[512], key[512], ca[512];
};

static const char *const allowed[] = {
    "system:kube-scheduler",          "dns:dns.example", "email:mail@example",
    "uri:spiffe://example/scheduler", "cn:plain",        "cn:dns:odd"};

static struct all *prepare(size_t allowed_count) {
    struct all *a = calloc(1, sizeof *a);
    assert_non_null(a);
    pki_init(&a->pki);
    pki_make(&a->pki, &(struct pki_wish){.name = "ca", .cn = "client CA", .ca = true});
    pki_make(&a->pki, &(struct pki_wish){.name = "other-ca", .cn = "other CA", .ca = true});
    pki_make(&a->pki, &(struct pki_wish){.name = "server", .cn = "server"});
    pki_copy(&a->pki, "ca.pem", "trusted.pem");
    (void)snprintf(a->cert, sizeof a->cert, "%s", pki_path(&a->pki, "server.pem"));
    (void)snprintf(a->key, sizeof a->key, "%s", pki_path(&a->pki, "server.key"));
    (void)snprintf(a->ca, sizeof a->ca, "%s", pki_path(&a->pki, "trusted.pem"));
    served_init(&a->served);
    a->served.options.tls = (struct http_tls_options){
        .cert_file = a->cert,
        .key_file = a->key,
        .client_ca_file = a->ca,
        .allowed_subjects = allowed_count > 0 ? allowed : NULL,
        .allowed_subject_count = allowed_count,
    };
    return a;
}

static struct all *begin(size_t allowed_count) {
    struct all *a = prepare(allowed_count);
    served_start(&a->served);
    return a;
}

static void end(struct all *a) {
    served_done(&a->served);
    pki_done(&a->pki);
    free(a);
}

/* Connects as the client whose files are NAME.pem and NAME.key; NULL: without a certificate. */
static void connect_as(struct all *a, const char *name, struct net *net) {
    char pem[64], key[64];
    struct net_tls tls = {.ca_file = NULL};
    if (name != NULL) {
        (void)snprintf(pem, sizeof pem, "%s.pem", name);
        (void)snprintf(key, sizeof key, "%s.key", name);
        tls.cert_file = pki_path(&a->pki, pem);
        tls.key_file = pki_path(&a->pki, key);
    }
    assert_true(net_open_tls(net, served_address(&a->served), &tls));
}

/* What "GET /who" answers to that client. */
static void expect(struct all *a, const char *name, int status, const char *text) {
    struct net net;
    struct net_answer answer = {0};
    connect_as(a, name, &net);
    for (int i = 0; i < (status == 200 ? 2 : 1); i++) { /* the second time from memory */
        assert_true(net_say(&net, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_true(net_hear(&net, &answer));
        if (answer.status != status)
            fail_msg("%s: %d %s", name != NULL ? name : "nobody", answer.status, answer.body.p);
        assert_contains(answer.body.p, text);
        assert_int_equal(strchr(answer.body.p, '\n') - answer.body.p, (int)answer.body.n - 1);
    }
    assert_int_equal(status != 200, strstr(answer.head.p, "Connection: close") != NULL);
    if (status != 200)
        assert_true(net_ended(&net));
    net_answer_done(&answer);
    net_close(&net);
}

static void make_client(struct all *a, struct pki_wish wish) {
    wish.name = "client";
    wish.issuer = wish.issuer != NULL ? wish.issuer : "ca";
    pki_make(&a->pki, &wish);
}

static void test_no_certificate(void **state) {
    (void)state;
    struct all *a = begin(0);
    expect(a, NULL, 401, "a client certificate is needed here");
    end(a);
}

static void test_any_verified_certificate(void **state) {
    (void)state;
    struct all *a = begin(0);
    make_client(a, (struct pki_wish){.cn = "anybody", .for_clients = true});
    expect(a, "client", 200, "anybody|127.0.0.1:");
    make_client(a, (struct pki_wish){.cn = "no purposes named"});
    expect(a, "client", 200, "no purposes named|");
    make_client(a, (struct pki_wish){.dns = "only.an.alternative.name"});
    expect(a, "client", 200, "dns:only.an.alternative.name|");
    make_client(a, (struct pki_wish){.for_clients = true});
    expect(a, "client", 200, "a certificate without a name|");
    end(a);
}

static void test_other_ca(void **state) {
    (void)state;
    struct all *a = begin(0);
    make_client(a, (struct pki_wish){.cn = "system:kube-scheduler", .issuer = "other-ca"});
    expect(a, "client", 403, "certificate of client 'system:kube-scheduler' refused: ");
    pki_make(&a->pki, &(struct pki_wish){.name = "self", .cn = "self-signed", .for_clients = true});
    expect(a, "self", 403, "certificate of client 'self-signed' refused: ");
    end(a);
}

/* The name of the CA alone proves nothing. */
static void test_ca_of_the_same_name(void **state) {
    (void)state;
    struct all *a = begin(0);
    pki_make(&a->pki, &(struct pki_wish){.name = "twin", .cn = "client CA", .ca = true});
    make_client(a, (struct pki_wish){.cn = "forged", .issuer = "twin", .for_clients = true});
    expect(a, "client", 403, "certificate of client 'forged' refused: ");
    end(a);
}

static void test_wrong_purpose(void **state) {
    (void)state;
    struct all *a = begin(0);
    make_client(a, (struct pki_wish){.cn = "a server", .for_servers = true});
    expect(a, "client", 403, "certificate of client 'a server' refused: ");
    make_client(a, (struct pki_wish){.cn = "both", .for_servers = true, .for_clients = true});
    expect(a, "client", 200, "both|");
    end(a);
}

static void test_dates(void **state) {
    (void)state;
    struct all *a = begin(0);
    make_client(a, (struct pki_wish){.cn = "expired", .from_s = -90, .to_s = -60});
    expect(a, "client", 403, "expired");
    make_client(a, (struct pki_wish){.cn = "early", .from_s = 600, .to_s = 900});
    expect(a, "client", 403, "not yet");
    end(a);
}

static void test_allowed_subjects(void **state) {
    (void)state;
    struct all *a = begin(sizeof allowed / sizeof allowed[0]);
    make_client(a, (struct pki_wish){.cn = "system:kube-scheduler", .for_clients = true});
    expect(a, "client", 200, "system:kube-scheduler|");
    make_client(a, (struct pki_wish){.cn = "x", .dns = "dns.example"});
    expect(a, "client", 200, "dns:dns.example|");
    make_client(a, (struct pki_wish){.cn = "x", .dns = "y.example", .email = "mail@example"});
    expect(a, "client", 200, "email:mail@example|");
    make_client(a, (struct pki_wish){.cn = "x", .uri = "spiffe://example/scheduler"});
    expect(a, "client", 200, "uri:spiffe://example/scheduler|");
    make_client(a, (struct pki_wish){.cn = "plain"});
    expect(a, "client", 200, "plain|");
    make_client(a, (struct pki_wish){.cn = "dns:odd"});
    expect(a, "client", 200, "cn:dns:odd|");
    end(a);
}

/* What "GET /where" answers to the client. */
static void expect_at(struct all *a, const char *path, int status, const char *text) {
    struct net net;
    struct net_answer answer = {0};
    char request[64];
    (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); /* fits */
    connect_as(a, "client", &net);
    assert_true(net_say(&net, request));
    assert_true(net_hear(&net, &answer));
    if (answer.status != status)
        fail_msg("%s: %d %s", path, answer.status, answer.body.p);
    assert_contains(answer.body.p, text);
    net_answer_done(&answer);
    net_close(&net);
}

static void name_client(void *ctx, const struct http_request *request,
                        struct http_response *response) {
    (void)ctx;
    http_answer_text(response, 200, "fleet %.*s|", STR_ARG(request->client));
}

/* Some routes have a list of their own. Who is on one list only may not call the others. */
static void test_subjects_of_a_service(void **state) {
    (void)state;
    static const char *const own[] = {"fleet", "both", "dns:also.example"};
    static const struct http_subjects subjects = {own, 3, "some.setting"};
    static const struct http_route rows[] = {{"GET", "/fleet", "fleet", name_client, HTTP_ANY}};
    static const struct http_routes routes = HTTP_ROUTES(rows);
    static const char *const callers[] = {"scheduler", "both", "dns:also.example"};
    static const struct {
        struct pki_wish wish;
        int who, fleet;
        const char *name;         /* the first that is on a list, or the first */
        const char *name_of_open; /* the same where the listener has no list; NULL: that one */
    } people[] = {
        {{.cn = "scheduler"}, 200, 403, "scheduler", NULL},
        {{.cn = "fleet"}, 403, 200, "fleet", NULL},
        {{.cn = "both"}, 200, 200, "both", NULL},
        {{.cn = "x", .dns = "also.example"}, 200, 200, "dns:also.example", NULL},
        {{.cn = "scheduler", .dns = "also.example"}, 200, 200, "scheduler", "dns:also.example"},
        {{.cn = "nobody"}, 403, 403, "nobody", NULL},
    };
    for (int open = 0; open < 2; open++) {
        struct all *a = prepare(0);
        struct http_service *last = a->served.options.services;
        while (last->routes != NULL)
            last++;
        *last = (struct http_service){&routes, NULL, &subjects};
        if (!open) {
            a->served.options.tls.allowed_subjects = callers;
            a->served.options.tls.allowed_subject_count = 3;
        }
        served_start(&a->served);
        for (size_t i = 0; i < sizeof people / sizeof people[0]; i++) {
            const char *name = people[i].name;
            if (open && people[i].name_of_open != NULL)
                name = people[i].name_of_open;
            make_client(a, people[i].wish);
            expect_at(a, "/who", open ? 200 : people[i].who, name);
            expect_at(a, "/fleet", people[i].fleet, name);
        }
        make_client(a, (struct pki_wish){.cn = "scheduler"});
        expect_at(a, "/fleet", 403, "add one of its certificate's names to some.setting");
        end(a);
    }
}

/* A name of one type is no name of another. An approver of certificate requests who looks at the
 * common name, as the API server does, must not sign somebody else's rights away. */
static void test_names_of_another_type(void **state) {
    (void)state;
    struct all *a = begin(sizeof allowed / sizeof allowed[0]);
    static const struct {
        struct pki_wish wish;
        const char *refusal;
    } rows[] = {
        {{.cn = "alice", .dns = "system:kube-scheduler"}, "write 'dns:system:kube-scheduler'"},
        {{.cn = "alice", .uri = "system:kube-scheduler"}, "write 'uri:system:kube-scheduler'"},
        {{.cn = "alice", .email = "system:kube-scheduler"}, "write 'email:system:kube-scheduler'"},
        {{.cn = "dns.example"}, "write 'dns.example'"},
        {{.cn = "mail@example"}, "write 'mail@example'"},
        {{.cn = "spiffe://example/scheduler"}, "write 'spiffe://example/scheduler'"},
        {{.cn = "alice", .email = "dns.example"}, "write 'email:dns.example'"},
        {{.cn = "dns:dns.example"}, "client 'cn:dns:dns.example' may not call"},
        {{.cn = "cn:plain"}, "client 'cn:cn:plain' may not call"},
        {{.cn = "alice", .dns = "odd"}, "client 'alice' may not call"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make_client(a, rows[i].wish);
        expect(a, "client", 403, rows[i].refusal);
    }
    end(a);
}

/* The API server (Go) takes the last common name for the user's, others the first. */
static void test_two_common_names(void **state) {
    (void)state;
    struct all *a = begin(sizeof allowed / sizeof allowed[0]);
    make_client(a, (struct pki_wish){.cn = "system:kube-scheduler", .second_cn = "alice"});
    expect(a, "client", 403, "may not call this listener");
    make_client(a, (struct pki_wish){.cn = "alice", .second_cn = "system:kube-scheduler"});
    expect(a, "client", 403, "may not call this listener");
    make_client(a, (struct pki_wish){.cn = "alice", .second_cn = "bob", .dns = "dns.example"});
    expect(a, "client", 200, "dns:dns.example|");
    end(a);
}

static void test_subjects_that_are_not_allowed(void **state) {
    (void)state;
    struct all *a = begin(sizeof allowed / sizeof allowed[0]);
    static const char *const names[] = {"system:kube-schedule", "system:kube-scheduler2",
                                        "System:kube-scheduler", "mallory"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "client '%s' may not call this listener", names[i]);
        make_client(a, (struct pki_wish){.cn = names[i], .dns = "a.dns.example"});
        expect(a, "client", 403, text);
    }
    expect(a, NULL, 401, "a client certificate is needed here");
    end(a);
}

/* Refused before the body is taken: nothing of it is kept, and much of it is not even read. */
static void test_refused_before_the_body(void **state) {
    (void)state;
    struct all *a = begin(0);
    struct net net;
    struct net_answer answer = {0};
    a->served.options.limits.body_bytes = 1 << 30;
    connect_as(a, NULL, &net);
    assert_true(net_say(&net, "POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n"));
    assert_true(net_hear(&net, &answer));
    assert_int_equal(answer.status, 401);
    assert_true(net_ended(&net));
    net_close(&net);
    connect_as(a, NULL, &net);
    assert_true(net_post(&net, "/echo", 100, &answer));
    assert_int_equal(answer.status, 401);
    assert_true(net_ended(&net));
    net_close(&net);
    connect_as(a, NULL, &net);
    assert_true(net_post(&net, "/nowhere", 100, &answer)); /* nor does a stranger see the paths */
    assert_int_equal(answer.status, 401);
    net_answer_done(&answer);
    net_close(&net);
    end(a);
}

/* A certificate with very many names is cut off in the handshake; one with many is not searched to
 * its end. */
static void test_certificates_with_many_names(void **state) {
    (void)state;
    struct all *a = begin(sizeof allowed / sizeof allowed[0]);
    struct net net;
    struct net_answer answer = {0};
    struct net_tls tls = {.cert_file = pki_path(&a->pki, "client.pem"),
                          .key_file = pki_path(&a->pki, "client.key")};
    make_client(a, (struct pki_wish){.cn = "system:kube-scheduler", .many_names = 300});
    if (net_open_tls(&net, served_address(&a->served), &tls)) /* TLS 1.3 clients finish first */
        assert_false(net_post(&net, "/echo", 2, &answer));
    net_answer_done(&answer);
    net_close(&net);
    make_client(a, (struct pki_wish){.cn = "mallory", .many_names = 100, .dns = "dns.example"});
    expect(a, "client", 403, "client 'mallory' may not call this listener");
    make_client(a, (struct pki_wish){.cn = "system:kube-scheduler", .many_names = 100});
    expect(a, "client", 200, "system:kube-scheduler|");
    end(a);
}

static void test_long_chains(void **state) {
    (void)state;
    struct all *a = begin(0);
    struct pki_wish client = {.name = "client", .issuer = "ca", .cn = "far away"};
    pki_make_chain(&a->pki, &client, LIMIT_TLS_CHAIN);
    expect(a, "client", 200, "far away|");
    pki_make_chain(&a->pki, &client, LIMIT_TLS_CHAIN + 1);
    expect(a, "client", 403,
           "client certificate refused: its chain has 17 certificates, at most 16 are read");
    end(a);
}

/* The client CA is changed while connections are open: who was let in is judged again. */
static void test_rotated_ca(void **state) {
    (void)state;
    struct all *a = begin(0);
    struct net net;
    struct net_answer answer = {0};
    make_client(a, (struct pki_wish){.cn = "old client", .for_clients = true});
    pki_make(&a->pki, &(struct pki_wish){.name = "newcomer", .issuer = "other-ca", .cn = "new"});
    connect_as(a, "client", &net);
    assert_true(net_post(&net, "/echo", 2, &answer));
    assert_int_equal(answer.status, 200);
    expect(a, "newcomer", 403, "refused");
    pki_copy(&a->pki, "other-ca.pem", "trusted.pem");
    http_listener_poll_files(a->served.listener);
    expect(a, "newcomer", 200, "new|");
    assert_true(net_post(&net, "/echo", 2, &answer));
    assert_int_equal(answer.status, 403);
    pki_copy(&a->pki, "server.key", "trusted.pem"); /* broken: the one before stays */
    http_listener_poll_files(a->served.listener);
    expect(a, "newcomer", 200, "new|");
    assert_true(net_ended(&net));
    pki_copy(&a->pki, "ca.pem", "trusted.pem");
    http_listener_poll_files(a->served.listener);
    expect(a, "client", 200, "old client|");
    net_answer_done(&answer);
    net_close(&net);
    end(a);
}

/* One that ends soon is answered, and asked to come again: perhaps it has another one by now, which
 * it shows for a new connection only. */
static void test_ends_soon(void **state) {
    (void)state;
    static const struct {
        int from_s, to_s;
        bool close;
    } rows[] = {{-86400, 500, true}, {-86400, 700, false}, {-90, 500, false}};
    struct all *a = begin(0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct net net;
        struct net_answer answer = {0};
        make_client(a,
                    (struct pki_wish){.cn = "me", .from_s = rows[i].from_s, .to_s = rows[i].to_s});
        connect_as(a, "client", &net);
        assert_true(net_say(&net, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_true(net_hear(&net, &answer));
        assert_int_equal(answer.status, 200);
        assert_int_equal(rows[i].close, strstr(answer.head.p, "Connection: close") != NULL);
        net_answer_done(&answer);
        net_close(&net);
    }
    end(a);
}

/* A certificate that expires during its connection's life. */
static void test_expires_while_connected(void **state) {
    (void)state;
    struct all *a = begin(0);
    struct net net;
    struct net_answer answer = {0};
    make_client(a, (struct pki_wish){.cn = "brief", .from_s = -60, .to_s = 2});
    connect_as(a, "client", &net);
    assert_true(net_post(&net, "/echo", 2, &answer));
    assert_int_equal(answer.status, 200);
    int64_t until_ms = clock_real()->now_ms(clock_real()) + 5000;
    while (answer.status == 200 && clock_real()->now_ms(clock_real()) < until_ms)
        assert_true(net_post(&net, "/echo", 2, &answer));
    assert_int_equal(answer.status, 403);
    net_answer_done(&answer);
    net_close(&net);
    end(a);
}

/* The CA in a Secret, and not in a file. */
static int hand_over(struct all *a, const char *ca, struct err *err) {
    struct strbuf pem = {.max = LIMIT_CONFIG_BYTES};
    assert_int_equal(file_read(pki_path(&a->pki, ca), LIMIT_CONFIG_BYTES, &pem, err), 0);
    int r = http_listener_set_client_ca(a->served.listener, strbuf_str(&pem), "the test", err);
    strbuf_done(&pem);
    return r;
}

static void test_a_ca_that_is_handed_over(void **state) {
    (void)state;
    struct all *a = prepare(1);
    struct net_answer answer = {0};
    struct err err;
    struct net open;
    a->served.options.tls.client_ca_file = NULL;
    a->served.options.tls.client_ca_handed_over = true;
    served_start(&a->served);
    make_client(a, (struct pki_wish){.cn = "system:kube-scheduler", .for_clients = true});
    expect(a, "client", 403, "no client is accepted yet");
    expect(a, NULL, 403, "no client is accepted yet");
    assert_int_equal(hand_over(a, "server.key", &err), -EINVAL);
    assert_contains(err.text, "'the test': no PEM certificates in it");
    expect(a, "client", 403, "no client is accepted yet");
    assert_int_equal(hand_over(a, "ca.pem", &err), 0);
    expect(a, "client", 200, "system:kube-scheduler|");
    expect(a, NULL, 401, "a client certificate is needed here");
    connect_as(a, "client", &open);
    assert_int_equal(hand_over(a, "server.key", &err), -EINVAL);
    expect(a, "client", 200, "system:kube-scheduler|"); /* the CA before stays */
    assert_int_equal(hand_over(a, "other-ca.pem", &err), 0);
    expect(a, "client", 403, "certificate of client 'system:kube-scheduler' refused: ");
    assert_true(net_say(&open, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(net_hear(&open, &answer));
    assert_int_equal(answer.status, 403); /* on an open connection, too */
    net_answer_done(&answer);
    net_close(&open);
    end(a);
}

static void test_a_ca_in_a_file_and_handed_over(void **state) {
    (void)state;
    struct all *a = begin(1);
    struct http_listener *l = NULL;
    struct err err;
    a->served.options.tls.client_ca_handed_over = true;
    assert_int_equal(http_listener_start(&a->served.options, clock_real(), &l, &err), -EINVAL);
    assert_contains(err.text, "the client CA is in a file or handed over, not both");
    end(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_certificate),
        cmocka_unit_test(test_any_verified_certificate),
        cmocka_unit_test(test_other_ca),
        cmocka_unit_test(test_ca_of_the_same_name),
        cmocka_unit_test(test_wrong_purpose),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_allowed_subjects),
        cmocka_unit_test(test_subjects_of_a_service),
        cmocka_unit_test(test_names_of_another_type),
        cmocka_unit_test(test_two_common_names),
        cmocka_unit_test(test_subjects_that_are_not_allowed),
        cmocka_unit_test(test_refused_before_the_body),
        cmocka_unit_test(test_certificates_with_many_names),
        cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_rotated_ca),
        cmocka_unit_test(test_expires_while_connected),
        cmocka_unit_test(test_ends_soon),
        cmocka_unit_test(test_a_ca_that_is_handed_over),
        cmocka_unit_test(test_a_ca_in_a_file_and_handed_over),
    };
    return cmocka_run_group_tests_name("client certificates", tests, NULL, NULL);
}
