/* The webhook's certificate from a fake API server to a real listener. */
#include "daemon/webhook_certificates.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "http/http.h"
#include "kube/write/writer.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <sched.h>
#include <stdio.h>

#define SECRETS "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Devenkeel-webhook-tls&"
#define CONFIGURATIONS                                                                             \
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"                          \
    "?fieldSelector=metadata.name%3Devenkeel&"
#define RELOADS "evenkeel_certificate_reload_total{listener=\"test\",result=\"success\"}"

static const struct str hosts[] = {{"evenkeel.ns.svc", 15}};
static const char *const names[] = {"evenkeel"};

struct fixture {
    struct api api;
    struct api_call secrets, configurations, call;
    struct kube_access access;
    struct kube_client *client;
    struct writer *writer;
    struct configuration configuration;
    struct webhook_certificates *certificates;
    struct served served;
};

static int setup(void **state) {
    static struct fixture f;
    struct err err;
    f = (struct fixture){.client = NULL};
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .namespace = "ns", .source = "the test"};
    assert_int_equal(kube_client_new(&f.access, NULL, &f.client, &err), 0);
    const struct writer_options writer = {.client = f.client};
    assert_int_equal(writer_new(&writer, &f.writer, &err), 0);
    configuration_init(&f.configuration);
    f.configuration.webhook.listen = ":9443";
    struct configuration_certificates *o = &f.configuration.webhook.certificates;
    o->mode = CERTIFICATES_SELF_SIGNED;
    o->hosts = hosts;
    o->host_count = 1;
    o->configurations = names;
    o->configuration_count = 1;
    served_init(&f.served);
    f.served.options.tls.handed_over = true;
    served_start(&f.served);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    webhook_certificates_serve(f->certificates, NULL);
    webhook_certificates_free(f->certificates);
    writer_free(f->writer);
    kube_client_free(f->client);
    configuration_done(&f->configuration);
    served_done(&f->served);
    api_call_done(&f->secrets);
    api_call_done(&f->configurations);
    api_call_done(&f->call);
    api_done(&f->api);
    metrics_reset();
    return 0;
}

static void start(struct fixture *f) {
    struct err err;
    if (webhook_certificates_start(&f->configuration, &f->access, f->client, f->writer,
                                   &f->certificates, &err) != 0)
        fail_msg("%s", err.text);
}

/* The two watches, in whichever order they come. */
static void take_watches(struct fixture *f) {
    for (int i = 0; i < 2; i++) {
        api_take(&f->api, &f->call);
        bool of_secrets = str_has_prefix(f->call.path, STR(SECRETS));
        assert_true(of_secrets || str_has_prefix(f->call.path, STR(CONFIGURATIONS)));
        struct api_call *to = of_secrets ? &f->secrets : &f->configurations;
        assert_null(to->text.p);
        *to = f->call;
        f->call = (struct api_call){0};
    }
}

/* The next request that is no Event; those are taken. */
static void expect(struct fixture *f, const char *method, const char *path) {
    for (;;) {
        api_take(&f->api, &f->call);
        if (!str_has_prefix(f->call.path, STR("/apis/events.k8s.io/v1/")))
            break;
        api_answer(&f->call, 201, "", "{}");
    }
    assert_str(f->call.method, method);
    assert_str(f->call.path, path);
}

/* An event with an object that was sent to us, as of a version. */
static void tell(struct api_call *watch, const char *type, struct str object, const char *version) {
    static const char metadata[] = "\"metadata\":{";
    struct strbuf text = {0};
    if (object.p == NULL)
        fail_msg("nothing was sent to us");
    const char *at = memmem(object.p, object.n, metadata, sizeof metadata - 1);
    assert_non_null(at);
    size_t n = (size_t)(at - object.p) + sizeof metadata - 1;
    strbuf_appendf(&text, "{\"type\":\"%s\",\"object\":", type);
    strbuf_append(&text, object.p, n);
    strbuf_appendf(&text, "\"resourceVersion\":\"%s\",", version);
    strbuf_append(&text, object.p + n, object.n - n);
    strbuf_append_str(&text, STR("}\n"));
    strbuf_append_char(&text, '\0');
    assert_false(strbuf_failed(&text));
    assert_true(text.p != NULL && api_say(watch, text.p));
    strbuf_done(&text);
}

static bool handshake(struct fixture *f) {
    const struct net_tls any = {.ca_file = NULL};
    struct net net;
    bool good = net_open_tls(&net, served_address(&f->served), &any);
    net_close(&net);
    return good;
}

static void test_from_nothing_to_a_handshake(void **state) {
    struct fixture *f = *state;
    start(f);
    _Atomic bool *ready = webhook_certificates_ready(f->certificates);
    webhook_certificates_serve(f->certificates, f->served.listener);
    take_watches(f);
    assert_true(api_say(
        &f->configurations,
        STREAM EVENT("ADDED", "{\"metadata\":{\"name\":\"evenkeel\",\"resourceVersion\":\"6\"}"
                              ",\"webhooks\":[{\"name\":\"a\",\"clientConfig\":{\"service\":{"
                              "\"name\":\"evenkeel\",\"namespace\":\"ns\"}}}]}") MARKER("7")));
    assert_false(handshake(f));
    assert_false(atomic_load(ready));
    assert_true(api_say(&f->secrets, STREAM MARKER("7")));
    expect(f, "POST", "/api/v1/namespaces/ns/secrets?fieldManager=evenkeel");
    struct strbuf secret = {0};
    strbuf_append_str(&secret, f->call.body);
    api_answer(&f->call, 201, "", "{}");
    tell(&f->secrets, "ADDED", strbuf_str(&secret), "8");
    metric_becomes(RELOADS, 1);
    assert_true(handshake(f));
    for (int64_t until_ns = clock_now_ns() + 10000000000; !atomic_load(ready);) {
        assert_true(clock_now_ns() < until_ns); /* it is ready right after */
        (void)sched_yield();
    }
    expect(f, "PATCH",
           "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/evenkeel"
           "?fieldManager=evenkeel");
    assert_str(api_header(&f->call, "Content-Type"), "application/strategic-merge-patch+json");
    assert_true(str_has_prefix(
        f->call.body, STR("{\"metadata\":{\"resourceVersion\":\"6\"},\"webhooks\":[{\"name\":\"a\","
                          "\"clientConfig\":{\"caBundle\":\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t")));
    api_answer(&f->call, 200, "", "{}");
    strbuf_done(&secret);
}

static void test_a_listener_that_comes_later(void **state) {
    struct fixture *f = *state;
    start(f);
    take_watches(f);
    assert_true(api_say(&f->configurations, STREAM MARKER("7")));
    assert_true(api_say(&f->secrets, STREAM MARKER("7")));
    expect(f, "POST", "/api/v1/namespaces/ns/secrets?fieldManager=evenkeel");
    struct strbuf secret = {0};
    strbuf_append_str(&secret, f->call.body);
    api_answer(&f->call, 201, "", "{}");
    tell(&f->secrets, "ADDED", strbuf_str(&secret), "8");
    assert_true(metric_now(RELOADS) == 0);
    int64_t until_ns = clock_now_ns() + 10000000000;
    while (metric_now(RELOADS) == 0) { /* until it has come */
        assert_true(clock_now_ns() < until_ns);
        webhook_certificates_serve(f->certificates, f->served.listener);
        (void)sched_yield();
    }
    assert_true(handshake(f));
    strbuf_done(&secret);
}

static void test_where_there_is_none(void **state) {
    struct fixture *f = *state;
    f->configuration.webhook.certificates.mode = CERTIFICATES_FILES;
    start(f);
    assert_null(f->certificates);
    f->configuration.webhook.certificates.mode = CERTIFICATES_SECRET;
    f->configuration.webhook.listen = "0";
    start(f);
    assert_null(f->certificates);
    assert_null(webhook_certificates_ready(f->certificates));
    webhook_certificates_serve(f->certificates, f->served.listener);
    assert_true(api_is_quiet(&f->api));
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
