/*
 * Reviews of pods whose controller is of a custom kind: what its scale subresource says is asked
 * for once and remembered. And validations of pods that say that they are of a unit: who stands
 * behind their controller is asked for. The API server that is asked is the test's.
 */
#include "base/base64.h"
#include "base/metrics.h"
#include "handlers/webhook.h"
#include "kube/client/lookup_places.h"
#include "unit/cluster_builder.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/kube/api.h"

#include <stdio.h>

#define PATH "/webhooks/v1/pods"
#define VALIDATE PATH "/validate"
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
#define BINDING                                                                                    \
    "{\"metadata\":{\"name\":\"binds\"},\"spec\":{\"mode\":\"Require\",\"priority\":1,\"match\":{" \
    "\"objectSelector\":{\"matchLabels\":{\"unit\":\"yes\"}}},\"pods\":{\"spread\":[{"             \
    "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}}"
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

static const struct http_route row[] = {
    {"POST", PATH, "pods", webhook_review, HTTP_JSON},
    {"POST", VALIDATE, "pods/validate", webhook_review, HTTP_JSON},
};
static const struct http_routes routes = HTTP_ROUTES(row);

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.net.fd = -1};
    cluster_open(&f.c);
    api_init(&f.api);
    f.access = (struct kube_access){.server = f.api.url, .source = "the test"};
    assert_int_equal(kube_client_new(&f.access, NULL, &f.client, NULL), 0);
    f.webhook = (struct webhook){.pods = {.known.cache = f.c.cache,
                                          .client = f.client,
                                          .read_ms = LONG_MS,
                                          .read_for_anyone = true}};
    assert_int_equal(owners_new(&f.c.clock.clock, &f.webhook.pods.known.owners, NULL), 0);
    assert_int_equal(policy_source_new(NULL, 0, &f.webhook.pods.known.policies, NULL), 0);
    policy_live_begin(f.webhook.pods.known.policies);
    assert_int_equal(policy_live_apply(f.webhook.pods.known.policies, STR(POLICY), NULL), 0);
    assert_int_equal(policy_live_apply(f.webhook.pods.known.policies, STR(BINDING), NULL), 0);
    assert_int_equal(policy_live_end(f.webhook.pods.known.policies, NULL), 0);
    webhook_metrics_start();
    for (int i = 0; i < 4; i++)
        f.before[i] = metric_now(series[i]);
    served_init(&f.served);
    f.served.options.services[0] = (struct http_service){&routes, &f.webhook, NULL};
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
    owners_free(f->webhook.pods.known.owners);
    policy_source_free(f->webhook.pods.known.policies);
    api_call_done(&f->call);
    api_done(&f->api);
    cluster_close(&f->c);
    metrics_reset();
    return 0;
}

/* ---- both sides ---- */

static void send_review(struct fixture *f, const char *path, const char *user,
                        const char *metadata) {
    struct strbuf body = {0}, request = {0};
    strbuf_appendf(&body,
                   "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                   "\"request\":{\"uid\":\"1\",\"operation\":\"CREATE\",\"namespace\":\"shop\","
                   "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
                   "\"userInfo\":{\"username\":\"%s\"},"
                   "\"object\":{\"metadata\":{%s},\"spec\":{}}}}",
                   user, metadata);
    strbuf_appendf(&request,
                   "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   path, body.n);
    strbuf_append_str(&request, strbuf_str(&body));
    assert_true(net_send(&f->net, request.p, request.n));
    strbuf_done(&request);
    strbuf_done(&body);
}

#define CONTROLLER                                                                                 \
    "\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\",\"controller\":"  \
    "true}"                                                                                        \
    "]"

static void ask(struct fixture *f, const char *api, const char *kind, const char *name) {
    char metadata[500];
    (void)snprintf(metadata, sizeof metadata,
                   "\"labels\":{\"widget\":\"w\",\"serial\":\"7\"}," CONTROLLER, api, kind, name);
    send_review(f, PATH, "", metadata);
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
    f->webhook.pods.read_ms = 20;
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
    f->webhook.pods.read_for_anyone = false;
    EXAMPLE(f, "w");
    hears(f, BY_LABELS);
    f->webhook.pods.read_for_anyone = true;
    f->webhook.pods.read_ms = 0;
    EXAMPLE(f, "w");
    hears(f, BY_LABELS);
    assert_true(api_is_quiet(&f->api));
}

/* ---- units ---- */

#define SETS "/apis/apps/v1/namespaces/shop/statefulsets/"
#define JOBS "/apis/batch/v1/namespaces/shop/jobs/"
#define PODS "/api/v1/namespaces/shop/pods/"
#define LWS "leaderworkerset.x-k8s.io/v1"
#define LWS_PATH "/apis/" LWS "/namespaces/shop/leaderworkersets/"
#define OF(api, kind, name)                                                                        \
    "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"x/"                                     \
    "v1\",\"kind\":\"X\",\"name\":\"x\"},{"                                                        \
    "\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"name\":\"" name                            \
    "\",\"controller\":true}]}}"

static void validate_worker(struct fixture *f, const char *set) {
    char metadata[500];
    (void)snprintf(
        metadata, sizeof metadata,
        "\"labels\":{\"unit\":\"yes\",\"leaderworkerset.sigs.k8s.io/name\":\"llm\"}," CONTROLLER,
        "apps/v1", "StatefulSet", set);
    send_review(f, VALIDATE, "system:kube-controller-manager", metadata);
}

static void validate_job(struct fixture *f, const char *job) {
    char metadata[500];
    (void)snprintf(
        metadata, sizeof metadata,
        "\"labels\":{\"unit\":\"yes\",\"jobset.sigs.k8s.io/jobset-name\":\"j\"}," CONTROLLER,
        "batch/v1", "Job", job);
    send_review(f, VALIDATE, "system:kube-controller-manager", metadata);
}

/* `why`: of a denial; NULL: it is admitted. */
static void is_judged(struct fixture *f, const char *why) {
    assert_true(net_hear(&f->net, &f->answer));
    assert_int_equal(f->answer.status, 200);
    assert_contains(f->answer.body.p, why == NULL ? "\"allowed\":true" : "\"allowed\":false");
    if (why != NULL)
        assert_contains(f->answer.body.p, why);
}

static void a_worker_of_a_unit(void **state) {
    struct fixture *f = *state;
    validate_worker(f, "llm-0");
    is_asked_for(f, SETS "llm-0", 200, OF("v1", "Pod", "llm-0"));
    is_asked_for(f, PODS "llm-0", 200, OF("apps/v1", "StatefulSet", "llm"));
    is_asked_for(f, SETS "llm", 200, OF(LWS, "LeaderWorkerSet", "llm"));
    is_asked_for(f, LWS_PATH "llm", 200, "{}");
    is_judged(f, NULL);
    validate_worker(f, "llm-0");
    is_judged(f, NULL);
    assert_true(api_is_quiet(&f->api));
    assert_int_equal(reads(f, FOUND), 1);
    f->c.clock.at_ms += 29999;
    validate_worker(f, "llm-0");
    is_judged(f, NULL);
    f->c.clock.at_ms += 1; /* another one may have its name now */
    validate_worker(f, "llm-0");
    is_asked_for(f, SETS "llm-0", 200, "{\"metadata\":{}}");
    is_judged(f, "no controller of such units");
}

static void a_job_of_a_unit(void **state) {
    struct fixture *f = *state;
    validate_job(f, "j-0");
    is_asked_for(f, JOBS "j-0", 200, OF("jobset.x-k8s.io/v1alpha2", "JobSet", "j"));
    is_asked_for(f, "/apis/jobset.x-k8s.io/v1alpha2/namespaces/shop/jobsets/j", 200, "{}");
    is_judged(f, NULL);
}

#define RAY "ray.io/v1"
#define CLUSTERS "/apis/" RAY "/namespaces/shop/rayclusters/"

static void validate_custom(struct fixture *f, const char *mark, const char *api, const char *kind,
                            const char *name) {
    char metadata[500];
    (void)snprintf(metadata, sizeof metadata, "\"labels\":{\"unit\":\"yes\",%s}," CONTROLLER, mark,
                   api, kind, name);
    send_review(f, VALIDATE, "system:serviceaccount:shop:robot", metadata);
}

/* An owner of a custom kind is an object like any other, or a name that somebody made up. */
static void the_owner_of_a_unit(void **state) {
    struct fixture *f = *state;
    static const char host[] = "\"ray.io/replica-host-index\":\"1\"";
    validate_custom(f, host, RAY, "RayCluster", "r");
    is_asked_for(f, CLUSTERS "r", 200, "{\"metadata\":{}}");
    is_judged(f, NULL);
    validate_custom(f, host, RAY, "RayCluster", "none");
    is_asked_for(f, CLUSTERS "none", 404, "{}");
    is_judged(f, "no controller of such units");
    validate_custom(f, host, RAY, "RayCluster", "hidden");
    is_asked_for(f, CLUSTERS "hidden", 403, "{}");
    is_judged(f, "could not be read");
    validate_custom(f, host, RAY, "RayClusters", "r"); /* another kind of its group */
    is_judged(f, "could not be read");
    assert_true(api_is_quiet(&f->api));
}

static void the_owner_of_a_gang_of_another_kind(void **state) {
    struct fixture *f = *state;
    static const char gang[] = "\"scheduling.x-k8s.io/pod-group\":\"g\"";
    validate_custom(f, gang, "example.com/v1", "Widget", "w");
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_asked_for(f, SCALE("w"), 200, SELECTS("widget=w"));
    is_judged(f, NULL);
    validate_custom(f, gang, "example.com/v1", "Widget", "none");
    is_asked_for(f, SCALE("none"), 404, "{}");
    is_judged(f, "could not be read");
    validate_custom(f, gang, "example.com/v1", "Thing", "t"); /* without a scale subresource */
    is_asked_for(f, GROUP, 200, RESOURCES);
    is_judged(f, "could not be read");
    assert_true(api_is_quiet(&f->api));
}

static void units_that_nobody_made(void **state) {
    struct fixture *f = *state;
    static const char *const objects[] = {
        "{}",
        "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"" LWS
        "\",\"kind\":\"LeaderWorkerSet\",\"name\":\"llm\"}]}}", /* which does not control it */
        OF("apps/v1", "Deployment", "d"),
        OF("example.com/v1", "LeaderWorkerSet", "llm"),
        OF(LWS, "Worker", "llm"),
        "oops",
        "[]",
    };
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        char name[20], path[100];
        (void)snprintf(name, sizeof name, "own%zu", i);
        (void)snprintf(path, sizeof path, SETS "%s", name);
        validate_worker(f, name);
        is_asked_for(f, path, 200, objects[i]);
        is_judged(f, "no controller of such units");
    }
    validate_worker(f, "gone");
    is_asked_for(f, SETS "gone", 404, "{}");
    is_judged(f, "no controller of such units");
    validate_worker(f, "made-up"); /* the object that it names is not there */
    is_asked_for(f, SETS "made-up", 200, OF(LWS, "LeaderWorkerSet", "none"));
    is_asked_for(f, LWS_PATH "none", 404, "{}");
    is_judged(f, "no controller of such units");
    validate_worker(f, "deep"); /* as many as a chain has, and no more */
    is_asked_for(f, SETS "deep", 200, OF("v1", "Pod", "a"));
    is_asked_for(f, PODS "a", 200, OF("v1", "Pod", "b"));
    is_asked_for(f, PODS "b", 200, OF("v1", "Pod", "c"));
    is_asked_for(f, PODS "c", 200, OF(LWS, "LeaderWorkerSet", "llm"));
    is_judged(f, "no controller of such units");
    assert_true(api_is_quiet(&f->api));
}

static void units_that_cannot_be_read(void **state) {
    struct fixture *f = *state;
    validate_worker(f, "llm");
    is_asked_for(f, SETS "llm", 403, "{}");
    is_judged(f, "could not be read");
    validate_worker(f, "llm");
    is_judged(f, "could not be read");
    assert_true(api_is_quiet(&f->api));
    assert_int_equal(reads(f, FAILED), 1);
    f->c.clock.at_ms += 30000;
    validate_worker(f, "llm");
    is_asked_for(f, SETS "llm", 200, OF(LWS, "LeaderWorkerSet", "llm"));
    is_asked_for(f, LWS_PATH "llm", 503, "{}");
    is_judged(f, "could not be read");
    validate_worker(f, "../../secrets/x");
    is_judged(f, "could not be read");
    f->webhook.pods.read_for_anyone = false;
    validate_worker(f, "other");
    is_judged(f, "webhook.fluid.readFor");
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
        TEST(a_worker_of_a_unit),
        TEST(a_job_of_a_unit),
        TEST(the_owner_of_a_unit),
        TEST(the_owner_of_a_gang_of_another_kind),
        TEST(units_that_nobody_made),
        TEST(units_that_cannot_be_read),
        TEST(the_end_while_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
