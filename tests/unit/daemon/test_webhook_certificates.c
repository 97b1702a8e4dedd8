/* The webhook's certificate from a fake API server to a real listener. */
#include "daemon/webhook_certificates.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "http/http.h"
#include "unit/certs/issued.h"
#include "unit/daemon/secrets.h"
#include "unit/http/net.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdio.h>

#define RELOADS "evenkeel_certificate_reload_total{listener=\"test\",result=\"success\"}"

enum { SECRETS, CONFIGURATIONS };
static const char *const watched[] = {
    [SECRETS] = "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Devenkeel-webhook-tls&",
    [CONFIGURATIONS] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
                       "?fieldSelector=metadata.name%3Devenkeel&"};
static const struct str hosts[] = {{"evenkeel.ns.svc", 15}};
static const char *const names[] = {"evenkeel"};

struct fixture {
    struct secrets_fixture cluster;
    struct webhook_certificates *certificates;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.certificates = NULL};
    secrets_fixture_init(&f.cluster);
    f.cluster.configuration.webhook.listen = ":9443";
    struct configuration_certificates *o = &f.cluster.configuration.webhook.certificates;
    o->mode = CERTIFICATES_SELF_SIGNED;
    o->hosts = hosts;
    o->host_count = 1;
    o->configurations = names;
    o->configuration_count = 1;
    f.cluster.served.options.tls.handed_over = true;
    served_start(&f.cluster.served);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    webhook_certificates_serve(f->certificates, NULL);
    webhook_certificates_free(f->certificates);
    secrets_fixture_done(&f->cluster);
    return 0;
}

static void start(struct fixture *f) {
    struct err err;
    const struct secrets_fixture *k = &f->cluster;
    check_ok(webhook_certificates_start(&k->configuration, &k->access, k->client, k->writer,
                                        &f->certificates, &err),
             &err);
}

static bool handshake(struct fixture *f) {
    const struct net_tls any = {.ca_file = NULL};
    struct net net;
    bool good = net_open_tls(&net, served_address(&f->cluster.served), &any);
    net_close(&net);
    return good;
}

#define LISTINGS(resource) "evenkeel_watch_listings_total{resource=\"" resource "\"}"

static void test_from_nothing_to_a_handshake(void **state) {
    struct fixture *f = *state;
    start(f);
    _Atomic bool *ready = webhook_certificates_ready(f->certificates);
    webhook_certificates_serve(f->certificates, f->cluster.served.listener);
    secrets_take_watches(&f->cluster, watched, 2);
    assert_true(metric_now(LISTINGS("mutatingwebhookconfigurations/evenkeel")) == 1);
    assert_true(metric_now(LISTINGS("secrets/evenkeel-webhook-tls")) == 1);
    assert_true(api_say(
        &f->cluster.watches[CONFIGURATIONS],
        STREAM EVENT("ADDED", "{\"metadata\":{\"name\":\"evenkeel\",\"resourceVersion\":\"6\"}"
                              ",\"webhooks\":[{\"name\":\"a\",\"clientConfig\":{\"service\":{"
                              "\"name\":\"evenkeel\",\"namespace\":\"ns\"}}}]}") MARKER("7")));
    assert_false(handshake(f));
    assert_false(atomic_load(ready));
    assert_true(api_say(&f->cluster.watches[SECRETS], STREAM MARKER("7")));
    secrets_expect(&f->cluster, "POST", "/api/v1/namespaces/ns/secrets?fieldManager=evenkeel");
    struct strbuf secret = {0};
    strbuf_append_str(&secret, f->cluster.call.body);
    api_answer(&f->cluster.call, 201, "", "{}");
    secrets_deliver(&f->cluster.watches[SECRETS], "ADDED", strbuf_str(&secret), "8");
    metric_becomes(RELOADS, 1);
    assert_true(handshake(f));
    for (int64_t until_ns = clock_now_ns() + 10000000000; !atomic_load(ready);) {
        assert_true(clock_now_ns() < until_ns); /* it is ready right after */
        (void)sched_yield();
    }
    secrets_expect(&f->cluster, "PATCH",
                   "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/evenkeel"
                   "?fieldManager=evenkeel");
    assert_str(api_header(&f->cluster.call, "Content-Type"),
               "application/strategic-merge-patch+json");
    assert_true(str_has_prefix(
        f->cluster.call.body,
        STR("{\"metadata\":{\"resourceVersion\":\"6\"},\"webhooks\":[{\"name\":\"a\","
            "\"clientConfig\":{\"caBundle\":\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t")));
    api_answer(&f->cluster.call, 200, "", "{}");
    strbuf_done(&secret);
}

static void test_a_listener_that_comes_later(void **state) {
    struct fixture *f = *state;
    start(f);
    secrets_take_watches(&f->cluster, watched, 2);
    assert_true(api_say(&f->cluster.watches[CONFIGURATIONS], STREAM MARKER("7")));
    assert_true(api_say(&f->cluster.watches[SECRETS], STREAM MARKER("7")));
    secrets_expect(&f->cluster, "POST", "/api/v1/namespaces/ns/secrets?fieldManager=evenkeel");
    struct strbuf secret = {0};
    strbuf_append_str(&secret, f->cluster.call.body);
    api_answer(&f->cluster.call, 201, "", "{}");
    secrets_deliver(&f->cluster.watches[SECRETS], "ADDED", strbuf_str(&secret), "8");
    assert_true(metric_now(RELOADS) == 0);
    int64_t until_ns = clock_now_ns() + 10000000000;
    while (metric_now(RELOADS) == 0) { /* until it has come */
        assert_true(clock_now_ns() < until_ns);
        webhook_certificates_serve(f->certificates, f->cluster.served.listener);
        (void)sched_yield();
    }
    assert_true(handshake(f));
    strbuf_done(&secret);
}

static void test_where_there_is_none(void **state) {
    struct fixture *f = *state;
    f->cluster.configuration.webhook.certificates.mode = CERTIFICATES_FILES;
    start(f);
    assert_null(f->certificates);
    f->cluster.configuration.webhook.certificates.mode = CERTIFICATES_SECRET;
    f->cluster.configuration.webhook.listen = "0";
    start(f);
    assert_null(f->certificates);
    assert_null(webhook_certificates_ready(f->certificates));
    webhook_certificates_serve(f->certificates, f->cluster.served.listener);
    assert_true(api_is_quiet(&f->cluster.api));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_from_nothing_to_a_handshake),
        TEST(test_a_listener_that_comes_later),
        TEST(test_where_there_is_none),
    };
    return cmocka_run_group_tests_name("webhook_certificates", tests, NULL, NULL);
}
