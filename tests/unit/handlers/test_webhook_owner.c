/*
 * Reviews of pods whose controller is of a custom kind: what its scale subresource says is asked
 * for once and remembered. The API server that is asked is the test's.
 */
#include "base/base64.h"
#include "base/metrics.h"
#include "data/lookup_places.h"
#include "handlers/webhook.h"
#include "unit/cluster_builder.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"

#include <stdio.h>

#define PATH "/webhooks/v1/pods"
#define GROUP "/apis/example.com/v1"
#define SCALE(name) GROUP "/namespaces/shop/widgets/" name "/scale"
#define RESOURCE(name, kind) "{\"name\":\"" name "\",\"namespaced\":true,\"kind\":\"" kind "\"}"
#define RESOURCES                                                                                  \
    "{\"kind\":\"APIResourceList\",\"groupVersion\":\"example.com/v1\",\"resources\":[" RESOURCE(  \
        "widgets/status",                                                                          \
        "Widget") "," RESOURCE("widgets",                                                          \
                               "Widget") "," RESOURCE("widgets/scale",                             \
                                                      "Scale") "," RESOURCE("things",              \
                                                                            "Thing") "]}"
#define SELECTS(query)                                                                             \
    "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"spec\":{\"replicas\":3},\"status\":{" \
    "\"replicas\":3,\"selector\":\"" query "\"}}"
#define POLICY                                                                                     \
    "{\"metadata\":{\"name\":\"all\"},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\","  \
    "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}}"
#define SERIES(result) "evenkeel_owner_reads_total{result=\"" result "\"}"

enum { LONG_MS = 60000 };

struct fixture {
    struct cluster c;
    struct api api;
    struct api_call call;
    struct kube_access access;
    struct kube_client *client;
    struct webhook webhook;
    struct served served;
    struct net net;
    struct net_answer answer;
    double before[4]; /* reads of other tests */
};

static const char *const series[4] = {SERIES("found"), SERIES("none"), SERIES("failed"),
                                      SERIES("skipped")};
enum { FOUND, NONE, FAILED, SKIPPED };

static int reads(const struct fixture *f, int result) {
    return (int)(metric_now(series[result]) - f->before[result]);
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
    f.webhook = (struct webhook){
        .known.cache = f.c.cache, .client = f.client, .read_ms = LONG_MS, .read_for_anyone = true};
    assert_int_equal(owners_new(&f.c.clock.clock, &f.webhook.known.owners, NULL), 0);
    assert_int_equal(policy_source_new(NULL, 0, &f.webhook.known.policies, NULL), 0);
    policy_live_begin(f.webhook.known.policies);
    assert_int_equal(policy_live_apply(f.webhook.known.policies, STR(POLICY), NULL), 0);
    assert_int_equal(policy_live_end(f.webhook.known.policies, NULL), 0);
    webhook_metrics_start();
    for (int i = 0; i < 4; i++)
        f.before[i] = metric_now(series[i]);
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f.webhook};
    f.served.options.threads = 1;
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
    owners_free(f->webhook.known.owners);
    policy_source_free(f->webhook.known.policies);
    api_call_done(&f->call);
    api_done(&f->api);
    cluster_close(&f->c);
    metrics_reset();
    return 0;
}

/* ---- both sides ---- */

static void ask(struct fixture *f, const char *api, const char *kind, const char *name) {
    struct strbuf body = {0}, request = {0};
    strbuf_appendf(&body,
                   "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                   "\"request\":{\"uid\":\"1\",\"operation\":\"CREATE\",\"namespace\":\"shop\","
                   "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
                   "\"object\":{\"metadata\":{\"labels\":{\"widget\":\"w\",\"serial\":\"7\"},"
                   "\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\","
                   "\"controller\":true}]},\"spec\":{}}}}",
                   api, kind, name);
    strbuf_appendf(&request,
                   "POST " PATH " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   body.n);
    strbuf_append_str(&request, strbuf_str(&body));
    assert_true(net_send(&f->net, request.p, request.n));
    strbuf_done(&request);
    strbuf_done(&body);
}

#define EXAMPLE(f, name) ask(f, "example.com/v1", "Widget", name)

/* The patch has this selector. */
static void hears(struct fixture *f, const char *selector) {
    struct str text;
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    const char *patch = strstr(f->answer.body.p, "\"patch\":\"");
    assert_non_null(patch);
    patch += strlen("\"patch\":\"");
    struct str encoded = {patch, strcspn(patch, "\"")};
    assert_true(base64_decode(encoded, &f->c.arena, &text));
    assert_contains(arena_cstr(&f->c.arena, text), selector);
}

#define BY_WIDGET "\"labelSelector\":{\"matchLabels\":{\"widget\":\"w\"}}"
#define BY_LABELS "\"labelSelector\":{\"matchLabels\":{\"serial\":\"7\",\"widget\":\"w\"}}"

static void is_asked_for(struct fixture *f, const char *path, int status, const char *answer) {
    api_expect(&f->api, &f->call, "GET", path);
    api_answer(&f->call, status, "Content-Type: application/json\r\n", answer);
}

/* ---- what is read ---- */

static void a_selector_is_read_once(void **state) {
    struct fixture *f = *state;
    EXAMPLE(f, "w");
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_asked_for(f, SCALE("w"), 200, SELECTS("widget=w"));
    hears(f, BY_WIDGET);
    EXAMPLE(f, "w");
    hears(f, BY_WIDGET);
    assert_true(api_is_quiet(&f->api));
    EXAMPLE(f, "v"); /* its kind is known */
    is_asked_for(f, SCALE("v"), 200, SELECTS("widget in (v,w),!gone"));
    hears(f, "\"matchExpressions\":[{\"key\":\"gone\",\"operator\":\"DoesNotExist\"},{\"key\":"
             "\"widget\",\"operator\":\"In\",\"values\":[\"v\",\"w\"]}]");
    assert_int_equal(reads(f, FOUND), 2);
}

static void it_is_read_again_after_a_while(void **state) {
    struct fixture *f = *state;
    EXAMPLE(f, "w");
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_asked_for(f, SCALE("w"), 200, SELECTS("widget=w"));
    hears(f, BY_WIDGET);
    f->c.clock.at_ms += 599999;
    EXAMPLE(f, "w");
    hears(f, BY_WIDGET);
    f->c.clock.at_ms += 1;
    EXAMPLE(f, "w");
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_asked_for(f, SCALE("w"), 200, SELECTS("widget=w"));
    hears(f, BY_WIDGET);
}

/* A kind without the subresource is not asked about again, whichever object it is. */
static void kinds_without_scale_are_remembered(void **state) {
    struct fixture *f = *state;
    ask(f, "example.com/v1", "Thing", "t");
    is_asked_for(f, GROUP, 200, RESOURCES);
    hears(f, BY_LABELS);
    ask(f, "example.com/v1", "Thing", "u");
    hears(f, BY_LABELS);
    ask(f, "example.com/v1", "Nonesuch", "n");
    is_asked_for(f, GROUP, 200, RESOURCES);
    hears(f, BY_LABELS);
    assert_true(api_is_quiet(&f->api));
    assert_int_equal(reads(f, NONE), 2);
}

/* When other reviews of the namespace have its share, the group is found by what is known. */
static void a_namespace_has_a_share_of_the_reads(void **state) {
    struct fixture *f = *state;
    uint32_t taken[LIMIT_WEBHOOK_LOOKUPS / 4];
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        taken[i] = lookup_place_take(STR("shop"));
    EXAMPLE(f, "w");
    hears(f, BY_LABELS);
    assert_true(api_is_quiet(&f->api));
    assert_int_equal(reads(f, SKIPPED), 1);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        lookup_place_release(taken[i]);
    EXAMPLE(f, "w"); /* it was not taken for one that cannot be read */
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_asked_for(f, SCALE("w"), 200, SELECTS("widget=w"));
    hears(f, BY_WIDGET);
    assert_int_equal(reads(f, SKIPPED), 1);
}

/* It is used only if it means the pod: its author may name any controller. */
static void what_does_not_mean_the_pod_is_not_used(void **state) {
    struct fixture *f = *state;
    static const char *const answers[] = {SELECTS("widget=other"),
                                          SELECTS(""),
                                          SELECTS("a=b=c"),
                                          SELECTS("serial>5"),
                                          "{}",
                                          "[]",
                                          "oops"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        char name[20], path[100];
        (void)snprintf(name, sizeof name, "w%zu", i);
        (void)snprintf(path, sizeof path, GROUP "/namespaces/shop/widgets/%s/scale", name);
        EXAMPLE(f, name);
        if (i == 0)
            is_asked_for(f, GROUP, 200, RESOURCES);
        is_asked_for(f, path, 200, answers[i]);
        hears(f, BY_LABELS);
    }
}

/* ---- what goes wrong ---- */

static void what_cannot_be_read_is_left_for_a_moment(void **state) {
    struct fixture *f = *state;
    EXAMPLE(f, "w");
    is_asked_for(f, GROUP, 503, "{}");
    hears(f, BY_LABELS);
    EXAMPLE(f, "w");
    hears(f, BY_LABELS);
    assert_true(api_is_quiet(&f->api));
    f->c.clock.at_ms += 30000;
    EXAMPLE(f, "w");
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_asked_for(f, SCALE("w"), 403, "{}");
    hears(f, BY_LABELS);
    f->c.clock.at_ms += 30000;
    EXAMPLE(f, "w");
    is_asked_for(f, SCALE("w"), 200, SELECTS("widget=w"));
    hears(f, BY_WIDGET);
    assert_int_equal(reads(f, FAILED), 2);
}

static void time_runs_out(void **state) {
    struct fixture *f = *state;
    f->webhook.read_ms = 20;
    EXAMPLE(f, "w");
    api_expect(&f->api, &f->call, "GET", GROUP);
    hears(f, BY_LABELS);
    assert_int_equal(reads(f, FAILED), 1);
}

/* Kubernetes' own controllers, names that would lead elsewhere, and callers that nobody knows. */
static void what_is_not_asked_for(void **state) {
    struct fixture *f = *state;
    static const char *const owners[][3] = {
        {"apps/v1", "ReplicaSet", "w"},       {"batch/v1", "Job", "w"},
        {"v1", "ReplicationController", "w"}, {"example.com/v1", "Widget", "../secrets"},
        {"example.com/../v1", "Widget", "w"}, {"example.com", "Widget", "w"},
        {"../api.x/v1", "Widget", "w"},       {"example.com/v1?x", "Widget", "w"},
    };
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        ask(f, owners[i][0], owners[i][1], owners[i][2]);
        hears(f, BY_LABELS);
    }
    f->webhook.read_for_anyone = false;
    EXAMPLE(f, "w");
    hears(f, BY_LABELS);
    f->webhook.read_for_anyone = true;
    f->webhook.read_ms = 0;
    EXAMPLE(f, "w");
    hears(f, BY_LABELS);
    assert_true(api_is_quiet(&f->api));
}

/* The listener ends first, then the client: nobody is left to be answered. */
static void the_end_while_reading(void **state) {
    struct fixture *f = *state;
    EXAMPLE(f, "w");
    api_expect(&f->api, &f->call, "GET", GROUP);
    served_done(&f->served);
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 503);
    kube_client_free(f->client);
    f->client = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_selector_is_read_once),
        TEST(it_is_read_again_after_a_while),
        TEST(kinds_without_scale_are_remembered),
        TEST(a_namespace_has_a_share_of_the_reads),
        TEST(what_does_not_mean_the_pod_is_not_used),
        TEST(what_cannot_be_read_is_left_for_a_moment),
        TEST(time_runs_out),
        TEST(what_is_not_asked_for),
        TEST(the_end_while_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
