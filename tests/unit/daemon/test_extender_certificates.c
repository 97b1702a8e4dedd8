/* The extender's certificate, and kube-scheduler's, from a fake API server to a verified call. */
#include "daemon/extender_certificates.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/file.h"
#include "daemon/listener_certificate.h"
#include "http/http.h"
#include "unit/certs/issued.h"
#include "unit/daemon/secrets.h"
#include "unit/http/net.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

#define SECRETS "/api/v1/namespaces/ns/secrets"
#define RELOADS "evenkeel_certificate_reload_total{listener=\"test\",result=\"success\"}"
#define REFUSALS "evenkeel_certificate_reload_total{listener=\"test\",result=\"error\"}"

enum { SERVER, SCHEDULER };
static const char *const watched[] = {
    [SERVER] = SECRETS "?fieldSelector=metadata.name%3Devenkeel-extender-tls&",
    [SCHEDULER] = SECRETS "?fieldSelector=metadata.name%3Devenkeel-extender-client&"};
static const struct str hosts[] = {{"evenkeel-extender.ns.svc", 24}, {"127.0.0.1", 9}};
static const char *const allowed[] = {"system:kube-scheduler"};

struct fixture {
    struct secrets_fixture cluster;
    struct extender_certificates *certificates;
    char *folder;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.certificates = NULL};
    assert_int_equal(make_folder((void **)&f.folder), 0);
    secrets_fixture_init(&f.cluster);
    f.cluster.configuration.extender.listen = ":8443";
    struct configuration_certificates *o = &f.cluster.configuration.extender.certificates;
    o->mode = CERTIFICATES_SELF_SIGNED;
    o->hosts = hosts;
    o->host_count = 2;
    f.cluster.served.options.tls = (struct http_tls_options){.handed_over = true,
                                                             .client_ca_handed_over = true,
                                                             .allowed_subjects = allowed,
                                                             .allowed_subject_count = 1};
    served_start(&f.cluster.served);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    extender_certificates_serve(f->certificates, NULL);
    extender_certificates_free(f->certificates);
    secrets_fixture_done(&f->cluster);
    return remove_folder((void **)&f->folder);
}

static void start(struct fixture *f) {
    struct err err;
    check_ok(extender_certificates_start(&f->cluster.configuration, &f->cluster.access,
                                         f->cluster.client, f->cluster.writer, &f->certificates,
                                         &err),
             &err);
    extender_certificates_serve(f->certificates, f->cluster.served.listener);
}

/* The next Secret that is created, as it comes back by its watch. Static. */
static struct str create(struct fixture *f, int watch) {
    static struct strbuf created;
    secrets_expect(&f->cluster, "POST", SECRETS "?fieldManager=evenkeel");
    strbuf_done(&created);
    strbuf_append_str(&created, f->cluster.call.body);
    api_answer(&f->cluster.call, 201, "", "{}");
    secrets_deliver(&f->cluster.watches[watch], "ADDED", strbuf_str(&created), "8");
    return strbuf_str(&created);
}

/* A member of the data, in a file; the path is good until the fourth call after. */
static const char *save_member(struct fixture *f, struct str secret, const char *name) {
    static char paths[4][128];
    static unsigned next;
    char key[32], *path = paths[next++ % 4];
    struct arena arena;
    struct str pem = {0};
    arena_init(&arena, 1 << 20);
    (void)snprintf(key, sizeof key, "\"%s\":\"", name); /* fits */
    const char *at = memmem(secret.p, secret.n, key, strlen(key));
    assert_non_null(at);
    at += strlen(key);
    const char *end = memchr(at, '"', secret.n - (size_t)(at - secret.p));
    assert_true(base64_decode((struct str){at, (size_t)(end - at)}, &arena, &pem));
    (void)snprintf(path, sizeof paths[0], "%s/%s", f->folder, name);
    put_file(path, pem, 0600);
    arena_done(&arena);
    return path;
}

static int ask(struct fixture *f, const struct net_tls *tls) {
    struct net net;
    struct net_answer answer = {0};
    assert_true(net_open_tls(&net, served_address(&f->cluster.served), tls));
    assert_true(net_say(&net, "GET /who HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(net_hear(&net, &answer));
    int status = answer.status;
    net_answer_done(&answer);
    net_close(&net);
    return status;
}

static void test_from_nothing_to_a_verified_call(void **state) {
    struct fixture *f = *state;
    start(f);
    secrets_take_watches(&f->cluster, watched, 2);
    assert_true(api_say(&f->cluster.watches[SCHEDULER], STREAM MARKER("7")));
    assert_true(api_say(&f->cluster.watches[SERVER], STREAM MARKER("7")));
    struct str secret = create(f, SERVER);
    assert_non_null(memmem(secret.p, secret.n, "\"ca.key\"", 8));
    struct net_tls tls = {.ca_file = save_member(f, secret, "ca.crt")};
    secret = create(f, SCHEDULER);
    assert_null(memmem(secret.p, secret.n, "\"ca.key\"", 8)); /* which is nobody else's */
    metric_becomes(RELOADS, 2);                               /* a pair and a CA */
    assert_int_equal(ask(f, &tls), 401);
    tls.cert_file = save_member(f, secret, "tls.crt");
    tls.key_file = save_member(f, secret, "tls.key");
    assert_int_equal(ask(f, &tls), 200);
    int64_t until_ns = clock_now_ns() + 10000000000;
    while (!atomic_load(extender_certificates_ready(f->certificates)))
        assert_true(clock_now_ns() < until_ns);
}

/* Somebody else fills the Secret, and forgets the CA of those who call: nobody is let in. */
static void test_a_secret_without_a_ca(void **state) {
    struct fixture *f = *state;
    struct authority *authority = new_authority("other", 10, time(NULL));
    struct issued leaf = issue_server(authority, 5, time(NULL), "127.0.0.1", NULL, NULL);
    struct strbuf event = {0};
    f->cluster.configuration.extender.certificates.mode = CERTIFICATES_SECRET;
    start(f);
    secrets_take_watches(&f->cluster, watched, 1);
    strbuf_appendf(&event, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":"
                           "\"6\"},\"data\":{\"tls.crt\":\"");
    base64_append(&event, strbuf_str(&leaf.certificate));
    strbuf_append_str(&event, STR("\",\"tls.key\":\""));
    base64_append(&event, strbuf_str(&leaf.key));
    strbuf_append_str(&event, STR("\"}}}\n"));
    strbuf_append_char(&event, '\0');
    assert_true(api_say(&f->cluster.watches[SERVER], STREAM));
    assert_true(event.p != NULL && api_say(&f->cluster.watches[SERVER], event.p));
    assert_true(api_say(&f->cluster.watches[SERVER], MARKER("7")));
    metric_becomes(RELOADS, 1); /* the pair */
    metric_becomes(REFUSALS, 1);
    const struct net_tls tls = {.ca_file = NULL};
    assert_int_equal(ask(f, &tls), 403);
    assert_false(atomic_load(extender_certificates_ready(f->certificates)));
    strbuf_done(&event);
    issued_done(&leaf);
    authority_free(authority);
}

/* The Secret is read before there is a listener: what is missing is said all the same. */
static void test_a_ca_that_is_missing_from_the_start(void **state) {
    struct fixture *f = *state;
    struct listener_certificate c;
    listener_certificate_init(&c, "extender", "a test", true);
    listener_certificate_serve(&c, f->cluster.served.listener);
    assert_true(metric_now(REFUSALS) == 0); /* nobody has said anything yet */
    listener_certificate_serve(&c, NULL);
    listener_certificate_set_client_ca(&c, STR(""));
    listener_certificate_serve(&c, f->cluster.served.listener);
    assert_true(metric_now(REFUSALS) == 1);
    assert_false(atomic_load(&c.ready));
    listener_certificate_serve(&c, NULL);
    listener_certificate_done(&c);
}

/* One is said to be where the other is by default: each would overwrite the other's for ever. */
static void test_the_webhooks_secret(void **state) {
    struct fixture *f = *state;
    struct err err = {0};
    struct configuration *c = &f->cluster.configuration;
    c->webhook.certificates.mode = CERTIFICATES_SELF_SIGNED;
    c->extender.certificates.namespace = "ns";
    c->webhook.certificates.secret = c->extender.certificates.client_secret;
    assert_int_equal(extender_certificates_start(c, &f->cluster.access, f->cluster.client,
                                                 f->cluster.writer, &f->certificates, &err),
                     -EINVAL);
    assert_contains(err.text, "in one Secret");
    assert_true(api_is_quiet(&f->cluster.api));
    f->cluster.access.namespace = "elsewhere";
    start(f);
    assert_non_null(f->certificates);
    secrets_take_watches(&f->cluster, watched, 2);
}

static void test_where_there_is_none(void **state) {
    struct fixture *f = *state;
    f->cluster.configuration.extender.certificates.mode = CERTIFICATES_FILES;
    start(f);
    assert_null(f->certificates);
    f->cluster.configuration.extender.certificates.mode = CERTIFICATES_SECRET;
    f->cluster.configuration.extender.listen = "0";
    start(f);
    assert_null(f->certificates);
    assert_null(extender_certificates_ready(f->certificates));
    assert_true(api_is_quiet(&f->cluster.api));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_from_nothing_to_a_verified_call),
        TEST(test_a_secret_without_a_ca),
        TEST(test_a_ca_that_is_missing_from_the_start),
        TEST(test_the_webhooks_secret),
        TEST(test_where_there_is_none),
    };
    return cmocka_run_group_tests_name("extender_certificates", tests, NULL, NULL);
}
