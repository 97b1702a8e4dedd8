/*
 * Reviews of pods whose claims no watch has brought yet: an API server that creates pods on one
 * side, one that is asked for objects on the other. Both sides are the test's.
 */
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "handlers/webhook.h"
#include "unit/cluster_builder.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/kube/api.h"

#include <stdio.h>
#include <unistd.h>

#define PATH "/webhooks/v1/pods"
#define CLAIMS "/api/v1/namespaces/shop/persistentvolumeclaims/"
#define FLUID "/apis/data.fluid.io/v1alpha1/namespaces/shop/"
#define META(name, more) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\"" more "}"
#define CLAIM "{" META("ds", ",\"labels\":{\"fluid.io/s-shop-ds\":\"true\"}") "}"
#define DATASET                                                                                    \
    "{" META("ds", "") ",\"status\":{\"phase\":\"Bound\",\"runtimes\":[{\"type\":\"alluxio\"}]}}"
#define RUNTIME "{" META("ds", "") "}"
#define NOT_FOUND "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}"
#define SERIES(result) "evenkeel_fluid_reads_total{result=\"" result "\"}"

enum { LONG_MS = 60000 };
enum { FOUND, MISSED, FAILED, REFUSED, SKIPPED, SERIES_COUNT };

struct fixture {
    struct cluster c;
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct kube_client *client;
    struct fluid_live *live;
    struct webhook webhook;
    struct served served;
    struct net net;
    struct net_answer answer;
    struct pki pki;              /* of tests over TLS */
    double before[SERIES_COUNT]; /* reads of other tests */
};

static const char *const series[SERIES_COUNT] = {
    SERIES("found"), SERIES("not_found"), SERIES("failed"), SERIES("refused"), SERIES("skipped")};

/* How many reads have ended so since the test began. */
static int reads(const struct fixture *f, int result) {
    return (int)(metric_now(series[result]) - f->before[result]);
}

static void put(struct fixture *f, enum fluid_kind kind, const char *object) {
    assert_int_equal(fluid_live_apply(f->live, kind, str_of(object), NULL), 0);
}

static const struct http_route row[] = {{"POST", PATH, "pods", webhook_review, HTTP_JSON}};
static const struct http_routes routes = HTTP_ROUTES(row);

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.net.fd = -1};
    cluster_open(&f.c);
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&f.access, NULL, &f.client, NULL), 0);
    assert_int_equal(fluid_live_new(&f.live, NULL), 0);
    f.webhook = (struct webhook){.pods = {.known.cache = f.c.cache,
                                          .client = f.client,
                                          .read_ms = LONG_MS,
                                          .read_for_anyone = true}};
    assert_int_equal(policy_source_new(NULL, 0, &f.webhook.pods.known.policies, NULL), 0);
    const struct fluid_source_options options = {.live = f.live};
    assert_int_equal(fluid_source_new(&options, &f.webhook.pods.known.fluid, NULL), 0);
    assert_int_equal(fluid_source_load(f.webhook.pods.known.fluid, NULL), 0);
    webhook_metrics_start();
    for (int i = 0; i < SERIES_COUNT; i++)
        f.before[i] = metric_now(series[i]);
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f.webhook, NULL};
    f.served.options.threads = 1;
    f.served.options.limits.connections = f.served.options.limits.connections_per_address = 32;
    f.served.options.limits.body_bytes = 4 << 20;
    f.served.options.limits.bodies_in_flight = 8 << 20;
    served_start(&f.served);
    assert_true(net_open(&f.net, served_address(&f.served)));
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    net_answer_done(&f->answer);
    net_close(&f->net);
    served_done(&f->served);
    kube_client_free(f->client);
    webhook_metrics_stop();
    fluid_source_free(f->webhook.pods.known.fluid);
    fluid_live_free(f->live);
    policy_source_free(f->webhook.pods.known.policies);
    api_call_done(&f->call);
    api_done(&f->api);
    cluster_close(&f->c);
    metrics_reset();
    return 0;
}

/* ---- both sides ---- */

static void post(struct net *net, struct str body) {
    struct strbuf request = {0};
    strbuf_appendf(&request,
                   "POST " PATH " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   body.n);
    strbuf_append_str(&request, body);
    assert_true(net_send(net, request.p, request.n));
    strbuf_done(&request);
}

/* A pod of Fluid's in a namespace, with so many bytes of annotation, that mounts a claim so many
 * times: "ds", "ds1", "ds2" and so on. */
static void ask_in(struct net *net, const char *namespace, const char *claim, int claims,
                   int bytes) {
    struct strbuf body = {0};
    strbuf_appendf(&body,
                   "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                   "\"request\":{\"uid\":\"1\",\"operation\":\"CREATE\",\"namespace\":\"%s\","
                   "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
                   "\"object\":{\"metadata\":{\"annotations\":{\"a\":\"%0*d\"},\"labels\":{"
                   "\"fuse.serverful.fluid.io/inject\":\"true\"}},\"spec\":{\"volumes\":[",
                   namespace, bytes, 0);
    for (int i = 0; i < claims; i++)
        strbuf_appendf(&body,
                       "%s{\"name\":\"v%d\",\"persistentVolumeClaim\":{\"claimName\":\"%s%.0d\"}}",
                       i > 0 ? "," : "", i, claim, i);
    strbuf_append_str(&body, STR("]}}}}"));
    post(net, strbuf_str(&body));
    strbuf_done(&body);
}

static void ask(struct net *net, const char *claim, int bytes) {
    ask_in(net, "shop", claim, 1, bytes);
}

static void hears(struct fixture *f, struct net *net, const char *part) {
    assert_true(net_hear(net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    assert_contains(f->answer.body.p, "\"uid\":\"1\",\"allowed\":true");
    assert_contains(f->answer.body.p, part);
}

#define PATCHED "\"patchType\":\"JSONPatch\""
#define WARNED "\"warnings\":[\"evenkeel: fluid: cannot find 1 of the pod's volume claims"

static void is_asked_for(struct fixture *f, const char *path, int status, const char *answer) {
    api_expect(&f->api, &f->call, "GET", path);
    api_answer(&f->call, status, "Content-Type: application/json\r\n", answer);
}

/* ---- what is read ---- */

/* One after the other, while the only thread serves others. */
static void a_chain_is_read(void **state) {
    struct fixture *f = *state;
    struct net other = {.fd = -1};
    ask(&f->net, "ds", 1);
    api_expect(&f->api, &f->call, "GET", CLAIMS "ds");
    assert_true(net_open(&other, served_address(&f->served)));
    assert_true(net_say(&other, "POST " PATH " HTTP/1.1\r\nHost: x\r\nContent-Type: "
                                "application/json\r\nContent-Length: 2\r\n\r\n{}"));
    assert_true(net_hear(&other, &f->answer));
    assert_int_equal(f->answer.status, 400);
    net_close(&other);
    api_answer(&f->call, 200, "", CLAIM);
    is_asked_for(f, FLUID "datasets/ds", 200, DATASET);
    is_asked_for(f, FLUID "alluxioruntimes/ds", 200, RUNTIME);
    hears(f, &f->net, PATCHED);
    assert_int_equal(reads(f, FOUND), 3);
    assert_int_equal(
        metric_now("evenkeel_admission_requests_total{verb=\"pods\",result=\"patched\"}"), 1);
    assert_int_equal(
        metric_now("evenkeel_admission_requests_total{verb=\"pods\",result=\"failed\"}"), 0);
    assert_int_equal(fluid_live_count(f->live), 0);
}

/* What was read is for one review; what watches have brought is not read. */
static void only_what_is_missing_is_read(void **state) {
    struct fixture *f = *state;
    put(f, FLUID_CLAIM, CLAIM);
    put(f, FLUID_ALLUXIO, RUNTIME);
    for (int i = 0; i < 2; i++) {
        ask(&f->net, "ds", 1);
        is_asked_for(f, FLUID "datasets/ds", 200, DATASET);
        hears(f, &f->net, PATCHED);
    }
    put(f, FLUID_DATASET, DATASET);
    ask(&f->net, "ds", 1);
    hears(f, &f->net, PATCHED);
    assert_true(api_is_quiet(&f->api));
}

/* A claim that is no dataset's is all there is to know. */
static void a_plain_claim_is_read(void **state) {
    struct fixture *f = *state;
    ask(&f->net, "other", 1);
    is_asked_for(f, CLAIMS "other", 200, "{" META("other", "") "}");
    hears(f, &f->net, PATCHED); /* rather not near others' data */
    assert_true(api_is_quiet(&f->api));
}

/* ---- what is not there ---- */

static void what_is_not_there_is_a_warning(void **state) {
    struct fixture *f = *state;
    static const struct {
        int status;
        const char *body;
    } cases[] = {{404, NOT_FOUND}, {403, "{}"}, {500, "oops"}, {200, "oops"}, {200, "[]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ask(&f->net, "ds", 1);
        is_asked_for(f, CLAIMS "ds", cases[i].status, cases[i].body);
        hears(f, &f->net, WARNED);
    }
    assert_true(api_is_quiet(&f->api));
    assert_int_equal(reads(f, MISSED), 1);
    assert_int_equal(reads(f, FAILED), 4);
    assert_int_equal(reads(f, FOUND), 0);
}

static void time_runs_out(void **state) {
    struct fixture *f = *state;
    f->webhook.pods.read_ms = 20;
    ask(&f->net, "ds", 1);
    api_expect(&f->api, &f->call, "GET", CLAIMS "ds");
    hears(f, &f->net, WARNED);
    assert_int_equal(reads(f, FAILED), 1);
}

/* A name that would lead elsewhere, a pod that is too large, and no time for it at all. */
static void what_is_not_asked_for(void **state) {
    struct fixture *f = *state;
    ask(&f->net, "../../../../secrets", 1);
    hears(f, &f->net, WARNED);
    ask(&f->net, "Ds?watch=1", 1);
    hears(f, &f->net, WARNED);
    ask(&f->net, "ds", 1 << 20);
    hears(f, &f->net, WARNED);
    f->webhook.pods.read_ms = 0;
    ask(&f->net, "ds", 1);
    hears(f, &f->net, WARNED);
    assert_true(api_is_quiet(&f->api));
}

/* The listener ends first, then the client: nobody is left to be answered. */
static void the_end_while_reading(void **state) {
    struct fixture *f = *state;
    ask(&f->net, "ds", 1);
    api_expect(&f->api, &f->call, "GET", CLAIMS "ds");
    served_done(&f->served);
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 503);
    kube_client_free(f->client);
    f->client = NULL;
    assert_int_equal(reads(f, FAILED), 1);
}

/* ---- how much ---- */

/* A user may write a pod with as many claims as it likes, and create it as often. */
static void a_pod_has_few_connections_at_once(void **state) {
    struct fixture *f = *state;
    enum { CLAIM_COUNT = 10, AT_ONCE = 4 };
    static struct api_call calls[AT_ONCE];
    ask_in(&f->net, "shop", "ds", CLAIM_COUNT, 1);
    for (int i = 0; i < CLAIM_COUNT; i++) {
        if (i >= AT_ONCE)
            api_answer(&calls[i % AT_ONCE], 404, "", NOT_FOUND);
        api_expect(&f->api, &calls[i % AT_ONCE], "GET", CLAIMS "ds*");
    }
    for (int i = 0; i < AT_ONCE; i++)
        api_answer(&calls[i], 404, "", NOT_FOUND);
    hears(f, &f->net, "cannot find 10 of the pod's volume claims");
    assert_int_equal(f->api.count, AT_ONCE);
    assert_int_equal(reads(f, MISSED), CLAIM_COUNT);
    for (int i = 0; i < AT_ONCE; i++)
        api_call_done(&calls[i]);
}

static void time_runs_out_for_reads_that_have_not_begun(void **state) {
    struct fixture *f = *state;
    f->webhook.pods.read_ms = 20;
    ask_in(&f->net, "shop", "ds", 10, 1);
    hears(f, &f->net, "cannot find 10 of the pod's volume claims");
    assert_int_equal(reads(f, FAILED), 10);
}

static void all_pods_together_have_few_connections(void **state) {
    struct fixture *f = *state;
    enum { PODS = 12, EACH = 5, MOST = PODS + LIMIT_WEBHOOK_LOOKUP_EXTRA_READS };
    static struct api_call calls[PODS * EACH];
    static struct net nets[PODS];
    for (int i = 0; i < PODS; i++) {
        assert_true(net_open(&nets[i], served_address(&f->served)));
        ask_in(&nets[i], "shop", "ds", EACH, 1);
    }
    for (int i = 0; i < MOST; i++)
        api_take(&f->api, &calls[i]);
    for (int i = 0; i < MOST; i++)
        api_answer(&calls[i], 404, "", NOT_FOUND);
    for (int i = MOST; i < PODS * EACH; i++) {
        api_take(&f->api, &calls[i]);
        api_answer(&calls[i], 404, "", NOT_FOUND);
    }
    for (int i = 0; i < PODS; i++) {
        hears(f, &nets[i], "cannot find 5 of the pod's volume claims");
        net_close(&nets[i]);
    }
    assert_int_equal(f->api.count, MOST);
    for (int i = 0; i < PODS * EACH; i++)
        api_call_done(&calls[i]);
}

static void a_large_object_is_not_kept(void **state) {
    struct fixture *f = *state;
    static char large[300 << 10];
    int head = snprintf(large, sizeof large, "{" META("ds", ",\"labels\":{\"a\":\""));
    memset(large + head, 'x', sizeof large - (size_t)head);
    (void)snprintf(large + sizeof large - 5, 5, "\"}}}");
    ask(&f->net, "ds", 1);
    is_asked_for(f, CLAIMS "ds", 200, large);
    hears(f, &f->net, WARNED);
    assert_int_equal(reads(f, FAILED), 1);
}

#define BUSY                                                                                       \
    "\"evenkeel: fluid: objects that no watch has brought yet are not read, because too many are " \
    "being read at the moment; create the pod again\""

/* One namespace leaves room for the others. */
static void a_namespace_has_a_share_of_the_look_ups(void **state) {
    struct fixture *f = *state;
    enum { SHARE = LIMIT_WEBHOOK_LOOKUPS / 4 };
    static struct api_call calls[SHARE];
    static struct net nets[SHARE];
    for (int i = 0; i < SHARE; i++) {
        assert_true(net_open(&nets[i], served_address(&f->served)));
        ask(&nets[i], "ds", 1);
        api_expect(&f->api, &calls[i], "GET", CLAIMS "ds");
    }
    ask(&f->net, "ds", 1);
    hears(f, &f->net, WARNED);
    assert_contains(f->answer.body.p, BUSY);
    assert_int_equal(reads(f, SKIPPED), 1);
    assert_true(api_is_quiet(&f->api));
    ask_in(&f->net, "other", "ds", 1, 1);
    is_asked_for(f, "/api/v1/namespaces/other/persistentvolumeclaims/ds", 404, NOT_FOUND);
    hears(f, &f->net, WARNED);
    assert_null(strstr(f->answer.body.p, BUSY));
    for (int i = 0; i < SHARE; i++) {
        api_answer(&calls[i], 404, "", NOT_FOUND);
        hears(f, &nets[i], WARNED);
        net_close(&nets[i]);
        api_call_done(&calls[i]);
    }
    ask(&f->net, "ds", 1); /* there is room again */
    is_asked_for(f, CLAIMS "ds", 404, NOT_FOUND);
    hears(f, &f->net, WARNED);
    assert_int_equal(reads(f, SKIPPED), 1);
}

/* ---- for whom ---- */

#define UNREAD                                                                                     \
    ",\"evenkeel: fluid: objects that no watch has brought yet are read only for callers with a "  \
    "client certificate; see webhook.fluid.readFor\"]"

/* This machine's own address is no proof: proxies and forwarded ports come from there. */
static void nothing_is_read_for_the_unverified(void **state) {
    struct fixture *f = *state;
    f->webhook.pods.read_for_anyone = false;
    ask(&f->net, "ds", 1);
    hears(f, &f->net, WARNED);
    assert_contains(f->answer.body.p, UNREAD);
    assert_true(api_is_quiet(&f->api));
    assert_int_equal(reads(f, REFUSED), 1);
    put(f, FLUID_CLAIM, CLAIM); /* what is known is used for them as well */
    put(f, FLUID_DATASET, DATASET);
    put(f, FLUID_ALLUXIO, RUNTIME);
    ask(&f->net, "ds", 1);
    hears(f, &f->net, PATCHED);
    assert_null(strstr(f->answer.body.p, "warnings"));
    assert_int_equal(reads(f, REFUSED), 1);
}

/* The listener begins again, over TLS. */
static void serve_tls(struct fixture *f, bool wants_client) {
    static char cert[512], key[512], ca[512];
    pki_init(&f->pki);
    pki_make(&f->pki, &(struct pki_wish){.name = "ca", .cn = "client CA", .ca = true});
    pki_make(&f->pki, &(struct pki_wish){.name = "server", .cn = "server"});
    pki_make(&f->pki, &(struct pki_wish){
                          .name = "client", .issuer = "ca", .cn = "api", .for_clients = true});
    (void)snprintf(cert, sizeof cert, "%s", pki_path(&f->pki, "server.pem"));
    (void)snprintf(key, sizeof key, "%s", pki_path(&f->pki, "server.key"));
    (void)snprintf(ca, sizeof ca, "%s", pki_path(&f->pki, "ca.pem"));
    net_close(&f->net);
    served_done(&f->served);
    served_init(&f->served);
    f->served.options.services[0] = (struct http_service){&routes, &f->webhook, NULL};
    f->served.options.tls = (struct http_tls_options){
        .cert_file = cert, .key_file = key, .client_ca_file = wants_client ? ca : NULL};
    served_start(&f->served);
    const struct net_tls tls = {.cert_file = pki_path(&f->pki, "client.pem"),
                                .key_file = pki_path(&f->pki, "client.key")};
    assert_true(net_open_tls(&f->net, served_address(&f->served), &tls));
}

static void the_verified_are_read_for(void **state) {
    struct fixture *f = *state;
    f->webhook.pods.read_for_anyone = false;
    serve_tls(f, true);
    ask(&f->net, "other", 1);
    is_asked_for(f, CLAIMS "other", 200, "{" META("other", "") "}");
    hears(f, &f->net, PATCHED);
    assert_int_equal(reads(f, REFUSED), 0);
    pki_done(&f->pki);
}

/* Without a client CA nobody has looked at the certificate. */
static void a_certificate_that_is_not_asked_for_is_none(void **state) {
    struct fixture *f = *state;
    f->webhook.pods.read_for_anyone = false;
    serve_tls(f, false);
    ask(&f->net, "other", 1);
    hears(f, &f->net, UNREAD);
    assert_true(api_is_quiet(&f->api));
    pki_done(&f->pki);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_chain_is_read),
        TEST(only_what_is_missing_is_read),
        TEST(a_plain_claim_is_read),
        TEST(what_is_not_there_is_a_warning),
        TEST(time_runs_out),
        TEST(what_is_not_asked_for),
        TEST(the_end_while_reading),
        TEST(a_pod_has_few_connections_at_once),
        TEST(time_runs_out_for_reads_that_have_not_begun),
        TEST(all_pods_together_have_few_connections),
        TEST(a_large_object_is_not_kept),
        TEST(a_namespace_has_a_share_of_the_look_ups),
        TEST(nothing_is_read_for_the_unverified),
        TEST(the_verified_are_read_for),
        TEST(a_certificate_that_is_not_asked_for_is_none),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    return cmocka_run_group_tests_name("webhook look-ups", tests, NULL, NULL);
}
