/* Statuses and texts of the estimator's service, and members that cannot answer. */
#include "handlers/estimator.h"

#include "base/file.h"
#include "base/metrics.h"
#include "fleet/karmada.h"

#include "unit/estimator/wire_bytes.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"

#include <sched.h>
#include <unistd.h>

#define UNKNOWN "08ffffffffffffffffff01" /* -1 */
enum { REPLICAS, SETS, UNSCHEDULABLE, ARENA = 1 << 20 };

static char path[] = "/tmp/evenkeel-estimator-XXXXXX.yaml";
static struct members *members;
static struct estimator estimator;

static void load(const char *text) {
    const char *paths[] = {path};
    struct err err;
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    if (informer_load(members_of_files(members), paths, 1, &err) != 0)
        fail_msg("%s", err.text);
}

static void make_members(const char *const *sources, size_t count) {
    struct err err = {0};
    if (members_new(sources, count, 0, &members, &err) != 0)
        fail_msg("%s", err.text);
    estimator = (struct estimator){.members = members};
}

static int setup(void **state) {
    static const char *const sources[] = {"m1"};
    (void)state;
    hex_reset();
    make_members(sources, 1);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    members_free(members);
    return 0;
}

/* `want`: the response's bytes, or the text of a status other than 0. */
static void ask_within(int method, const char *hex, enum grpc_status status, const char *want,
                       uint64_t steps) {
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    struct grpc_response response = {.message = {.max = 64}};
    const struct grpc_service service = estimator_service(&estimator);
    arena_init(&arena, ARENA);
    arena.steps.max = steps;
    hex_append(hex, &bytes);
    const struct grpc_request request = {.message = strbuf_str(&bytes), .arena = &arena};
    service.methods[method].handle(service.ctx, &request, &response);
    assert_int_equal(response.status, status);
    assert_int_equal(response.remark != 0, status == GRPC_OK && strcmp(want, UNKNOWN) == 0);
    if (status == GRPC_OK)
        assert_hex(strbuf_str(&response.message), want);
    else
        assert_contains(response.err.text, want);
    strbuf_done(&response.message);
}

static void ask(int method, const char *hex, enum grpc_status status, const char *want) {
    ask_within(method, hex, status, want, 0);
}

#define NODE                                                                                       \
    "kind: Node\napiVersion: v1\nmetadata: {name: node1}\nstatus: {allocatable: {pods: '12', "     \
    "cpu: "                                                                                        \
    "'3'}}\n"

static void answers(void **state) {
    (void)state;
    load(NODE);
    ask(REPLICAS, hex_text(1, "m1"), GRPC_OK, "080c");
    ask(REPLICAS, hex_printf("%s%s", hex_text(1, "m1"), hex_field(2, hex_request(5, "cpu", "1"))),
        GRPC_OK, "0803");
    /* 0 is the empty message */
    ask(REPLICAS, hex_printf("%s%s", hex_text(1, "m1"), hex_field(2, hex_request(5, "cpu", "4"))),
        GRPC_OK, "");
    const char *two = hex_field(
        2, hex_printf("%s%s", hex_field(2, hex_request(4, "cpu", "1")), hex_number(3, 2)));
    ask(SETS, hex_printf("%s%s", hex_text(1, "m1"), two), GRPC_OK, "0801");
    /* no components: no limit */
    ask(SETS, hex_text(1, "m1"), GRPC_OK, hex_number(1, INT32_MAX));
    load("kind: Other\napiVersion: v1\nmetadata: {name: o}\n");
    ask(REPLICAS, hex_text(1, "m1"), GRPC_OK, ""); /* no nodes */
}

#define QUOTA(name, hard, used)                                                                    \
    "---\nkind: ResourceQuota\napiVersion: v1\nmetadata: {name: " name                             \
    ", namespace: ns}\nstatus: {hard: " hard ", used: " used "}\n"

static const char *replicas_in(const char *namespace, const char *assumed) {
    return hex_printf(
        "%s%s%s", hex_text(1, "m1"),
        hex_field(2, hex_printf("%s%s", hex_text(3, namespace), hex_request(5, "cpu", "500m"))),
        assumed);
}

static const char *sets_in(const char *namespace, const char *assumed) {
    const char *component =
        hex_printf("%s%s", hex_field(2, hex_request(4, "cpu", "500m")), hex_number(3, 1));
    return hex_printf("%s%s%s%s", hex_text(1, "m1"), hex_field(2, component),
                      hex_text(3, namespace), assumed);
}

/* A workload of one component, 1 cpu for each of its replicas. */
static const char *assumed(unsigned field, const char *namespace, int64_t replicas) {
    const char *component =
        hex_printf("%s%s", hex_field(2, hex_request(4, "cpu", "1")), hex_number(3, replicas));
    return hex_field(field, hex_printf("%s%s", hex_text(1, namespace), hex_field(2, component)));
}

/* Six replicas fit the node, two the quotas of their namespace; only if quotas count. */
static void quotas(void **state) {
    (void)state;
    load(NODE QUOTA("q1", "{requests.cpu: '3'}", "{requests.cpu: '1'}")
             QUOTA("q2", "{cpu: '2'}", "{cpu: '1'}") QUOTA("q3", "{pods: '1'}", "{pods: '1'}"));
    ask(REPLICAS, replicas_in("ns", ""), GRPC_OK, "0806");
    ask(SETS, sets_in("ns", ""), GRPC_OK, "0806");
    estimator.quotas = true;
    ask(REPLICAS, replicas_in("ns", ""), GRPC_OK, "0802");
    ask(SETS, sets_in("ns", ""), GRPC_OK, "0802");
    ask(REPLICAS, replicas_in("other", ""), GRPC_OK, "0806");
    ask(SETS, sets_in("other", ""), GRPC_OK, "0806");
    /* upstream lists the quotas of all namespaces for replicas without one, and none for sets */
    ask(REPLICAS, replicas_in("", ""), GRPC_OK, "0802");
    ask(SETS, sets_in("", ""), GRPC_OK, "0806");
    load(QUOTA("q", "{cpu: '2'}", "{cpu: '1'}")); /* no node, nothing fits */
    ask(REPLICAS, replicas_in("ns", ""), GRPC_OK, "");
    ask(SETS, hex_text(1, "m1"), GRPC_OK, "");
}

/* What is on its way takes room of nodes and of quotas; only if it counts. */
static void assumed_workloads(void **state) {
    (void)state;
    load(NODE QUOTA("q", "{cpu: '3'}", "{cpu: '1'}"));
    ask(REPLICAS, replicas_in("ns", assumed(3, "ns", 1)), GRPC_OK, "0806");
    ask(SETS, sets_in("ns", assumed(4, "ns", 1)), GRPC_OK, "0806");
    estimator.overcommit_protection = true;
    ask(REPLICAS, replicas_in("ns", assumed(3, "ns", 1)), GRPC_OK, "0804");
    ask(SETS, sets_in("ns", assumed(4, "ns", 1)), GRPC_OK, "0804");
    ask(REPLICAS, replicas_in("ns", assumed(3, "ns", 4)), GRPC_OK, ""); /* three of them land */
    estimator.quotas = true;
    ask(REPLICAS, replicas_in("ns", assumed(3, "ns", 1)), GRPC_OK, "0802");
    ask(SETS, sets_in("ns", assumed(4, "ns", 1)), GRPC_OK, "0802");
    /* of another namespace it takes nothing of the quota */
    ask(REPLICAS, replicas_in("ns", assumed(3, "other", 1)), GRPC_OK, "0804");
    ask(SETS, sets_in("ns", assumed(4, "other", 1)), GRPC_OK, "0804");
    ask(SETS, sets_in("ns", assumed(4, "ns", 3)), GRPC_OK, "");
}

static void unknown_clusters(void **state) {
    static const char *const two[] = {"m2", "m1"};
    (void)state;
    load(NODE);
    ask(REPLICAS, hex_text(1, "m9"), GRPC_UNKNOWN,
        "cluster name does not match, got: m9, desire: m1");
    ask(SETS, "", GRPC_UNKNOWN, "cluster name does not match, got: , desire: m1");
    members_free(members);
    make_members(two, 2);
    ask(REPLICAS, hex_text(1, "m9"), GRPC_UNKNOWN,
        "cluster name does not match, got: m9, desire: one of 2 members");
}

#define CLUSTER(name)                                                                              \
    EVENT("ADDED", "{\"kind\":\"Cluster\",\"apiVersion\":\"cluster.karmada.io/v1alpha1\","         \
                   "\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"11\"}}")

/* One that Karmada has is no unknown one, though no poll has made it a member yet. */
static void clusters_to_come(void **state) {
    struct api api;
    struct api_call watch = {0};
    struct kube_client *client = NULL;
    struct karmada_members *karmada = NULL;
    struct informer *clusters = NULL;
    (void)state;
    load(NODE);
    api_init(&api);
    const struct kube_access access = {.server = api.url, .namespace = "default"};
    assert_int_equal(kube_client_new(&access, NULL, &client, NULL), 0);
    const struct informer_watch of_karmada = {.client = client};
    assert_int_equal(informer_new(&karmada_store, NULL, &clusters, NULL), 0);
    assert_int_equal(informer_watch(clusters, &of_karmada, NULL), 0);
    const struct karmada_members_options options = {
        .members = members, .clusters = clusters, .client = client};
    assert_int_equal(karmada_members_start(&options, &karmada, NULL), 0);
    estimator.karmada = karmada;
    ask(REPLICAS, hex_text(1, "m9"), GRPC_OK, UNKNOWN);
    api_take(&api, &watch);
    assert_true(api_say(&watch, STREAM MARKER("9")));
    while (!members_complete(members))
        karmada_members_poll(karmada);
    ask(REPLICAS, hex_text(1, "m7"), GRPC_UNKNOWN, "cluster name does not match, got: m7");
    assert_true(api_say(&watch, CLUSTER("m7")));
    while (karmada_members_find(karmada, STR("m7")) != KARMADA_MEMBER_THERE)
        (void)sched_yield();
    ask(REPLICAS, hex_text(1, "m7"), GRPC_OK, UNKNOWN);
    ask(UNSCHEDULABLE, hex_text(1, "m7"), GRPC_OK, UNKNOWN);
    ask(REPLICAS, hex_text(1, "m9"), GRPC_UNKNOWN, "cluster name does not match, got: m9");
    ask(REPLICAS, hex_text(1, "m1"), GRPC_OK, "080c");
    members_set_complete(members, false); /* Karmada has been silent for too long */
    ask(REPLICAS, hex_text(1, "m9"), GRPC_OK, UNKNOWN);
    karmada_members_stop(karmada);
    informer_stop(clusters);
    kube_client_free(client);
    karmada_members_free(karmada);
    informer_free(clusters);
    api_call_done(&watch);
    api_done(&api);
}

static void not_synced(void **state) {
    const char *unknown = UNKNOWN;
    (void)state;
    ask(REPLICAS, hex_text(1, "m1"), GRPC_OK, unknown);
    ask(SETS, hex_text(1, "m1"), GRPC_OK, unknown);
    estimator.unready_is_error = true;
    ask(REPLICAS, hex_text(1, "m1"), GRPC_UNAVAILABLE,
        "cluster m1: not all of its objects are listed yet");
    load(NODE);
    ask(REPLICAS, hex_text(1, "m1"), GRPC_OK, "080c");
}

/* With fewer steps than it takes itself it has status 8 and that text, with fewer than it takes of
 * the member -1, and with one step more an answer. */
static void least_steps(int method, const char *hex, const char *want) {
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(strbuf_done) struct strbuf bytes = {0};
    const struct grpc_service service = estimator_service(&estimator);
    struct grpc_response response = {.status = GRPC_OK};
    char text[sizeof response.err.text] = "";
    bool unknown = false;
    arena_init(&arena, ARENA);
    hex_append(hex, &bytes);
    const struct grpc_request request = {.message = strbuf_str(&bytes), .arena = &arena};
    for (uint64_t steps = 1; steps < 1000; steps++) {
        arena_reset(&arena);
        arena.steps = (struct steps){.max = steps};
        response = (struct grpc_response){.message = {.max = 64}};
        service.methods[method].handle(service.ctx, &request, &response);
        if (response.remark != 0)
            assert_hex(strbuf_str(&response.message), UNKNOWN);
        strbuf_done(&response.message);
        unknown = unknown || response.remark != 0;
        if (response.status == GRPC_OK && response.remark == 0)
            break;
        assert_int_equal(response.status, unknown ? GRPC_OK : GRPC_RESOURCE_EXHAUSTED);
        if (!unknown)
            memcpy(text, response.err.text, sizeof text);
    }
    assert_int_equal(response.status, GRPC_OK);
    assert_int_equal(response.remark, 0);
    assert_true(unknown);
    assert_contains(text, want);
}

static void bad_questions(void **state) {
    (void)state;
    load(NODE);
    ask(REPLICAS, "0a", GRPC_INTERNAL, "");
    ask(SETS, "0aff", GRPC_INTERNAL, "");
    const char *good =
        hex_printf("%s%s", hex_text(1, "m1"), hex_field(2, hex_request(5, "cpu", "1")));
    ask_within(REPLICAS, good, GRPC_RESOURCE_EXHAUSTED, "", 1);
    least_steps(REPLICAS, good, "failed to estimate replicas: the question is too large");
    least_steps(SETS, sets_in("ns", ""), "failed to estimate component sets: the question is too");
    estimator.quotas = true;
    least_steps(REPLICAS, good, "failed to estimate replicas: the question is too large");
}

/* What is too much because there is so much of the member is not known. */
static void large_members(void **state) {
    enum { QUOTAS = 200, STEPS = 200 };
    CLEANUP(strbuf_done) struct strbuf text = {.max = 64 << 10};
    (void)state;
    strbuf_append_str(&text, STR(NODE));
    for (int i = 0; i < QUOTAS; i++)
        strbuf_appendf(&text,
                       "---\nkind: ResourceQuota\napiVersion: v1\nmetadata: {name: q%d, namespace: "
                       "ns}\nstatus: {hard: {cpu: '9'}, used: {cpu: '0'}}\n",
                       i);
    strbuf_append_char(&text, '\0');
    load(text.p);
    estimator.quotas = true;
    ask_within(REPLICAS, replicas_in("other", ""), GRPC_OK, "0806", STEPS);
    ask_within(REPLICAS, replicas_in("ns", ""), GRPC_OK, UNKNOWN, STEPS);
    ask_within(SETS, sets_in("other", ""), GRPC_OK, "0806", STEPS);
    ask_within(SETS, sets_in("ns", ""), GRPC_OK, UNKNOWN, STEPS);
    estimator.unready_is_error = true;
    ask_within(SETS, sets_in("ns", ""), GRPC_UNAVAILABLE,
               "cluster m1: the cluster is too large for the question to be answered", STEPS);
}

static const char *workload(const char *cluster, const char *api, const char *kind,
                            const char *name) {
    return hex_printf("%s%s%s", hex_text(1, cluster),
                      hex_field(2, hex_printf("%s%s%s%s", hex_text(1, api), hex_text(2, kind),
                                              hex_text(3, "ns"), hex_text(4, name))),
                      hex_number(3, 0));
}

static void unschedulable_replicas(void **state) {
    (void)state;
    ask(UNSCHEDULABLE, hex_text(1, "m1"), GRPC_OK, "08ffffffffffffffffff01");
    load(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ns, uid: u}\n"
        "spec: {selector: {matchLabels: {a: b}}, template: {spec: {}}}\n---\n"
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r, namespace: ns, uid: v, labels: "
        "{a: b}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: u, "
        "controller: true}]}\nspec: {template: {spec: {}}}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, labels: {a: b}, "
        "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: v, controller: "
        "true}]}\nstatus: {conditions: [{type: PodScheduled, status: 'False', reason: "
        "Unschedulable, lastTransitionTime: '2001-01-01T00:00:00Z'}]}\n");
    ask(UNSCHEDULABLE, workload("m1", "apps/v1", "Deployment", "d"), GRPC_OK, "0801");
    least_steps(UNSCHEDULABLE, workload("m1", "apps/v1", "Deployment", "d"), "");
    ask(UNSCHEDULABLE, workload("m2", "apps/v1", "Deployment", "d"), GRPC_UNKNOWN,
        "cluster name does not match, got: m2, desire: m1");
    ask(UNSCHEDULABLE, workload("m1", "apps/v1", "StatefulSet", "d"), GRPC_UNKNOWN,
        "kind(StatefulSet) of workload(ns/d) is not supported");
    ask(UNSCHEDULABLE, workload("m1", "apps/v1", "Deployment", "e"), GRPC_UNKNOWN,
        "deployments.apps \"ns/e\" not found");
    ask(UNSCHEDULABLE, hex_text(1, "m1"), GRPC_UNKNOWN, "resource is nil");
    ask(UNSCHEDULABLE, "0a", GRPC_INTERNAL, "");
}

static void observed(void **state) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    const struct grpc_service service = estimator_service(&estimator);
    (void)state;
    estimator_metrics_start();
    service.observe(service.ctx, &(struct grpc_report){.method = &service.methods[SETS],
                                                       .status = GRPC_UNAVAILABLE,
                                                       .duration_ns = 3000000});
    service.observe(service.ctx, &(struct grpc_report){.method = &service.methods[REPLICAS],
                                                       .remark = 1,
                                                       .duration_ns = 3000000});
    service.observe(service.ctx, &(struct grpc_report){.method = &service.methods[REPLICAS],
                                                       .remark = 2,
                                                       .duration_ns = 3000000});
    service.observe(service.ctx,
                    &(struct grpc_report){.method = NULL, .status = GRPC_UNIMPLEMENTED});
    metrics_render(&out);
    strbuf_append_char(&out, '\0');
    assert_contains(out.p, "evenkeel_estimator_requests_total{method=\"MaxAvailableComponentSets\","
                           "result=\"unready\"} 1\n");
    assert_contains(
        out.p,
        "evenkeel_estimator_requests_total{method=\"MaxAvailableReplicas\",result=\"ok\"} 0\n");
    assert_contains(out.p, "evenkeel_estimator_requests_total{method=\"MaxAvailableReplicas\","
                           "result=\"unknown\"} 1\n");
    assert_contains(out.p, "evenkeel_estimator_requests_total{method=\"MaxAvailableReplicas\","
                           "result=\"too_large\"} 1\n");
    assert_contains(out.p, "evenkeel_estimator_duration_seconds_count{method="
                           "\"MaxAvailableComponentSets\"} 1\n");
    estimator_metrics_stop();
    assert_string_equal(service.path,
                        "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/");
    assert_string_equal(service.methods[REPLICAS].name, "MaxAvailableReplicas");
    assert_string_equal(service.methods[SETS].name, "MaxAvailableComponentSets");
    assert_string_equal(service.methods[UNSCHEDULABLE].name, "GetUnschedulableReplicas");
}

static int make_path(void **state) {
    (void)state;
    return close(mkstemps(path, 5));
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers, setup, teardown),
        cmocka_unit_test_setup_teardown(quotas, setup, teardown),
        cmocka_unit_test_setup_teardown(assumed_workloads, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_clusters, setup, teardown),
        cmocka_unit_test_setup_teardown(clusters_to_come, setup, teardown),
        cmocka_unit_test_setup_teardown(not_synced, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_questions, setup, teardown),
        cmocka_unit_test_setup_teardown(large_members, setup, teardown),
        cmocka_unit_test_setup_teardown(unschedulable_replicas, setup, teardown),
        cmocka_unit_test_setup_teardown(observed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
