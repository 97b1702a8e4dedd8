/* The step `bind`. Expectations: karmada v1.18.1 pkg/detector detector.go, pkg/util selector.go and
 * pkg/resourceinterpreter/default/native replica.go. */
#include "base/limits.h"
#include "lines/lines.h"

#include "unit/unit.h"

static void answers(const char *members, bool good, const char *words) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, out = {0};
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_LINE_ARENA);
    strbuf_appendf(&text, "{\"id\":1,\"step\":\"bind\"%s}", members);
    assert_int_equal(line_answer(strbuf_str(&text), &arena, &out), good);
    if (memmem(out.p, out.n, words, strlen(words)) == NULL)
        fail_msg("%.*s: no '%s'", STR_ARG(strbuf_str(&out)), words);
}

#define POLICY(metadata, selector)                                                                 \
    ",\"policy\":{\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"p\"" metadata            \
    "},\"spec\":{\"resourceSelectors\":[" selector "]}}"
#define WEB "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"web\"}"
#define WORKLOAD(type, metadata, spec)                                                             \
    ",\"workload\":{" type ",\"metadata\":{\"name\":\"web\"" metadata "},\"spec\":{" spec "}}"
#define DEPLOYMENT "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\""
#define JOB "\"apiVersion\":\"batch/v1\",\"kind\":\"Job\""
#define JOBS "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"}"

/* As an API server would store them: one replica, both in namespace `default`. */
static void defaults(void **state) {
    (void)state;
    answers(POLICY("", WEB) WORKLOAD(DEPLOYMENT, "", ""), true,
            "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":"
            "\"default\",\"name\":\"web\"},\"replicas\":1,\"schedulerName\":\"default-scheduler\","
            "\"placement\":{},\"conflictResolution\":\"Abort\"}},\"reason\":\"\"}");
    answers(POLICY("", WEB) WORKLOAD(DEPLOYMENT, "", "\"replicas\":0"), true,
            "\"name\":\"web\"},\"schedulerName\"");
}

static void jobs(void **state) {
    (void)state;
    answers(POLICY("", JOBS) WORKLOAD(JOB, "", "\"parallelism\":4,\"completions\":3"), true,
            "\"replicas\":3");
    answers(POLICY("", JOBS) WORKLOAD(JOB, "", "\"parallelism\":4"), true, "\"replicas\":4");
    answers(POLICY("", JOBS) WORKLOAD(JOB, "", "\"completions\":5"), true, "\"replicas\":1");
}

static void requirements(void **state) {
    (void)state;
    answers(POLICY("", WEB) WORKLOAD(
                DEPLOYMENT, "",
                "\"template\":{\"spec\":{\"nodeSelector\":{},\"tolerations\":[{\"operator\":"
                "\"Exists\"}],\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1500m\","
                "\"memory\":\"1Gi\",\"hugepages-2Mi\":\"4Mi\",\"x/gpu\":\"1\"}}}]}}"),
            true,
            "\"replicaRequirements\":{\"nodeClaim\":{\"tolerations\":[{\"operator\":\"Exists\"}]},"
            "\"resourceRequest\":{\"cpu\":\"1500m\",\"hugepages-2Mi\":\"4Mi\",\"memory\":\"1Gi\","
            "\"x/gpu\":\"1\"}}");
}

static void not_selected(void **state) {
    (void)state;
    answers(POLICY(",\"namespace\":\"a\"", WEB) WORKLOAD(DEPLOYMENT, ",\"namespace\":\"b\"", ""),
            true, "\"madeBinding\":null,\"reason\":\"a PropagationPolicy selects objects of its");
    answers(POLICY("", "") WORKLOAD(DEPLOYMENT, "", ""), true, "the policy has no selector");
    /* of several selectors the nearest */
    answers(POLICY("", JOBS ",{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"x\"},"
                            "{\"apiVersion\":\"apps/v2\",\"kind\":\"Deployment\"}")
                WORKLOAD(DEPLOYMENT, "", ""),
            true, "the selector's name is 'x', not 'web'");
    answers(POLICY("", "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"labelSelector\":{"
                       "\"matchLabels\":{\"a\":\"b\"}}}") WORKLOAD(DEPLOYMENT, "", ""),
            true, "its labels do not match");
    answers(POLICY(",\"namespace\":\"kube-x\"", WEB)
                WORKLOAD(DEPLOYMENT, ",\"namespace\":\"kube-x\"", ""),
            true, "Karmada propagates no objects of this namespace");
    answers(POLICY(",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"", WEB)
                WORKLOAD(DEPLOYMENT, "", ""),
            true, "being deleted");
    answers(POLICY("", WEB) WORKLOAD(
                "\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\"", "", ""),
            true, "does not select cluster-scoped objects");
}

/* An object without a namespace is in `default`, or belongs to no namespace. */
static void scopes(void **state) {
    (void)state;
    static const struct {
        const char *api_version, *kind, *metadata;
        bool cluster_wide;
    } cases[] = {
        {"gateway.networking.k8s.io/v1", "GatewayClass", "", true},
        {"gateway.networking.k8s.io/v1", "GatewayClass", ",\"namespace\":\"a\"", true},
        {"gateway.networking.k8s.io/v1", "Gateway", ",\"namespace\":\"a\"", false},
        {"gateway.networking.k8s.io/v1", "Gateway", "", true},
        {"snapshot.storage.k8s.io/v1", "VolumeSnapshotClass", "", true},
        {"x-k8s.io/v1", "Planet", "", true},
        {"example.com/v1", "Planet", "", true},
        {"example.com/v1", "Planet", ",\"namespace\":\"a\"", false},
        {"storage.k8s.io/v1", "StorageClass", ",\"namespace\":\"a\"", true},
        {"storage.k8s.io/v1", "CSIStorageCapacity", "", false},
        {"certificates.k8s.io/v1beta1", "PodCertificateRequest", "", false},
        {"resource.k8s.io/v1", "DeviceTaintRule", "", true},
        {"resource.k8s.io/v1", "ResourceClaim", "", false},
        {"v1", "PersistentVolume", "", true},
        {"v1", "ConfigMap", "", false},
        {"policy/v1", "PodDisruptionBudget", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf line = {0};
        strbuf_appendf(&line,
                       ",\"policy\":{\"kind\":\"ClusterPropagationPolicy\",\"metadata\":{\"name\":"
                       "\"p\"},\"spec\":{\"resourceSelectors\":[{\"apiVersion\":\"%s\",\"kind\":"
                       "\"%s\"}]}},\"workload\":{\"apiVersion\":\"%s\",\"kind\":\"%s\","
                       "\"metadata\":{\"name\":\"web\"%s}}",
                       cases[i].api_version, cases[i].kind, cases[i].api_version, cases[i].kind,
                       cases[i].metadata);
        strbuf_append_char(&line, '\0');
        answers(line.p, true,
                cases[i].cluster_wide ? "\"kind\":\"ClusterResourceBinding\""
                                      : "\"kind\":\"ResourceBinding\"");
    }
    answers(POLICY("", "")
                WORKLOAD("\"apiVersion\":\"example.com/v1\",\"kind\":\"Planet\"", "", ""),
            true, "does not select cluster-scoped objects");
}

static void bad_lines(void **state) {
    (void)state;
    answers(POLICY("", WEB), false, "question: policy and workload are required");
    answers(",\"policy\":{\"kind\":\"Deployment\"}", false,
            "question.policy: kind is 'Deployment'; expected PropagationPolicy");
    answers(POLICY("", WEB) ",\"workload\":{\"kind\":\"Pod\"}", false, "question.workload");
    answers(POLICY("", WEB) WORKLOAD(DEPLOYMENT, "", "\"replicas\":-1"), false,
            "question.workload.spec.replicas");
    answers(POLICY("", WEB) WORKLOAD(DEPLOYMENT, "",
                                     "\"template\":{\"spec\":{\"containers\":[{\"resources\":{"
                                     "\"limits\":{\"cpu\":\"1x\"}}}]}}"),
            false, "question.workload.spec.template.spec.containers[0].resources.limits.cpu");
    answers(",\"policy\":{\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
            "\"placement\":{\"spreadConstraints\":[{\"minGroups\":-1}]}}}",
            false, "question.policy.spec.placement.spreadConstraints[0].minGroups");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),     cmocka_unit_test(jobs),   cmocka_unit_test(requirements),
        cmocka_unit_test(not_selected), cmocka_unit_test(scopes), cmocka_unit_test(bad_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
