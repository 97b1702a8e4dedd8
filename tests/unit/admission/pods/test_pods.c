/* Pods that are being created: what is injected, what is left alone, what goes wrong. */
#include "admission/pods/pods.h"

#include "admission/pods/spread_inject.h"
#include "admission/pods/spread_plan.h"
#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { POLICIES = 32 };

struct fixture {
    struct cluster c;
    struct policy policies[POLICIES];
    struct pod_options options;
    struct review review;
    struct patch patch;
    struct review_answer answer;
    enum admission result;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    cluster_open(&f.c);
    f.options = (struct pod_options){.head.policies = f.policies, .cache = f.c.cache};
    f.review = (struct review){.uid = STR("u"),
                               .resource = STR("pods"),
                               .operation = STR("CREATE"),
                               .namespace = STR("shop")};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

/* `spec` of a policy that is used after those before it. */
static void policy(struct fixture *f, const char *name, const char *spec) {
    struct json_reader r;
    struct strbuf text = {0};
    struct err err;
    assert_in_range(f->options.head.policy_count, 0, POLICIES - 1);
    strbuf_appendf(&text, "{\"metadata\":{\"name\":\"%s\"},\"spec\":%s}", name, spec);
    struct str json = arena_str(&f->c.arena, strbuf_str(&text));
    strbuf_done(&text);
    json_reader_init(&r, json, &f->c.arena, "policy");
    policy_decode(&r, &f->policies[f->options.head.policy_count++]);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
}

static void review(struct fixture *f, const char *pod) {
    f->review.object = arena_str(&f->c.arena, str_of(pod));
    f->result = admit_object(&admitted_pods, &f->options.head, &f->review, &f->c.arena, &f->patch,
                             &f->answer);
    assert_true(f->answer.allowed);
    assert_str(f->answer.uid, "u");
    if (f->result != ADMISSION_PATCHED)
        assert_int_equal(f->patch.count, 0);
}

static void admit(struct fixture *f, const char *pod) {
    review(f, pod);
    assert_int_equal(f->result == ADMISSION_FAILED, f->answer.warning_count > 0);
}

static void is_patched(struct fixture *f, const char *patch) {
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    patch_write(&f->patch, &w);
    assert_str(strbuf_str(&out), patch);
    assert_int_equal(f->result, ADMISSION_PATCHED);
    strbuf_done(&out);
}

static const char *annotation(const struct fixture *f, const char *key) {
    static char text[200];
    text[0] = '\0';
    for (uint32_t i = 0; i < f->answer.annotation_count; i++)
        if (str_eq(f->answer.annotations[i].key, str_of(key)))
            (void)snprintf(text, sizeof text, "%.*s", STR_ARG(f->answer.annotations[i].value));
    return text;
}

/* Admitted again, what came out must stay as it is. */
static void again_changes_nothing(struct fixture *f) {
    char text[4096];
    assert_in_range(f->patch.document.n, 1, sizeof text - 1);
    (void)snprintf(text, sizeof text, "%.*s", (int)f->patch.document.n, f->patch.document.p);
    admit(f, text);
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_str(f->patch.document, text);
}

#define REGION_AND_ZONE                                                                            \
    "{\"pods\":{\"spread\":[{\"topologyKey\":\"region\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}" \
    ","                                                                                            \
    "{\"topologyKey\":\"zone\",\"maxSkew\":2,\"minDomains\":3,\"whenUnsatisfiable\":"              \
    "\"DoNotSchedule\",\"nodeAffinityPolicy\":\"Ignore\",\"nodeTaintsPolicy\":\"Honor\"}]}}"

#define HONOR "\"nodeTaintsPolicy\":\"Honor\"," /* unless the policy says otherwise */
#define GROUP "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}"
#define REGION                                                                                     \
    "{\"maxSkew\":1,\"topologyKey\":\"region\",\"whenUnsatisfiable\":\"ScheduleAnyway\"," HONOR    \
        GROUP
#define ZONE                                                                                       \
    "{\"maxSkew\":2,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","             \
    "\"minDomains\":3,\"nodeAffinityPolicy\":\"Ignore\",\"nodeTaintsPolicy\":\"Honor\"," GROUP
#define WHOLE_LIST "[{\"op\":\"add\",\"path\":\"/spec/topologySpreadConstraints\",\"value\":["
#define APPENDED "{\"op\":\"add\",\"path\":\"/spec/topologySpreadConstraints/-\",\"value\":"
#define WEB "\"metadata\":{\"labels\":{\"app\":\"web\"}},"

static void what_the_policy_asks_for_is_injected(void **state) {
    struct fixture *f = *state;
    static const char *const specs[] = {
        "{}", "{\"topologySpreadConstraints\":[]}", "{\"topologySpreadConstraints\":null}",
        "{\"future\":{\"x\":12345678901234567890},\"containers\":[{}]}"};
    policy(f, "web", REGION_AND_ZONE);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        char pod[300];
        (void)snprintf(pod, sizeof pod, "{" WEB "\"spec\":%s}", specs[i]); /* fits */
        admit(f, pod);
        is_patched(f, WHOLE_LIST REGION "}," ZONE "}]}]");
        assert_string_equal(annotation(f, "policy"), "web");
        assert_string_equal(annotation(f, "spread"), "added: region, zone");
        again_changes_nothing(f);
        assert_string_equal(annotation(f, "spread"), "the pod's own: region, zone");
    }
}

#define EXPLAINED "\"policy: web; spread: added: region, zone\""

/* Only of what was changed, wherever the pod's annotations begin, and once. */
static void a_pod_says_by_what_it_was_changed(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *metadata, *path, *value;
    } cases[] = {
        {"\"labels\":{\"app\":\"web\"}", "/metadata/annotations",
         "{\"pods.evenkeel.io/explained\":" EXPLAINED "}"},
        {"\"labels\":{\"app\":\"web\"},\"annotations\":{\"a~b\":\"c\"}",
         "/metadata/annotations/pods.evenkeel.io~1explained", EXPLAINED},
        {"\"labels\":{\"app\":\"web\"},\"annotations\":{\"pods.evenkeel.io/explained\":\"x\"}",
         "/metadata/annotations/pods.evenkeel.io~1explained", EXPLAINED},
    };
    policy(f, "web", REGION_AND_ZONE);
    f->options.head.annotate = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char pod[300], want[2048];
        (void)snprintf(pod, sizeof pod, "{\"metadata\":{%s},\"spec\":{}}", cases[i].metadata);
        (void)snprintf(want, sizeof want,
                       WHOLE_LIST REGION "}," ZONE "}]},{\"op\":\"add\",\"path\":\"%s\","
                                         "\"value\":%s}]",
                       cases[i].path, cases[i].value);
        admit(f, pod);
        is_patched(f, want);
        again_changes_nothing(f);
    }
    admit(f, "{\"metadata\":{\"labels\":{}},\"spec\":{}}"); /* no group */
    assert_int_equal(f->patch.count, 0);
}

/* Annotations that fill what the API server takes stay what they are. */
static void no_room_to_say_it(void **state) {
    struct fixture *f = *state;
    const size_t total = 256 << 10, own = 26 + sizeof EXPLAINED - 3; /* without its quotes */
    struct strbuf pod = {0};
    policy(f, "web", REGION_AND_ZONE);
    f->options.head.annotate = true;
    for (size_t over = 0; over <= 1; over++) {
        strbuf_clear(&pod);
        strbuf_appendf(&pod,
                       "{\"metadata\":{\"labels\":{\"app\":\"web\"},\"annotations\":{\"k\":\"");
        for (size_t n = total - own - 1 + over; n > 0; n--)
            strbuf_append_char(&pod, 'x');
        strbuf_appendf(&pod, "\"}},\"spec\":{}}");
        strbuf_append_char(&pod, '\0');
        admit(f, pod.p);
        assert_int_equal(f->result, ADMISSION_PATCHED);
        assert_int_equal(f->patch.count, over == 0 ? 2 : 1);
    }
    strbuf_done(&pod);
}

/* A line too long is cut, and not in the middle of a character. */
static void a_long_explanation(void **state) {
    struct fixture *f = *state;
    struct strbuf spec = {0};
    strbuf_appendf(&spec, "{\"pods\":{\"spread\":[");
    for (int i = 0; i < 30; i++)
        strbuf_appendf(&spec,
                       "%s{\"topologyKey\":\"example.com/a-topology-with-a-long-name-%02d\","
                       "\"whenUnsatisfiable\":\"ScheduleAnyway\"}",
                       i > 0 ? "," : "", i);
    strbuf_appendf(&spec, "]}}");
    strbuf_append_char(&spec, '\0');
    policy(f, "web", spec.p);
    f->options.head.annotate = true;
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->patch.count, 2);
    assert_in_range(f->patch.operations[1].value.n, 1024, 1100);
    strbuf_done(&spec);
}

/* Whatever it says, hard or soft. */
static void the_users_own_constraint_wins(void **state) {
    struct fixture *f = *state;
    policy(f, "web", REGION_AND_ZONE);
    admit(f, "{" WEB "\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":9,\"topologyKey\":"
             "\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}");
    is_patched(f, "[" APPENDED REGION "}}]");
    assert_string_equal(annotation(f, "spread"), "added: region; the pod's own: zone");
    again_changes_nothing(f);
    admit(f, "{" WEB "\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":9,\"topologyKey\":"
             "\"rack\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}");
    is_patched(f, "[" APPENDED REGION "}}," APPENDED ZONE "}}]");
    again_changes_nothing(f);
}

/* One key, once hard and once soft, is two constraints to the API server. */
static void a_key_may_be_hard_and_soft(void **state) {
    struct fixture *f = *state;
    policy(f, "both",
           "{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
           "\"ScheduleAnyway\"},"
           "{\"topologyKey\":\"zone\",\"maxSkew\":5,\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}");
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->patch.count, 1);
    again_changes_nothing(f);
}

static void the_group_is_the_pods_labels_and_revisions_are_keys(void **state) {
    struct fixture *f = *state;
    policy(f, "web",
           "{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
           "\"ScheduleAnyway\"}]}}");
    admit(f, "{\"metadata\":{\"labels\":{\"pod-template-hash\":\"5d8f\",\"tier\":\"a\",\"app\":"
             "\"web\",\"controller-revision-hash\":\"x\",\"pod-template-generation\":\"1\","
             "\"rollouts-pod-template-hash\":\"y\",\"statefulset.kubernetes.io/pod-name\":\"w-0\","
             "\"apps.kubernetes.io/pod-index\":\"0\",\"batch.kubernetes.io/job-completion-index\":"
             "\"0\"}},\"spec\":{}}");
    is_patched(
        f, WHOLE_LIST
        "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"," HONOR
        "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\",\"tier\":\"a\"}},"
        "\"matchLabelKeys\":[\"controller-revision-hash\",\"pod-template-hash\","
        "\"rollouts-pod-template-hash\"]}]}]");
    again_changes_nothing(f);
}

/* Operators that name their pods by a label: with it each pod would be a group of its own. */
static void operators_tell_their_pods_apart_too(void **state) {
    struct fixture *f = *state;
    static const char *const keys[] = {"spark-exec-id", "training.kubeflow.org/replica-index",
                                       "strimzi.io/pod-name", "cnpg.io/instanceName"};
    policy(f, "web",
           "{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
           "\"ScheduleAnyway\"}]}}");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"labels\":{\"%s\":\"1\",\"app\":\"web\"}},\"spec\":{}}",
                       keys[i]);
        admit(f, text);
        is_patched(f, WHOLE_LIST "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                                 "\"ScheduleAnyway\"," HONOR "\"labelSelector\":"
                                 "{\"matchLabels\":{\"app\":\"web\"}}}]}]");
    }
}

static void a_pod_without_a_group_is_left_alone(void **state) {
    struct fixture *f = *state;
    policy(f, "web", REGION_AND_ZONE);
    admit(f, "{\"metadata\":{\"labels\":{\"pod-template-hash\":\"x\"}},\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_string_equal(annotation(f, "spread"), "the pod has no labels that would make a group");
    admit(f, "{\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
}

#define OWNER(api, kind, controller)                                                               \
    "{\"metadata\":{\"labels\":{\"app\":\"web\"},\"ownerReferences\":[{\"apiVersion\":\"" api      \
    "\",\"kind\":\"" kind "\",\"name\":\"x\",\"controller\":" controller "}]},\"spec\":{}}"

/* What the DaemonSet controllers of Kubernetes and of OpenKruise write. */
#define ONE_NODE(terms)                                                                            \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[" terms "]}}}"
#define NAMED(op, node)                                                                            \
    "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"" op "\",\"values\":[\"" node     \
    "\"]}]}"
#define IN_ZONE "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"z\"]}]}"

static void pods_whose_place_is_settled_are_left_alone(void **state) {
    struct fixture *f = *state;
    static const char *const cases[][2] = {
        {"{\"metadata\":{\"labels\":{\"app\":\"web\"},\"annotations\":{\"kubernetes.io/"
         "config.mirror\":\"x\"}},\"spec\":{}}",
         "a mirror pod"},
        {OWNER("apps/v1", "DaemonSet", "true"), "a pod of a DaemonSet"},
        {"{" WEB "\"spec\":{\"nodeName\":\"n\"}}", "a pod that is bound already"},
        {"{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{\"app\":"
         "\"web\"}},\"spec\":{}}",
         "a pod that is being deleted"},
        {"{\"metadata\":{\"labels\":{\"app\":\"web\"},\"ownerReferences\":[{\"apiVersion\":"
         "\"apps.kruise.io/v1alpha1\",\"kind\":\"DaemonSet\",\"name\":\"x\",\"controller\":true}]},"
         "\"spec\":{" ONE_NODE(NAMED("In", "n")) "}}",
         "a pod that may use one node only"},
        {"{" WEB "\"spec\":{" ONE_NODE(NAMED("In", "n") "," NAMED("In", "n") ",{}") "}}",
         "a pod that may use one node only"},
        {"{" WEB "\"spec\":{" ONE_NODE(
             "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}],\"matchFields\":[{"
             "\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}") "}}",
         "a pod that may use one node only"},
    };
    static const char *const others[] = {
        OWNER("apps/v1", "ReplicaSet", "true"),
        OWNER("example.com/v1", "DaemonSet", "true"),
        OWNER("apps/v1", "DaemonSet", "false"),
        "{" WEB "\"spec\":{\"nodeName\":\"\"}}",
        "{" WEB "\"spec\":{" ONE_NODE(NAMED("In", "n") "," NAMED("In", "m")) "}}",
        "{" WEB "\"spec\":{" ONE_NODE(NAMED("In", "n") "," IN_ZONE) "}}",
        "{" WEB "\"spec\":{" ONE_NODE(NAMED("NotIn", "n")) "}}",
        "{" WEB "\"spec\":{" ONE_NODE("{}") "}}",
        "{" WEB "\"spec\":{" ONE_NODE("") "}}",
    };
    policy(f, "web", REGION_AND_ZONE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        admit(f, cases[i][0]);
        assert_int_equal(f->result, ADMISSION_UNCHANGED);
        assert_string_equal(annotation(f, "unchanged"), cases[i][1]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        admit(f, others[i]);
        assert_int_equal(f->result, ADMISSION_PATCHED);
    }
}

static void only_creation_of_pods_is_looked_at(void **state) {
    struct fixture *f = *state;
    static const struct review others[] = {
        {.uid = {"u", 1}, .resource = {"pods", 4}, .operation = {"UPDATE", 6}},
        {.uid = {"u", 1}, .resource = {"pods", 4}, .operation = {"DELETE", 6}},
        {.uid = {"u", 1}, .resource = {"jobs", 4}, .operation = {"CREATE", 6}},
        {.uid = {"u", 1},
         .group = {"metrics.k8s.io", 14},
         .resource = {"pods", 4},
         .operation = {"CREATE", 6}},
        {.uid = {"u", 1},
         .resource = {"pods", 4},
         .subresource = {"binding", 7},
         .operation = {"CREATE", 6}},
    };
    policy(f, "web", REGION_AND_ZONE);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        f->review = others[i];
        admit(f, "{" WEB "\"spec\":{}}");
        assert_int_equal(f->result, ADMISSION_UNCHANGED);
        assert_int_equal(f->answer.annotation_count, 0);
    }
}

static void no_policy_no_patch(void **state) {
    struct fixture *f = *state;
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    policy(f, "local", "{\"pods\":{\"locality\":{}}}"); /* asks for no spread */
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_string_equal(annotation(f, "policy"), "local");
}

/* Its labels are the cache's; the namespace is the review's, whatever the object says. */
static void the_namespace_decides(void **state) {
    struct fixture *f = *state;
    static const char pod[] =
        "{\"metadata\":{\"namespace\":\"other\",\"labels\":{\"app\":\"web\"}},\"spec\":{}}";
    policy(f, "named",
           "{\"match\":{\"namespaceSelector\":{\"matchLabels\":{\"kubernetes.io/metadata.name\":"
           "\"bank\"}}},"
           "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
           "\"DoNotSchedule\"}]}}");
    policy(f, "prod",
           "{\"match\":{\"namespaceSelector\":{\"matchLabels\":{\"env\":\"prod\"}}},\"pods\":{"
           "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}");
    admit(f, pod);
    assert_int_equal(f->result, ADMISSION_FAILED);
    assert_str(f->answer.warnings[0], "evenkeel: the pod is unchanged: the labels of namespace "
                                      "'shop' are not known yet");
    cluster_apply_json(&f->c, OBJECT_NAMESPACE, "{\"metadata\":{\"name\":\"shop\"}}");
    admit(f, pod);
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"shop\",\"labels\":{\"env\":\"prod\"}}}");
    admit(f, pod);
    assert_string_equal(annotation(f, "policy"), "prod");
    assert_int_equal(f->result, ADMISSION_PATCHED);
    f->review.namespace = STR("bank"); /* files may leave out the label that every one has */
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"bank\",\"labels\":{\"env\":\"none\"}}}");
    admit(f, pod);
    assert_string_equal(annotation(f, "policy"), "named");
    while (f->options.head.policy_count < POLICIES) /* among many, too */
        policy(f, "other", REGION_AND_ZONE);
    admit(f, pod);
    assert_string_equal(annotation(f, "policy"), "named");
}

#define ONE(key, when)                                                                             \
    "\"spread\":[{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"" when "\"}]"
#define SHOP(labels)                                                                               \
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,                                                    \
                       "{\"metadata\":{\"name\":\"shop\",\"labels\":{" labels "}}}")

static void a_label_of_pod_or_namespace_opts_out(void **state) {
    struct fixture *f = *state;
    policy(f, "web", "{\"pods\":{" ONE("zone", "DoNotSchedule") ",\"locality\":{}}}");
    admit(f, "{\"metadata\":{\"labels\":{\"app\":\"web\",\"evenkeel.io/inject\":\"disabled\"}},"
             "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_string_equal(annotation(f, "policy"), "");
    assert_string_equal(annotation(f, "unchanged"),
                        "a pod with the label evenkeel.io/inject: disabled");
    admit(f, "{\"metadata\":{\"labels\":{\"app\":\"web\",\"evenkeel.io/inject\":\"enabled\"}},"
             "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_PATCHED);
    SHOP("\"evenkeel.io/inject\":\"disabled\"");
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_string_equal(annotation(f, "unchanged"),
                        "a pod of a namespace with the label evenkeel.io/inject: disabled");
    SHOP("\"evenkeel.io/inject\":\"\"");
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_PATCHED);
}

static void pods_of_other_schedulers_are_left_alone(void **state) {
    struct fixture *f = *state;
    policy(f, "default", "{\"pods\":{" ONE("zone", "DoNotSchedule") "}}");
    policy(f, "mine",
           "{\"pods\":{" ONE("zone", "DoNotSchedule") ",\"schedulerNames\":[\"mine\"]}}");
    static const char *const cases[][2] = {{"", "default"},
                                           {"\"schedulerName\":\"default-scheduler\"", "default"},
                                           {"\"schedulerName\":\"mine\"", "mine"},
                                           {"\"schedulerName\":\"volcano\"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char pod[200];
        (void)snprintf(pod, sizeof pod, "{" WEB "\"spec\":{%s}}", cases[i][0]); /* fits */
        admit(f, pod);
        assert_string_equal(annotation(f, "policy"), cases[i][1]);
        assert_int_equal(f->patch.count, cases[i][1][0] != '\0');
    }
}

/* The owner is the controller, and the workload above it: of a ReplicaSet or of a Job. */
static void owners_are_those_that_the_pod_names(void **state) {
    struct fixture *f = *state;
#define FOR(group, kind)                                                                           \
    "{\"match\":{\"ownerKinds\":[{\"group\":\"" group "\",\"kind\":\"" kind                        \
    "\"}]},\"pods\":{" ONE("zone", "DoNotSchedule") "}}"
    policy(f, "deployment", FOR("apps", "Deployment"));
    policy(f, "rollout", FOR("argoproj.io", "Rollout"));
    policy(f, "replicaset", FOR("apps", "ReplicaSet"));
    policy(f, "cronjob", FOR("batch", "CronJob"));
    policy(f, "job", FOR("batch", "Job"));
    policy(f, "bare", FOR("", "Pod"));
    static const char *const cases[][5] = {
        {"apps/v1", "ReplicaSet", "n-x", "pod-template-hash", "deployment"},
        {"apps/v1", "ReplicaSet", "n-x", "rollouts-pod-template-hash", "rollout"},
        {"apps/v1", "ReplicaSet", "n-x", "app", "replicaset"},
        {"apps/v1", "ReplicaSet", "n", "pod-template-hash", "replicaset"},
        {"example.com/v1", "ReplicaSet", "n-x", "pod-template-hash", ""},
        {"batch/v1", "Job", "n", "app", "job"},
        {"batch/v1", "Job", "n-29300000", "app", "cronjob"},
        {"v1", "ReplicationController", "n", "app", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char pod[400];
        (void)snprintf(
            pod, sizeof pod,
            "{\"metadata\":{\"labels\":{\"a\":\"b\",\"%s\":\"x\"},\"ownerReferences\":[{"
            "\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\",\"controller\":true}]},"
            "\"spec\":{}}",
            cases[i][3], cases[i][0], cases[i][1], cases[i][2]); /* fits */
        admit(f, pod);
        assert_string_equal(annotation(f, "policy"), cases[i][4]);
    }
    admit(f, "{" WEB "\"spec\":{}}");
    assert_string_equal(annotation(f, "policy"), "bare");
}

static void parts_of_several_policies(void **state) {
    struct fixture *f = *state;
    policy(f, "team", "{\"pods\":{\"locality\":{\"mode\":\"Disabled\"}}}");
    policy(f, "platform", "{\"pods\":{" ONE("zone", "DoNotSchedule") ",\"locality\":{}}}");
    admit(f, "{" WEB "\"spec\":{}}");
    assert_string_equal(annotation(f, "policy"), "platform, team");
    assert_string_equal(annotation(f, "spread"), "added: zone");
}

static void sync_cache(struct cluster *c, void (*step)(struct cache *cache, uint32_t kinds)) {
    cache_write_begin(c->cache);
    step(c->cache, CACHE_ALL_KINDS);
    cache_write_end(c->cache);
}

/* "zone kubernetes.io/hostname": keys of the pod's constraints. */
static const char *keys(struct fixture *f) {
    static char text[300];
    struct json_reader r;
    struct pod pod;
    json_reader_init(&r, f->patch.document, &f->c.arena, "Pod");
    pod_decode(&r, POD_WHOLE, &pod);
    text[0] = '\0';
    for (uint32_t i = 0; i < pod.constraint_count; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", i > 0 ? " " : "",
                       STR_ARG(pod.constraints[i].topology_key)); /* fits */
    return text;
}

#define HOSTNAME "kubernetes.io/hostname"
#define REAL_ZONE "topology.kubernetes.io/zone"
#define OWN_RACK                                                                                   \
    "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","                      \
    "\"whenUnsatisfiable\":"                                                                       \
    "\"ScheduleAnyway\"}]"

/* upstream: systemDefaultConstraints, for pods that have no constraints. */
static void default_constraints_are_kept(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *nodes, *policy, *spec, *keys;
    } cases[] = {
        {"a,+" HOSTNAME "=a,+" REAL_ZONE "=z", ONE("rack", "ScheduleAnyway"), "",
         "rack " HOSTNAME " " REAL_ZONE},
        {"a,+" HOSTNAME "=a,+" REAL_ZONE "=z", ONE(HOSTNAME, "ScheduleAnyway"), "",
         HOSTNAME " " REAL_ZONE},
        {"a,+" HOSTNAME "=a,+" REAL_ZONE "=z", ONE(REAL_ZONE, "DoNotSchedule"), "",
         REAL_ZONE " " HOSTNAME},
        {"a,+" HOSTNAME "=a,+" REAL_ZONE "=z",
         ONE("rack", "ScheduleAnyway") ",\"replaceDefaults\":true", "", "rack"},
        /* the pod has no defaults to lose */
        {"a,+" HOSTNAME "=a,+" REAL_ZONE "=z", ONE("zone", "ScheduleAnyway"), OWN_RACK,
         "rack zone"},
        /* a node without the key would get no score at all */
        {"a,+" HOSTNAME "=a,+" REAL_ZONE "=z b,+" HOSTNAME "=b", ONE("zone", "ScheduleAnyway"), "",
         "zone " HOSTNAME},
        {"a", ONE("zone", "ScheduleAnyway"), "", "zone " HOSTNAME},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        cluster_close(&f->c);
        cluster_open(&f->c);
        f->options.cache = f->c.cache;
        f->options.head.policy_count = 0;
        sync_cache(&f->c, cache_sync_begin);
        cluster_nodes(&f->c, cases[i].nodes);
        sync_cache(&f->c, cache_sync_end);
        (void)snprintf(text, sizeof text, "{\"pods\":{%s}}", cases[i].policy); /* fits */
        policy(f, "p", text);
        (void)snprintf(text, sizeof text, "{" WEB "\"spec\":{%s}}", cases[i].spec); /* fits */
        admit(f, text);
        assert_string_equal(keys(f), cases[i].keys);
        if (f->patch.count > 0)
            again_changes_nothing(f);
    }
}

/* It says what it would do, and neither the pod nor the answer to its creator is another one. */
static void an_audited_policy_changes_nothing(void **state) {
    struct fixture *f = *state;
    struct spread_tally done = {0}, audited = {0};
    f->options.spread = &done;
    f->options.audited = &audited;
    f->options.head.annotate = true;
    policy(f, "trial", "{\"mode\":\"Audit\",\"pods\":{" ONE("zones", "DoNotSchedule") "}}");
    sync_cache(&f->c, cache_sync_begin);
    cluster_nodes(&f->c, "a");
    sync_cache(&f->c, cache_sync_end);
    admit(f, "{" WEB "\"spec\":{}}");
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_int_equal(f->answer.warning_count, 0);
    assert_string_equal(annotation(f, "policy"), "");
    assert_string_equal(annotation(f, "audit"), "trial: left out (NoNodeHasKey): zones");
    assert_int_equal(audited.fates[SPREAD_NO_NODE_HAS_KEY], 1);
    policy(f, "web", "{\"pods\":{" ONE("zone", "DoNotSchedule") ",\"replaceDefaults\":true}}");
    admit(f, "{" WEB "\"spec\":{}}");
    assert_string_equal(annotation(f, "audit"), "trial: left out (NoNodeHasKey): zones");
    assert_string_equal(annotation(f, "spread"), "added: zone");
    assert_int_equal(f->patch.count, 2);
    assert_str(f->patch.operations[1].value,
               "{\"pods.evenkeel.io/explained\":\"policy: web; spread: added: zone\"}");
    assert_int_equal(done.fates[SPREAD_INJECTED], 1);
    assert_int_equal(done.fates[SPREAD_NO_NODE_HAS_KEY], 0);
}

static void pods_that_cannot_be_read_are_admitted_with_a_warning(void **state) {
    struct fixture *f = *state;
    static const char *const cases[][2] = {
        {"{\"metadata\":[],\"spec\":{}}", "Pod.metadata: expected an object"},
        {"{" WEB "\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":0}]}}",
         "Pod.spec.topologySpreadConstraints[0].maxSkew: 0 is not between"},
        {"{\"metadata\":{\"annotations\":{\"a\":1}},\"spec\":{}}", "Pod.metadata.annotations.a: "},
        /* the API server would not take the selector, nor the pod as it is */
        {"{\"metadata\":{\"labels\":{\"app\":\"not a value\"}},\"spec\":{}}",
         "evenkeel: the pod is unchanged, because the API server would refuse the result: "
         "spec.topologySpreadConstraints[0]: key 'app': 'not a value' is not a label value"},
    };
    policy(f, "web", REGION_AND_ZONE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[600];
        struct spread_tally counts = {0};
        f->options.spread = &counts;
        admit(f, cases[i][0]);
        assert_int_equal(counts.fates[SPREAD_INJECTED], 0);
        assert_int_equal(f->result, ADMISSION_FAILED);
        (void)snprintf(text, sizeof text, "%.*s", STR_ARG(f->answer.warnings[0])); /* fits */
        assert_contains(text, cases[i][1]);
        assert_str(f->patch.document, cases[i][0]);
        assert_string_equal(annotation(f, "spread"), ""); /* which did nothing */
    }
}

/* ---- plugins ---- */

static int add_annotation(const struct admission_question *q, struct patch *patch, struct str value,
                          struct err *err) {
    const struct str path[] = {STR("metadata"), STR("annotations"), STR("x")};
    (void)q;
    return patch_add(patch, path, 3, value, err);
}

static int good_run(const struct admission_question *q, struct patch *patch,
                    struct admission_outcome *ret, struct err *err) {
    ret->note = STR("done");
    return add_annotation(q, patch, STR("\"1\""), err);
}

static int failing_run(const struct admission_question *q, struct patch *patch,
                       struct admission_outcome *ret, struct err *err) {
    ret->note = STR("half done");
    int r = add_annotation(q, patch, STR("\"2\""), err);
    return r != 0 ? r : err_set(err, -EINVAL, "it rains");
}

/* Leaves a pod that cannot be read any more. */
static int spoiling_run(const struct admission_question *q, struct patch *patch,
                        struct admission_outcome *ret, struct err *err) {
    (void)ret;
    return add_annotation(q, patch, STR("[]"), err);
}

static int looking_run(const struct admission_question *q, struct patch *patch,
                       struct admission_outcome *ret, struct err *err) {
    (void)patch, (void)err;
    if (!labels_lookup(&pod_question(q)->details.annotations, STR("x"), &ret->note))
        ret->note = STR("nothing");
    return 0;
}

/* The terms that a plugin puts in place of the pod's. */
static const char *replaced;

static int replacing_run(const struct admission_question *q, struct patch *patch,
                         struct admission_outcome *ret, struct err *err) {
    const struct str path[] = {STR("spec"), STR("affinity"), STR("nodeAffinity"),
                               STR("requiredDuringSchedulingIgnoredDuringExecution")};
    (void)q;
    ret->note = STR("replaced");
    return patch_add(patch, path, 4, str_of(replaced), err);
}

static const struct admission_plugin replacing = {.name = "replacing", .run = replacing_run};

static const struct admission_plugin good = {.name = "good", .run = good_run},
                                     failing = {.name = "failing", .run = failing_run},
                                     spoiling = {.name = "spoiling", .run = spoiling_run},
                                     looking = {.name = "looking", .run = looking_run};

static void plugins_see_what_those_before_them_did(void **state) {
    struct fixture *f = *state;
    static const struct admission_plugin *const plugins[] = {&good, &looking};
    f->options.head.plugins = plugins;
    f->options.head.plugin_count = 2;
    admit(f, "{" WEB "\"spec\":{}}");
    assert_string_equal(annotation(f, "good"), "done");
    assert_string_equal(annotation(f, "looking"), "1");
    assert_int_equal(f->result, ADMISSION_PATCHED);
}

static void what_a_failed_plugin_did_is_taken_back(void **state) {
    struct fixture *f = *state;
    static const struct admission_plugin *const plugins[] = {&failing, &spoiling, &looking};
    f->options.head.plugins = plugins;
    f->options.head.plugin_count = 3;
    admit(f, "{" WEB "\"spec\":{}}");
    assert_str(f->answer.warnings[0], "evenkeel: failing: it rains");
    assert_int_equal(f->answer.warning_count, 2);
    assert_string_equal(annotation(f, "failing"), "");
    assert_string_equal(annotation(f, "looking"), "nothing");
    assert_str(f->patch.document, "{" WEB "\"spec\":{}}");
}

#define REQUIRES(expressions) "{\"nodeSelectorTerms\":[{\"matchExpressions\":[" expressions "]}]}"
#define HAS(key) "{\"key\":\"" key "\",\"operator\":\"Exists\"}"
#define POD_THAT_REQUIRES(expressions)                                                             \
    "{" WEB "\"spec\":{\"affinity\":{\"nodeAffinity\":{"                                           \
    "\"requiredDuringSchedulingIgnoredDuringExecution\":" REQUIRES(expressions) "}}}}"

/* Whatever a plugin does. */
static void a_required_term_is_never_widened(void **state) {
    struct fixture *f = *state;
    static const struct admission_plugin *const plugins[] = {&good, &replacing};
    struct pod_data data = {.options = {.compat = FLUID_HEAD}};
    f->options.head.plugins = plugins;
    f->options.head.plugin_count = 2;
    replaced = REQUIRES(HAS("b") "," HAS("a"));
    admit(f, POD_THAT_REQUIRES(HAS("a")));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    replaced = REQUIRES(HAS("b"));
    admit(f, POD_THAT_REQUIRES(HAS("a")));
    assert_int_equal(f->result, ADMISSION_FAILED);
    assert_str(f->answer.warnings[0],
               "evenkeel: the pod is unchanged: its required node affinity would be widened");
    assert_str(f->patch.document, POD_THAT_REQUIRES(HAS("a")));
    assert_int_equal(f->answer.annotation_count, 0);
    replaced = REQUIRES(HAS("a") "," HAS("no key"));
    admit(f, POD_THAT_REQUIRES(HAS("a")));
    assert_str(f->answer.warnings[0],
               "evenkeel: the pod is unchanged: its required node affinity would not be valid");
    admit(f, POD_THAT_REQUIRES(HAS("a") "," HAS("no key"))); /* as it came */
    assert_int_equal(f->result, ADMISSION_PATCHED);
    replaced = REQUIRES(HAS("b"));
    f->options.data = &data;
    admit(f, POD_THAT_REQUIRES(HAS("a"))); /* as Fluid may */
    assert_int_equal(f->result, ADMISSION_PATCHED);
    data.options.compat = FLUID_LEGACY;
    admit(f, POD_THAT_REQUIRES(HAS("a")));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    data.options.compat = FLUID_CORRECT; /* Evenkeel's own mode may not */
    admit(f, POD_THAT_REQUIRES(HAS("a")));
    assert_int_equal(f->result, ADMISSION_FAILED);
}

static void memory_that_runs_out_leaves_the_pod_as_it_is(void **state) {
    struct fixture *f = *state;
    static const char pod[] = "{" WEB "\"spec\":{}}";
    uint32_t failed = 0;
    policy(f, "web", REGION_AND_ZONE);
    f->review.object = str_of(pod);
    for (size_t bytes = 1; bytes < 64u << 10; bytes += 512) {
        struct arena small;
        arena_init(&small, bytes);
        enum admission result = admit_object(&admitted_pods, &f->options.head, &f->review, &small,
                                             &f->patch, &f->answer);
        failed += result == ADMISSION_FAILED;
        assert_true(f->answer.allowed);
        if (result == ADMISSION_FAILED) {
            assert_int_equal(f->patch.count, 0);
            assert_true(f->answer.warning_count > 0);
        } else {
            assert_int_equal(f->patch.count, 1);
        }
        arena_done(&small);
    }
    assert_true(failed > 0);
}

/* ---- reinvocation ---- */

#define OURS(version)                                                                              \
    "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","             \
    "\"minDomains\":3," HONOR                                                                      \
    "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\",\"version\":\"" version "\"}}}"
#define MANAGED(fields)                                                                            \
    "\"managedFields\":[{\"manager\":\"kubectl\",\"fieldsV1\":{\"f:metadata\":{},\"f:spec\":{"     \
    "\"f:containers\":{}" fields "}}}]"
#define WROTE(key)                                                                                 \
    ",\"f:topologySpreadConstraints\":{\".\":{},\"k:{\\\"topologyKey\\\":\\\"" key                 \
    "\\\",\\\"whenUnsatisfiable\\\":\\\"DoNotSchedule\\\"}\":{\".\":{}}}"
#define RELABELLED(managed, constraint)                                                            \
    "{\"metadata\":{\"labels\":{\"app\":\"web\",\"version\":\"1.2.3\"}," managed                   \
    "},\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":2,\"topologyKey\":\"rack\","          \
    "\"whenUnsatisfiable\":\"DoNotSchedule\"}," constraint "]}}"

static const char zone_of_three[] =
    "{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
    "\"minDomains\":3}]}}";

/* Another webhook has changed a label since: DataDog's does. */
static void our_own_constraint_follows_labels(void **state) {
    struct fixture *f = *state;
    policy(f, "web", zone_of_three);
    admit(f, RELABELLED(MANAGED(WROTE("rack")), OURS("unset")));
    is_patched(
        f, "[{\"op\":\"replace\",\"path\":\"/spec/topologySpreadConstraints/1\",\"value\":" OURS(
               "1.2.3") "}]");
    assert_string_equal(annotation(f, "spread"), "made again (LabelsChanged): zone");
    again_changes_nothing(f);
    admit(f, RELABELLED(MANAGED(""), OURS("1.2.3")));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
}

#define ON_ZONE(when, more)                                                                        \
    "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"" when "\"," more HONOR       \
    "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}"
#define TOGETHER                                                                                   \
    ",\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"        \
    "\"topologyKey\":\"zone\",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}]}}"
#define RETERMED(managed, annotations, constraint, terms)                                          \
    "{\"metadata\":{\"labels\":{\"app\":\"web\"," LEADER "}," managed "," annotations              \
    "},\"spec\":{\"topologySpreadConstraints\":[" constraint "]" terms "}}"
#define LEADER                                                                                     \
    "\"jobset.sigs.k8s.io/jobset-name\":\"t\",\"batch.kubernetes.io/job-completion-index\":\"0\""
#define EXCLUSIVE "\"annotations\":{\"alpha.jobset.sigs.k8s.io/exclusive-topology\":\"rack\"}"
#define NOTHING "\"annotations\":{}"

/* Operators write podAffinity into their pods, perhaps after this webhook was asked: "evenkeel"
 * comes before "jobset-mutating-webhook-configuration". */
static void our_own_constraint_gives_way_to_terms(void **state) {
    struct fixture *f = *state;
    policy(f, "web", zone_of_three);
    review(f,
           RETERMED(MANAGED(""), NOTHING, ON_ZONE("DoNotSchedule", "\"minDomains\":3,"), TOGETHER));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    assert_int_equal(f->answer.warning_count, 1);
    assert_string_equal(annotation(f, "spread"), "made a preference (TermsChanged): zone");
    assert_contains(arena_cstr(&f->c.arena, f->patch.document), "\"ScheduleAnyway\"");
    assert_null(strstr(arena_cstr(&f->c.arena, f->patch.document), "\"DoNotSchedule\""));
    again_changes_nothing(f);
    review(f, RETERMED(MANAGED(""), EXCLUSIVE, ON_ZONE("DoNotSchedule", "\"minDomains\":3,"), ""));
    assert_int_equal(f->answer.warning_count, 1);
    assert_string_equal(annotation(f, "spread"), "added as a preference (UnitTogether): zone");
    again_changes_nothing(f);
    /* the user's own, one without reason, and one that is a preference already */
    admit(f, RETERMED(MANAGED(WROTE("zone")), NOTHING,
                      ON_ZONE("DoNotSchedule", "\"minDomains\":3,"), TOGETHER));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, RETERMED(MANAGED(""), NOTHING, ON_ZONE("DoNotSchedule", "\"minDomains\":3,"), ""));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, RETERMED(MANAGED(""), NOTHING, ON_ZONE("ScheduleAnyway", ""), TOGETHER));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, RETERMED(MANAGED(""), NOTHING, ON_ZONE("ScheduleAnyway", ""), ""));
    assert_int_equal(f->result, ADMISSION_UNCHANGED); /* never harder */
}

static void what_may_be_the_users_is_not_made_again(void **state) {
    struct fixture *f = *state;
    static const char *const pods[] = {
        RELABELLED(MANAGED(WROTE("zone")), OURS("unset")),
        RELABELLED(MANAGED(",\"f:topologySpreadConstraints\":{\"v:x\":{}}"), OURS("unset")),
        RELABELLED(MANAGED(",\"f:topologySpreadConstraints\":{\"k:{\":{}}"), OURS("unset")),
        RELABELLED("\"managedFields\":[]", OURS("unset")),
        RELABELLED("\"uid\":\"u\"", OURS("unset")),
        /* not what this policy asks for */
        RELABELLED(MANAGED(""), "{\"maxSkew\":2,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                                "\"DoNotSchedule\"," HONOR
                                "\"labelSelector\":{\"matchLabels\":{\"app\":\"db\"}}}"),
        RELABELLED(MANAGED(""), "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                                "\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":"
                                "\"db\"}}}"),
        RELABELLED(MANAGED(""), OURS("unset") ",{\"maxSkew\":1,\"topologyKey\":\"zone\","
                                              "\"whenUnsatisfiable\":\"ScheduleAnyway\"}"),
    };
    policy(f, "web", zone_of_three);
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        admit(f, pods[i]);
        if (f->result != ADMISSION_UNCHANGED)
            fail_msg("%zu: %.*s", i, STR_ARG(f->patch.document));
    }
}

/* ---- spread_check ---- */

static struct pod pod_with(struct fixture *f, const char *constraints) {
    struct strbuf text = {0};
    struct json_reader r;
    struct pod pod;
    struct err err;
    strbuf_appendf(&text, "{\"spec\":{\"topologySpreadConstraints\":[%s]}}", constraints);
    json_reader_init(&r, arena_str(&f->c.arena, strbuf_str(&text)), &f->c.arena, "pod");
    strbuf_done(&text);
    pod_decode(&r, POD_WHOLE, &pod);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    return pod;
}

#define SOFT(key)                                                                                  \
    "{\"maxSkew\":1,\"whenUnsatisfiable\":\"ScheduleAnyway\",\"topologyKey\":\"" key "\""
#define HARD(key)                                                                                  \
    "{\"maxSkew\":1,\"whenUnsatisfiable\":\"DoNotSchedule\",\"topologyKey\":\"" key "\""

static void what_the_api_server_would_refuse(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *constraints;
        uint32_t first;
        const char *why; /* NULL: fine */
    } cases[] = {
        {SOFT("a") "}," HARD("a") "}", 0, NULL},
        {SOFT("a") "}," SOFT("a") "}", 2, NULL}, /* not our doing */
        {SOFT("a") "}," SOFT("a") "}", 1, "[1]: the pair of topologyKey and whenUnsatisfiable"},
        {SOFT("b") "}," SOFT("a") "}," SOFT("c") "}," SOFT("b") "}," SOFT("b") "}", 2, "[3]: the"},
        {SOFT("b") "}," SOFT("a") "}," SOFT("b") "}," SOFT("c") "}," HARD("b") "}", 3, NULL},
        {SOFT("a") ",\"labelSelector\":{},\"matchLabelKeys\":[\"k\"]}", 0, NULL},
        {SOFT("a") ",\"matchLabelKeys\":[\"k\"]}", 0, "[0]: matchLabelKeys without a labelSel"},
        {SOFT("a") ",\"labelSelector\":{},\"matchLabelKeys\":[\"k k\"]}", 0, "'k k' is not a"},
        {SOFT("a") ",\"labelSelector\":{\"matchLabels\":{\"k\":\"v\"}},\"matchLabelKeys\":[\"k\"]}",
         0, "'k' is in labelSelector and in matchLabelKeys"},
        {SOFT("a") ",\"labelSelector\":{\"matchLabels\":{\"k/\":\"v\"}}}", 0, "'k/' is not a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pod pod = pod_with(f, cases[i].constraints);
        struct err err = {0};
        int r = spread_check(&pod, cases[i].first, &f->c.arena, &err);
        assert_int_equal(r, cases[i].why == NULL ? 0 : -EINVAL);
        assert_contains(err.text, cases[i].why != NULL ? cases[i].why : "");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_the_policy_asks_for_is_injected),
        TEST(a_pod_says_by_what_it_was_changed),
        TEST(no_room_to_say_it),
        TEST(a_long_explanation),
        TEST(the_users_own_constraint_wins),
        TEST(a_key_may_be_hard_and_soft),
        TEST(the_group_is_the_pods_labels_and_revisions_are_keys),
        TEST(operators_tell_their_pods_apart_too),
        TEST(a_pod_without_a_group_is_left_alone),
        TEST(pods_whose_place_is_settled_are_left_alone),
        TEST(only_creation_of_pods_is_looked_at),
        TEST(no_policy_no_patch),
        TEST(the_namespace_decides),
        TEST(a_label_of_pod_or_namespace_opts_out),
        TEST(pods_of_other_schedulers_are_left_alone),
        TEST(owners_are_those_that_the_pod_names),
        TEST(parts_of_several_policies),
        TEST(default_constraints_are_kept),
        TEST(an_audited_policy_changes_nothing),
        TEST(pods_that_cannot_be_read_are_admitted_with_a_warning),
        TEST(plugins_see_what_those_before_them_did),
        TEST(what_a_failed_plugin_did_is_taken_back),
        TEST(a_required_term_is_never_widened),
        TEST(memory_that_runs_out_leaves_the_pod_as_it_is),
        TEST(our_own_constraint_follows_labels),
        TEST(our_own_constraint_gives_way_to_terms),
        TEST(what_may_be_the_users_is_not_made_again),
        TEST(what_the_api_server_would_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
