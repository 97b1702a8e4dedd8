/*
 * The estimators of Karmada's clusters, found by Services of a fake API server and asked over real
 * connections: clusters that come and go, one that is configured, Services that change, are not
 * there or cannot be read. Expected: karmada v1.18.1 pkg/estimator/client service.go.
 */
#include "estimators/tracked.h"

#include "base/file.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "estimator/wire.h"
#include "fleet/karmada.h"
#include "grpc/listener.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLUSTER "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"
#define SERVICES "/api/v1/namespaces/ns/services/"

enum { DEADLINE_MS = 200, GUARD_MS = 30000 };

static char path[] = "/tmp/evenkeel-estimators-XXXXXX.yaml";
static struct tracked_estimators_options options;
static struct api karmada;
static struct kube_access access_;
static struct kube_client *client;
static struct informer *clusters;
static struct grpc_listener *listener;
static struct tracked_estimators *known;
static struct api_call call;
static struct clock_fake services_clock; /* of Services */

static struct mutex lock = MUTEX_INITIALIZER; /* guards the next three */
static struct condition changed;
static int64_t answer;
static bool is_answered;

/* ---- an estimator: the number in the cluster's name ---- */

static void count_replicas(void *ctx, const struct grpc_request *q,
                           struct grpc_response *response) {
    struct wire_replicas question;
    struct err err;
    int64_t number = 0;
    (void)ctx;
    assert_int_equal(wire_replicas_decode(q->message, q->arena, &question, &err), 0);
    (void)str_to_i64((struct str){question.cluster.p + 1, question.cluster.n - 1}, &number);
    wire_response_encode((int32_t)number, WIRE_BOTH, &response->message);
}

static const struct grpc_method methods[] = {{"MaxAvailableReplicas", count_replicas}};
static const struct grpc_service service = {
    .path = WIRE_SERVICE, .methods = methods, .method_count = 1};
static const struct http_tls_options no_tls = {.cert_file = NULL};

/* ---- the fixture ---- */

static int setup(void **state) {
    const struct grpc_listener_options listening = {
        .address = "127.0.0.1:0", .threads = 1, .service = &service, .tls = &no_tls};
    struct err err = {0};
    (void)state;
    condition_init(&changed);
    clock_fake_init(&services_clock, 1000);
    api_init(&karmada);
    access_ = (struct kube_access){.server = karmada.url, .namespace = "default"};
    assert_int_equal(kube_client_new(&access_, NULL, &client, &err), 0);
    assert_int_equal(grpc_listener_start(&listening, clock_real(), &listener, &err), 0);
    assert_int_equal(informer_new(&karmada_store, NULL, &clusters, &err), 0);
    options = (struct tracked_estimators_options){
        .services = {.prefix = STR("est"), .namespace = STR("ns"), .port = 10352},
        .karmada = clusters,
        .clock = &services_clock.clock};
    call = (struct api_call){.api = NULL};
    known = NULL;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    tracked_estimators_stop(known);
    kube_client_free(client);
    tracked_estimators_free(known);
    informer_free(clusters);
    grpc_listener_stop(listener, 0);
    api_call_done(&call);
    api_done(&karmada);
    condition_done(&changed);
    metrics_reset();
    return 0;
}

static void know(const char *text) {
    const char *paths[] = {path};
    struct err err = {0};
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    if (informer_load(clusters, paths, 1, &err) != 0)
        fail_msg("%s", err.text);
}

static int start(struct kube_client *of) {
    options.client = of;
    struct err err = {0};
    return tracked_estimators_start(&options, &known, &err);
}

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

static void keep_answer(void *ctx, const int64_t *got, uint32_t count) {
    (void)ctx;
    assert_int_equal(count, 1);
    mutex_lock(&lock);
    answer = got[0];
    is_answered = true;
    condition_broadcast(&changed);
    mutex_unlock(&lock);
}

static int64_t ask(struct str cluster) {
    const int64_t began_ms = now_ms();
    const struct estimators_question q = {
        .clusters = &cluster, .count = 1, .deadline_ms = began_ms + DEADLINE_MS};
    struct err err;
    is_answered = false;
    assert_int_equal(estimators_ask(tracked_estimators_asked(known), &q, keep_answer, NULL, &err),
                     0);
    mutex_lock(&lock);
    while (!is_answered && condition_wait_until(&changed, &lock, began_ms + GUARD_MS))
        continue;
    assert_true(is_answered);
    mutex_unlock(&lock);
    return answer;
}

static void ask_until(struct str cluster, int64_t want) {
    const int64_t until_ms = now_ms() + GUARD_MS;
    while (ask(cluster) != want) {
        assert_true(now_ms() < until_ms);
        tracked_estimators_poll(known);
        (void)sched_yield();
    }
}

static void expect(const char *request) {
    while (api_is_quiet(&karmada)) {
        tracked_estimators_poll(known);
        (void)sched_yield();
    }
    api_expect(&karmada, &call, "GET", request);
}

/* An ExternalName whose port 10352 is the estimator's. */
static void answer_with_service(void) {
    char text[256];
    const char *port = strrchr(grpc_listener_address(listener), ':') + 1;
    (void)snprintf(text, sizeof text,
                   "{\"kind\":\"Service\",\"spec\":{\"type\":\"ExternalName\",\"externalName\":"
                   "\"127.0.0.1\",\"ports\":[{\"port\":10352,\"targetPort\":%s}]}}",
                   port);
    api_answer(&call, 200, "Content-Type: application/json\r\n", text);
}

/* The only cluster, found by its Service. */
static void bring_m3(void) {
    know(CLUSTER "metadata: {name: m3}\n");
    assert_int_equal(start(client), 0);
    expect(SERVICES "est-m3");
    answer_with_service();
    ask_until(STR("m3"), 3);
}

/* ---- tests ---- */

static void clusters_come_and_go(void **state) {
    (void)state;
    bring_m3();
    know(CLUSTER "metadata: {name: m3}\n" CLUSTER "metadata: {name: m4}\n");
    expect(SERVICES "est-m4");
    answer_with_service();
    ask_until(STR("m4"), 4);
    assert_int_equal(ask(STR("m3")), 3);
    know(CLUSTER "metadata: {name: m4}\n");
    ask_until(STR("m3"), ESTIMATE_UNKNOWN);
    assert_int_equal(ask(STR("m4")), 4);
    assert_true(api_is_quiet(&karmada)); /* nobody has asked twice */
}

/* A request that is under way goes with its cluster, and with the process. */
static void requests_under_way(void **state) {
    (void)state;
    know(CLUSTER "metadata: {name: m3}\n");
    assert_int_equal(start(client), 0);
    expect(SERVICES "est-m3");
    know(CLUSTER "metadata: {name: m4}\n");
    expect(SERVICES "est-m4");
}

static void what_is_no_good_leaves_others(void **state) {
    (void)state;
    know(CLUSTER "metadata: {name: m3}\n" CLUSTER "metadata: {name: m4}\n" CLUSTER
                 "metadata: {name: m5}\n");
    assert_int_equal(start(client), 0);
    for (int i = 0; i < 3; i++) {
        while (api_is_quiet(&karmada))
            tracked_estimators_poll(known);
        api_take(&karmada, &call);
        if (str_eq(call.path, STR(SERVICES "est-m3")))
            api_answer(&call, 403, "", "{}");
        else if (str_eq(call.path, STR(SERVICES "est-m4")))
            api_answer(&call, 200, "", "{\"spec\":{\"type\":\"NodePort\"}}");
        else
            answer_with_service();
    }
    ask_until(STR("m5"), 5);
    assert_int_equal(ask(STR("m3")), ESTIMATE_UNKNOWN);
    assert_int_equal(ask(STR("m4")), ESTIMATE_UNKNOWN);
}

/* For what must not happen: long enough for it. */
static void settle(void) {
    for (int i = 0; i < 50; i++) {
        tracked_estimators_poll(known);
        (void)usleep(400);
    }
}

enum { AGAIN_MS = 300000, SPREAD_MS = 30000, TROUBLED_MS = 30000 };

/* Every five minutes. Where it is now counts; one that is gone leaves its name in DNS, where this
 * is not. */
static void read_again(void **state) {
    (void)state;
    know(CLUSTER "metadata: {name: m3}\n");
    assert_int_equal(start(client), 0);
    expect(SERVICES "est-m3");
    api_answer(&call, 200, "",
               "{\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"127.0.0.1\",\"ports\":[{"
               "\"port\":10352,\"targetPort\":1}]}}");
    settle();
    services_clock.at_ms += AGAIN_MS - 1;
    settle();
    assert_true(api_is_quiet(&karmada));
    services_clock.at_ms += 1 + SPREAD_MS;
    expect(SERVICES "est-m3");
    answer_with_service();
    ask_until(STR("m3"), 3);
    services_clock.at_ms += AGAIN_MS + SPREAD_MS;
    expect(SERVICES "est-m3");
    api_answer(&call, 404, "", "{}");
    ask_until(STR("m3"), ESTIMATE_UNKNOWN);
    services_clock.at_ms += TROUBLED_MS; /* that is no trouble */
    settle();
    assert_true(api_is_quiet(&karmada));
}

/* Every half a minute while it cannot be read, or is of no use; what was known stays. */
static void read_again_in_trouble(void **state) {
    static const struct {
        int status;
        const char *body;
    } troubles[] = {
        {403, "{}"}, {500, "{}"}, {200, "{\"spec\":{\"type\":\"NodePort\"}}"}, {200, "{"}};
    (void)state;
    bring_m3();
    services_clock.at_ms += AGAIN_MS + SPREAD_MS - TROUBLED_MS;
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        services_clock.at_ms += TROUBLED_MS;
        expect(SERVICES "est-m3");
        api_answer(&call, troubles[i].status, "", troubles[i].body);
        settle();
        services_clock.at_ms += TROUBLED_MS - 1;
        settle();
        assert_true(api_is_quiet(&karmada));
        services_clock.at_ms -= TROUBLED_MS - 1;
        assert_int_equal(ask(STR("m3")), 3);
    }
}

/* Eight at a time. */
static void many_services(void **state) {
    enum { AT_ONCE = 8, MANY = 12 };
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct api_call calls[MANY] = {0};
    (void)state;
    for (int i = 0; i < MANY; i++)
        strbuf_appendf(&text, CLUSTER "metadata: {name: c%d}\n", i);
    strbuf_append_char(&text, '\0');
    know(text.p);
    assert_int_equal(start(client), 0);
    tracked_estimators_poll(known);
    for (int i = 0; i < AT_ONCE; i++)
        api_take(&karmada, &calls[i]);
    settle();
    assert_true(api_is_quiet(&karmada));
    for (int i = AT_ONCE; i < MANY; i++) {
        api_answer(&calls[i - AT_ONCE], 403, "", "{}");
        while (api_is_quiet(&karmada))
            tracked_estimators_poll(known);
        api_take(&karmada, &calls[i]);
        settle();
        assert_true(api_is_quiet(&karmada));
    }
    for (int i = 0; i < MANY; i++)
        api_call_done(&calls[i]);
}

static size_t times(int log, const char *what) {
    char text[8000];
    size_t n = 0;
    const ssize_t size = pread(log, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        n++;
    return n;
}

/* Why a cluster is not known is said once, and again when it is another reason. */
static void said_once(void **state) {
    const int log = memfd_create("log", MFD_CLOEXEC);
    (void)state;
    assert_true(log >= 0);
    know(CLUSTER "metadata: {name: m3}\n");
    assert_int_equal(start(client), 0);
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    for (int i = 0; i < 5; i++) {
        expect(SERVICES "est-m3");
        api_answer(&call, i == 3 ? 500 : 403, "", "{}");
        settle();
        services_clock.at_ms += TROUBLED_MS;
    }
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(times(log, "is not found"), 3);
    assert_int_equal(times(log, "status 500"), 1);
    (void)close(log);
}

/* Who is being dialled has not failed. */
static void nothing_is_said_too_early(void **state) {
    const int log = memfd_create("log", MFD_CLOEXEC), silent = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    char text[32];
    const char *const addresses[] = {text};
    (void)state;
    assert_true(log >= 0 && silent >= 0);
    assert_int_equal(bind(silent, (const struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(silent, 1), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(text, sizeof text, "m3=127.0.0.1:%d", ntohs(at.sin_port)); /* fits */
    options.addresses = addresses;
    options.address_count = 1;
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    assert_int_equal(start(NULL), 0);
    settle();
    assert_int_equal(times(log, "is not connected"), 0);
    (void)close(silent); /* which ends the connection */
    while (times(log, "is not connected") == 0)
        tracked_estimators_poll(known);
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(times(log, "cluster=m3"), 1);
    options.address_count = 0;
    (void)close(log);
}

/* One that was not connected, and is where its Service leads to now. */
static void connected_elsewhere(void **state) {
    const int log = memfd_create("log", MFD_CLOEXEC);
    (void)state;
    assert_true(log >= 0);
    know(CLUSTER "metadata: {name: m3}\n");
    log_setup(LOG_INFO, LOG_LOGFMT, log);
    assert_int_equal(start(client), 0);
    for (int i = 1; i <= 2; i++) { /* the same failure at two places */
        char text[200];
        (void)snprintf(text, sizeof text,
                       "{\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"127.0.0.1\","
                       "\"ports\":[{\"port\":10352,\"targetPort\":%d}]}}",
                       i);
        expect(SERVICES "est-m3");
        api_answer(&call, 200, "", text);
        while (times(log, "is not connected") < (size_t)i)
            tracked_estimators_poll(known);
        services_clock.at_ms += AGAIN_MS + SPREAD_MS;
    }
    expect(SERVICES "est-m3");
    answer_with_service();
    while (times(log, "connected again") == 0)
        tracked_estimators_poll(known);
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO);
    assert_int_equal(times(log, "is not connected"), 2);
    (void)close(log);
}

static void pull_mode(void **state) {
    (void)state;
    options.without_pull = true;
    know(CLUSTER "metadata: {name: m3}\nspec: {syncMode: Pull}\n" CLUSTER
                 "metadata: {name: m4}\nspec: {syncMode: Push}\n");
    assert_int_equal(start(client), 0);
    expect(SERVICES "est-m4");
    answer_with_service();
    ask_until(STR("m4"), 4);
    assert_true(api_is_quiet(&karmada));
}

static void in_pull_mode_all_the_same(void **state) {
    (void)state;
    know(CLUSTER "metadata: {name: m3}\nspec: {syncMode: Pull}\n");
    assert_int_equal(start(client), 0);
    expect(SERVICES "est-m3");
    answer_with_service();
    ask_until(STR("m3"), 3);
}

/* Nobody looks for it, whatever its Cluster is, and it stays when that goes. */
static void a_configured_one(void **state) {
    char text[64];
    const char *const addresses[] = {text, "m4=127.0.0.1:1"};
    (void)state;
    (void)snprintf(text, sizeof text, "m3=%s", grpc_listener_address(listener)); /* fits */
    options.addresses = addresses;
    options.address_count = 2;
    options.without_pull = true;
    know(CLUSTER "metadata: {name: m3}\nspec: {syncMode: Pull}\n");
    assert_int_equal(start(client), 0);
    ask_until(STR("m3"), 3);
    assert_true(api_is_quiet(&karmada));
    know(CLUSTER "metadata: {name: m9}\nspec: {syncMode: Pull}\n");
    tracked_estimators_poll(known);
    assert_int_equal(ask(STR("m3")), 3);
}

static void two_of_one_name(void **state) {
    static const char *const addresses[] = {"m3=a:1", "m4=a:1", "m3=b:1"};
    (void)state;
    options.addresses = addresses;
    options.address_count = 2;
    assert_int_equal(start(NULL), 0);
    tracked_estimators_stop(known);
    tracked_estimators_free(known);
    options.address_count = 3;
    assert_int_equal(start(NULL), -EINVAL);
}

static void without_estimators(void **state) {
    (void)state;
    tracked_estimators_poll(NULL);
    assert_null(tracked_estimators_asked(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(clusters_come_and_go),
        TEST(requests_under_way),
        TEST(what_is_no_good_leaves_others),
        TEST(read_again),
        TEST(read_again_in_trouble),
        TEST(many_services),
        TEST(said_once),
        TEST(nothing_is_said_too_early),
        TEST(connected_elsewhere),
        TEST(pull_mode),
        TEST(in_pull_mode_all_the_same),
        TEST(a_configured_one),
        TEST(two_of_one_name),
        TEST(without_estimators),
    };
    const int fd = mkstemps(path, 5);
    if (fd < 0)
        return 1;
    (void)close(fd);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    return failed;
}
