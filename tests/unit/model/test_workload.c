/*
 * Which workload a pod is of and who chooses its node, from objects as Kubernetes' controllers and
 * the kubelet write them.
 */
#include "model/workload.h"

#include "base/time.h"
#include "model/fixed_pod.h"
#include "unit/model/decoding.h"

#include <stdio.h>

static struct pod pod_of(const char *json) {
    struct object object;
    struct err err;
    assert_int_equal(
        object_decode(str_of(json), OBJECT_POD, POD_WHOLE, &decoding_arena, &object, &err), 0);
    return object.pod;
}

/* ---- workloads ---- */

#define OWNER(api, kind, name)                                                                     \
    "\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"name\":\"" name      \
    "\",\"controller\":true}]"
#define POD(labels, owner) "{\"metadata\":{\"name\":\"p\",\"labels\":{" labels "}," owner "}}"
#define HASH "\"pod-template-hash\":\"7c9f8\""
#define ROLLOUT_HASH "\"rollouts-pod-template-hash\":\"7c9f8\""

static const struct {
    const char *pod, *want; /* "group/kind/name" */
} workloads[] = {
    {"{\"metadata\":{\"name\":\"alone\"}}", "/Pod/alone"},
    {POD(HASH, OWNER("apps/v1", "ReplicaSet", "web-7c9f8")), "apps/Deployment/web"},
    {POD(HASH, OWNER("apps/v1", "ReplicaSet", "a-b-7c9f8")), "apps/Deployment/a-b"},
    {POD(ROLLOUT_HASH, OWNER("apps/v1", "ReplicaSet", "web-7c9f8")), "argoproj.io/Rollout/web"},
    /* no Deployment names its ReplicaSets so */
    {POD(HASH, OWNER("apps/v1", "ReplicaSet", "web")), "apps/ReplicaSet/web"},
    {POD(HASH, OWNER("apps/v1", "ReplicaSet", "-7c9f8")), "apps/ReplicaSet/-7c9f8"},
    {POD(HASH, OWNER("apps/v1", "ReplicaSet", "web7c9f8")), "apps/ReplicaSet/web7c9f8"},
    {POD("", OWNER("apps/v1", "ReplicaSet", "web-7c9f8")), "apps/ReplicaSet/web-7c9f8"},
    {POD("\"pod-template-hash\":\"\"", OWNER("apps/v1", "ReplicaSet", "web-")),
     "apps/ReplicaSet/web-"},
    {POD(HASH, OWNER("example.com/v1", "ReplicaSet", "web-7c9f8")),
     "example.com/ReplicaSet/web-7c9f8"},
    {POD(HASH, OWNER("apps/v1", "StatefulSet", "web-7c9f8")), "apps/StatefulSet/web-7c9f8"},
    /* a CronJob's Job is called after the minute that it was due */
    {POD("", OWNER("batch/v1", "Job", "night-29300000")), "batch/CronJob/night"},
    {POD("", OWNER("batch/v1", "Job", "night-24000000")), "batch/CronJob/night"},
    {POD("", OWNER("batch/v1", "Job", "night-23999999")), "batch/Job/night-23999999"},
    {POD("", OWNER("batch/v1", "Job", "night-99999999")), "batch/Job/night-99999999"},
    {POD("", OWNER("batch/v1", "Job", "night-2930000a")), "batch/Job/night-2930000a"},
    {POD("", OWNER("batch/v1", "Job", "night29300000")), "batch/Job/night29300000"},
    {POD("", OWNER("batch/v1", "Job", "-29300000")), "batch/Job/-29300000"},
    {POD("", OWNER("batch/v1", "Job", "29300000")), "batch/Job/29300000"},
    {POD("", OWNER("batch/v1", "Job", "9300000")), "batch/Job/9300000"},
    {POD("", OWNER("batch.volcano.sh/v1", "Job", "night-29300000")),
     "batch.volcano.sh/Job/night-29300000"},
};

static void the_topmost_controller(void **state) {
    (void)state; /* there is none */
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        const struct pod pod = pod_of(workloads[i].pod);
        const struct workload_name name =
            workload_of(controller_of(&pod.meta), labels_lookup, &pod.meta.labels);
        char text[128];
        (void)snprintf(text, sizeof text, "%.*s/%.*s/%.*s", STR_ARG(name.type.group),
                       STR_ARG(name.type.kind), STR_ARG(name.name)); /* fits */
        assert_string_equal(text, workloads[i].want);
    }
}

/* A Placement has no workload above its controller, and is its own without one. */
static void the_controller_of_a_placement(void **state) {
    (void)state; /* there is none */
    static const struct {
        struct object_meta meta;
        const char *want; /* "group/kind/name" */
    } rows[] = {
        {{.name = {"p", 1}}, "cluster.open-cluster-management.io/Placement/p"},
        {{.name = {"p", 1},
          .controller_api = {"argoproj.io/v1alpha1", 20},
          .controller_kind = {"ApplicationSet", 14},
          .controller_name = {"apps", 4}},
         "argoproj.io/ApplicationSet/apps"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct workload_name name = placement_controller_of(&rows[i].meta);
        char text[128];
        (void)snprintf(text, sizeof text, "%.*s/%.*s/%.*s", STR_ARG(name.type.group),
                       STR_ARG(name.type.kind), STR_ARG(name.name)); /* fits */
        assert_string_equal(text, rows[i].want);
    }
}

/* The API server's clock may be ahead of this one by a day. */
static void minutes_until_tomorrow(void **state) {
    static const struct {
        int64_t from_now;
        bool cron;
    } rows[] = {{0, true}, {24 * 60 - 2, true}, {24 * 60 + 2, false}};
    const int64_t now = kube_wall_us() / 60000000;
    (void)state; /* there is none */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n-%lld", (long long)(now + rows[i].from_now)); /* fits */
        const struct workload_name job = {{STR("batch"), STR("Job")}, str_of(name)};
        const struct labels none = {0};
        assert_str(workload_of(job, labels_lookup, &none).type.kind,
                   rows[i].cron ? "CronJob" : "Job");
    }
}

/* ---- who chooses the node ---- */

#define SPEC(owner, spec) "{\"metadata\":{\"name\":\"p\"," owner "},\"spec\":{" spec "}}"
#define ON_NODE(operator, values)                                                                  \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\""          \
    operator"\",\"values\":[" values "]}]}]}}}"

static const struct {
    const char *pod;
    bool daemon_set, tied;
    const char *placement; /* why it has its place, without annotations */
} placements[] = {
    {SPEC(OWNER("apps/v1", "DaemonSet", "x"), ""), true, true, "a pod of a DaemonSet"},
    {SPEC(OWNER("extensions/v1beta1", "DaemonSet", "x"), ""), false, false, ""},
    {SPEC(OWNER("apps.kruise.io/v1alpha1", "DaemonSet", "x"), ""), false, false, ""},
    {SPEC(OWNER("apps.kruise.io/v1alpha1", "DaemonSet", "x"), ON_NODE("In", "\"n\"")), false, true,
     "a pod that may use one node only"},
    {SPEC(OWNER("v1", "Node", "n"), ""), false, true, "a mirror pod"},
    {SPEC(OWNER("example.com/v1", "Node", "n"), ""), false, false, ""},
    {SPEC(OWNER("apps/v1", "ReplicaSet", "x"), ON_NODE("NotIn", "\"n\"")), false, false, ""},
    {SPEC(OWNER("apps/v1", "ReplicaSet", "x"), "\"nodeName\":\"n\""), false, false,
     "a pod that is bound already"},
};

static void who_chooses_the_node(void **state) {
    (void)state; /* there is none */
    for (size_t i = 0; i < sizeof placements / sizeof placements[0]; i++) {
        const struct pod pod = pod_of(placements[i].pod);
        assert_int_equal(is_daemon_set(controller_of(&pod.meta).type), placements[i].daemon_set);
        assert_int_equal(pod_is_tied(&pod), placements[i].tied);
        assert_str(pod_fixed_because(&pod, &(struct labels){NULL, 0}), placements[i].placement);
    }
}

static void a_mirror_pod(void **state) {
    const struct label mirror = {STR("kubernetes.io/config.mirror"), STR("")},
                       other = {STR("kubernetes.io/config.hash"), STR("x")};
    (void)state; /* there is none */
    assert_true(pod_is_mirror(&(struct labels){&mirror, 1}));
    assert_false(pod_is_mirror(&(struct labels){&other, 1}));
    assert_false(pod_is_mirror(&(struct labels){NULL, 0}));
}

static void the_scheduler_that_is_meant(void **state) {
    (void)state; /* there is none */
    assert_str(scheduler_of(STR("")), "default-scheduler");
    assert_str(scheduler_of(STR("mine")), "mine");
}

/* ---- kinds of Kubernetes itself ---- */

static void workloads_that_kubernetes_has(void **state) {
    static const struct {
        const char *kind, *group; /* NULL: it has none that is called so */
    } rows[] = {
        {"Deployment", "apps"},        {"StatefulSet", "apps"}, {"ReplicaSet", "apps"},
        {"DaemonSet", "apps"},         {"Job", "batch"},        {"CronJob", "batch"},
        {"ReplicationController", ""}, {"Pod", NULL},           {"Rollout", NULL},
        {"deployment", NULL},          {"Deploymen", NULL},     {"", NULL},
    };
    (void)state; /* there is none */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct str group = STR("untouched");
        assert_int_equal(built_in_workload(str_of(rows[i].kind), &group), rows[i].group != NULL);
        assert_str(group, rows[i].group != NULL ? rows[i].group : "untouched");
    }
}

#define KUBE_SYSTEM(account) "system:serviceaccount:kube-system:" account

/* upstream: cmd/kube-controller-manager/names/controller_names.go, and the clusterroles of
 * plugin/pkg/auth/authorizer/rbac/bootstrappolicy controller_policy.go. */
static void who_creates_pods(void **state) {
    static const struct {
        const char *user, *group, *kind;
        bool expected;
    } rows[] = {
        {KUBE_SYSTEM("daemon-set-controller"), "apps", "DaemonSet", true},
        {KUBE_SYSTEM("job-controller"), "batch", "Job", true},
        {KUBE_SYSTEM("replicaset-controller"), "apps", "ReplicaSet", true},
        {KUBE_SYSTEM("replication-controller"), "", "ReplicationController", true},
        {KUBE_SYSTEM("statefulset-controller"), "apps", "StatefulSet", true},
        {"system:kube-controller-manager", "batch", "Job", true},
        /* another controller's pods, and kinds that none of them creates pods of */
        {KUBE_SYSTEM("job-controller"), "apps", "ReplicaSet", false},
        {KUBE_SYSTEM("statefulset-controller"), "apps.kruise.io", "StatefulSet", false},
        {"system:kube-controller-manager", "apps.kruise.io", "StatefulSet", false},
        {"system:kube-controller-manager", "", "Pod", false},
        /* nearly the account */
        {KUBE_SYSTEM("job-controlle"), "batch", "Job", false},
        {KUBE_SYSTEM("xjob-controller"), "batch", "Job", false},
        {"system:serviceaccount:shop:job-controller", "batch", "Job", false},
        {"job-controller", "batch", "Job", false},
        {"", "batch", "Job", false},
    };
    (void)state; /* there is none */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct object_type owner = {str_of(rows[i].group), str_of(rows[i].kind)};
        assert_int_equal(is_pod_controller(str_of(rows[i].user), owner), rows[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(the_topmost_controller),        DECODING_TEST(minutes_until_tomorrow),
        DECODING_TEST(the_controller_of_a_placement), DECODING_TEST(workloads_that_kubernetes_has),
        DECODING_TEST(who_chooses_the_node),          DECODING_TEST(a_mirror_pod),
        DECODING_TEST(the_scheduler_that_is_meant),   DECODING_TEST(who_creates_pods),
    };
    return cmocka_run_group_tests_name("workloads", tests, NULL, NULL);
}
