/*
 * The table of watched kinds, against what Kubernetes' and Fluid's APIs and users' files say: paths
 * as `kubectl get --raw` takes them, and the rights of docs/examples/kubernetes.
 */
#include "model/kinds.h"

#include "base/file.h"
#include "base/limits.h"
#include "data/fluid/doc.h"
#include "unit/unit.h"
#include "yaml/manifests.h"

#include <stdio.h>

/* ---- paths ---- */

static const struct {
    const char *api, *kind, *path, *name;
} upstream[] = {
    {"v1", "Node", "/api/v1/nodes", "nodes"},
    {"v1", "Pod", "/api/v1/pods", "pods"},
    {"v1", "Namespace", "/api/v1/namespaces", "namespaces"},
    {"v1", "Service", "/api/v1/services", "services"},
    {"v1", "ReplicationController", "/api/v1/replicationcontrollers", "replicationcontrollers"},
    {"v1", "PersistentVolumeClaim", "/api/v1/persistentvolumeclaims", "persistentvolumeclaims"},
    {"apps/v1", "ReplicaSet", "/apis/apps/v1/replicasets", "replicasets"},
    {"apps/v1", "StatefulSet", "/apis/apps/v1/statefulsets", "statefulsets"},
    {"apps/v1", "StatefulSet", "/apis/apps/v1/statefulsets", "runtime workers"},
    {"v1", "Pod", "/api/v1/pods", "worker pods"},
    {"evenkeel.io/v1alpha1", "TopologyPolicy", "/apis/evenkeel.io/v1alpha1/topologypolicies",
     "topologypolicies"},
#define FLUID(kind, resource)                                                                      \
    { "data.fluid.io/v1alpha1", kind, "/apis/data.fluid.io/v1alpha1/" resource, resource }
    FLUID("Dataset", "datasets"),
    {"cluster.open-cluster-management.io/v1", "ManagedCluster",
     "/apis/cluster.open-cluster-management.io/v1/managedclusters", "managedclusters"},
#define OCM(version, kind, resource)                                                               \
    {                                                                                              \
        "cluster.open-cluster-management.io/" version, kind,                                       \
            "/apis/cluster.open-cluster-management.io/" version "/" resource, resource             \
    }
    OCM("v1beta2", "ManagedClusterSet", "managedclustersets"),
    OCM("v1beta2", "ManagedClusterSetBinding", "managedclustersetbindings"),
    OCM("v1beta1", "Placement", "placements"),
    OCM("v1beta1", "PlacementDecision", "placementdecisions"),
    OCM("v1alpha1", "AddOnPlacementScore", "addonplacementscores"),
    {"v1", "Namespace", "/api/v1/namespaces", "hub namespaces"},
    {"evenkeel.io/v1alpha1", "TopologyPolicy", "/apis/evenkeel.io/v1alpha1/topologypolicies",
     "hub policies"},
    {"apps/v1", "Deployment", "/apis/apps/v1/deployments", "deployments"},
    {"v1", "ResourceQuota", "/api/v1/resourcequotas", "resourcequotas"},
    {"cluster.karmada.io/v1alpha1", "Cluster", "/apis/cluster.karmada.io/v1alpha1/clusters",
     "member clusters"},
    {"v1", "PersistentVolume", "/api/v1/persistentvolumes", "persistentvolumes"},
    {"v1", "PersistentVolumeClaim", "/api/v1/persistentvolumeclaims", "bound claims"},
    {"storage.k8s.io/v1", "StorageClass", "/apis/storage.k8s.io/v1/storageclasses",
     "storageclasses"},
    FLUID("AlluxioRuntime", "alluxioruntimes"),
    FLUID("CacheRuntime", "cacheruntimes"),
    FLUID("EFCRuntime", "efcruntimes"),
    FLUID("JindoRuntime", "jindoruntimes"),
    FLUID("JuiceFSRuntime", "juicefsruntimes"),
    FLUID("ThinRuntime", "thinruntimes"),
    FLUID("VineyardRuntime", "vineyardruntimes"),
};
enum { UPSTREAM = sizeof upstream / sizeof upstream[0] };

static const struct watched_kind *row_named(const char *name) {
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (strcmp(kind_name(&watched_kinds[i]), name) == 0)
            return &watched_kinds[i];
    fail_msg("no kind is watched as '%s'", name);
    return NULL;
}

/* Kubernetes supports 5,000 nodes, 10,000 namespaces and Services, and 150,000 pods: a list may
 * have some times as much. upstream: community sig-scalability/configs-and-limits/thresholds.md */
static void lists_may_be_as_long(void **state) {
    static const char *const few[] = {"nodes",          "namespaces",     "replicationcontrollers",
                                      "services",       "statefulsets",   "managedclusters",
                                      "hub namespaces", "resourcequotas", "member clusters"};
    (void)state;
    for (size_t i = 0; i < KIND_ROWS; i++) {
        uint32_t want = 0; /* LIMIT_LISTED */
        for (size_t j = 0; j < sizeof few / sizeof few[0]; j++)
            if (strcmp(kind_name(&watched_kinds[i]), few[j]) == 0)
                want = 100000;
        assert_int_equal(watched_kinds[i].most, want);
    }
    assert_in_range(LIMIT_LISTED, 3 * 150000, 4 * 150000);
}

static bool is_of_karmada(const struct watched_kind *kind) {
    return strcmp(kind_name(kind), "member clusters") == 0;
}

/* The API server of the cluster or the hub is not asked for these, but those of member clusters. */
static bool is_of_members(const struct watched_kind *kind) {
    return strcmp(kind->kind, "Deployment") == 0 || strcmp(kind->kind, "ResourceQuota") == 0;
}

static void members_have_kinds_of_their_own(void **state) {
    (void)state;
    for (size_t i = 0; i < KIND_ROWS; i++) {
        assert_int_equal(watched_kinds[i].need == KIND_OF_MEMBERS,
                         is_of_members(&watched_kinds[i]));
        if (is_of_members(&watched_kinds[i]))
            assert_null(watched_kinds[i].permissions[0].verbs);
    }
}

static void paths_are_the_api_servers(void **state) {
    (void)state;
    assert_int_equal(KIND_ROWS, UPSTREAM);
    for (size_t i = 0; i < UPSTREAM; i++) {
        const struct watched_kind *row = row_named(upstream[i].name);
        char path[KIND_PATH_SIZE];
        kind_path(row, path);
        assert_string_equal(path, upstream[i].path);
        assert_string_equal(row->kind, upstream[i].kind);
        assert_str(api_group(str_of(upstream[i].api)), row->group);
    }
}

static void paths_of_one_object(void **state) {
    (void)state;
    static const struct {
        const char *resource, *scope, *name, *path;
    } cases[] = {
        {"pods", "shop", "web-0", "/api/v1/namespaces/shop/pods/web-0"},
        {"statefulsets", "shop", "web", "/apis/apps/v1/namespaces/shop/statefulsets/web"},
        {"datasets", "n", "d", "/apis/data.fluid.io/v1alpha1/namespaces/n/datasets/d"},
        {"nodes", NULL, "a", "/api/v1/nodes/a"},
        {"topologypolicies", NULL, "p", "/apis/evenkeel.io/v1alpha1/topologypolicies/p"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf path = {0};
        kind_object_path(row_named(cases[i].resource), cases[i].scope, cases[i].name, &path);
        assert_str(strbuf_str(&path), cases[i].path);
    }
}

/* Only pods are asked for with a query: the one that kube-scheduler's informer uses (upstream:
 * pkg/scheduler/scheduler.go, newPodInformer), escaped. */
static void queries(void **state) {
    (void)state;
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (strcmp(watched_kinds[i].resource, "pods") != 0)
            assert_null(watched_kinds[i].query);
    assert_string_equal(row_named("pods")->query,
                        "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed");
}

/* Metrics with the same name and label would be one series twice. */
static void names_differ(void **state) {
    (void)state;
    for (size_t i = 0; i < KIND_ROWS; i++)
        assert_ptr_equal(row_named(kind_name(&watched_kinds[i])), &watched_kinds[i]);
}

static void each_kind_of_the_cache_has_a_row(void **state) {
    (void)state;
    static const char *const names[] = {
        [OBJECT_NODE] = "Node",
        [OBJECT_POD] = "Pod",
        [OBJECT_NAMESPACE] = "Namespace",
        [OBJECT_SERVICE] = "Service",
        [OBJECT_REPLICATION_CONTROLLER] = "ReplicationController",
        [OBJECT_REPLICA_SET] = "ReplicaSet",
        [OBJECT_STATEFUL_SET] = "StatefulSet",
    };
    for (size_t k = OBJECT_NODE; k < OBJECT_KINDS; k++)
        assert_string_equal(object_kind_row((enum object_kind)k)->kind, names[k]);
}

/* ---- rights that users are shown ---- */

static bool has(const cJSON *array, const char *word) {
    const cJSON *item;
    cJSON_ArrayForEach(item, array) {
        if (strcmp(cJSON_GetStringValue(item), word) == 0)
            return true;
    }
    return false;
}

/* All rules of the file's ClusterRoles. */
static cJSON *rules_of(const char *path) {
    struct manifests files = {0};
    struct err err;
    cJSON *rules = cJSON_CreateArray();
    if (manifests_list(&path, 1, "example", &files, &err) != 0 ||
        manifests_read(&files, LIMIT_CONFIG_BYTES, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    for (size_t d = 0; d < files.items[0].document_count; d++) {
        struct str text = files.items[0].documents[d];
        cJSON *doc = cJSON_ParseWithLength(text.p, text.n);
        assert_non_null(doc);
        while (cJSON_GetArraySize(cJSON_GetObjectItem(doc, "rules")) > 0)
            assert_true(cJSON_AddItemToArray(
                rules, cJSON_DetachItemFromArray(cJSON_GetObjectItem(doc, "rules"), 0)));
        cJSON_Delete(doc);
    }
    manifests_done(&files);
    return rules;
}

static bool grants(const cJSON *rules, const struct watched_kind *kind, const char *verb) {
    const cJSON *rule;
    cJSON_ArrayForEach(rule, rules) {
        if (has(cJSON_GetObjectItem(rule, "apiGroups"), kind->group) &&
            has(cJSON_GetObjectItem(rule, "resources"), kind->resource) &&
            has(cJSON_GetObjectItem(rule, "verbs"), verb))
            return true;
    }
    return false;
}

static bool is_watched(const char *group, const char *resource) {
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (!is_of_members(&watched_kinds[i]) && strcmp(watched_kinds[i].group, group) == 0 &&
            strcmp(watched_kinds[i].resource, resource) == 0)
            return true;
    return false;
}

/* Each is for what one setting needs at one server. */
enum example { FOR_PODS, FOR_FLEETS, FOR_OCM, FOR_KARMADA, EXAMPLES };
static const char *const examples[EXAMPLES] = {
    [FOR_PODS] = "docs/examples/kubernetes/rbac.yaml",
    [FOR_FLEETS] = "docs/examples/kubernetes/rbac-hub.yaml",
    [FOR_OCM] = "docs/examples/kubernetes/rbac-ocm.yaml",
    [FOR_KARMADA] = "docs/examples/kubernetes/rbac-karmada.yaml",
};

static bool is_of_hub(const struct watched_kind *kind) {
    return strstr(kind->group, "open-cluster-management.io") != NULL ||
           strstr(kind_name(kind), "hub ") == kind_name(kind);
}

static enum example example_of(const struct watched_kind *kind) {
    return is_of_karmada(kind)                         ? FOR_KARMADA
           : !is_of_hub(kind)                          ? FOR_PODS
           : strcmp(kind->kind, "ManagedCluster") == 0 ? FOR_FLEETS
                                                       : FOR_OCM;
}

/* What a fleet defines is at its hub, with policies and namespaces once more, and nothing else is.
 * Members are Karmada's. */
static void kinds_of_the_hub(void **state) {
    (void)state;
    for (size_t i = 0; i < KIND_ROWS; i++)
        assert_int_equal(watched_kinds[i].server, is_of_karmada(&watched_kinds[i]) ? SERVER_KARMADA
                                                  : is_of_hub(&watched_kinds[i])   ? SERVER_HUB
                                                                                 : SERVER_CLUSTER);
}

/* Does the example grant it for another row of the same objects? */
static bool has_twin(const struct watched_kind *kind, enum example e) {
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (example_of(&watched_kinds[i]) == e && !is_of_members(&watched_kinds[i]) &&
            strcmp(watched_kinds[i].group, kind->group) == 0 &&
            strcmp(watched_kinds[i].resource, kind->resource) == 0)
            return true;
    return false;
}

static void the_example_grants_what_is_watched(void **state) {
    (void)state;
    for (enum example e = 0; e < EXAMPLES; e++) {
        CLEANUP(doc_free) cJSON *rules = rules_of(examples[e]);
        for (size_t i = 0; i < KIND_ROWS; i++) {
            const struct watched_kind *kind = &watched_kinds[i];
            const bool list = grants(rules, kind, "list"), watch = grants(rules, kind, "watch");
            if (has_twin(kind, e) ? !list || !watch : list || watch)
                fail_msg("%s in %s: list %d, watch %d", kind->resource, examples[e], list, watch);
        }
    }
}

/* `check cluster` must find nothing to complain of where the example was applied. */
static void the_example_grants_what_is_checked(void **state) {
    (void)state;
    static const char *const verbs[] = {"get", "list", "watch"};
    for (size_t i = 0; i < KIND_ROWS; i++) {
        CLEANUP(doc_free) cJSON *rules = rules_of(examples[example_of(&watched_kinds[i])]);
        for (size_t p = 0; p < KIND_PERMISSIONS; p++)
            for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
                const char *wanted = watched_kinds[i].permissions[p].verbs;
                if (wanted != NULL && strstr(wanted, verbs[v]) != NULL &&
                    !grants(rules, &watched_kinds[i], verbs[v]))
                    fail_msg("%s: not %s", watched_kinds[i].resource, verbs[v]);
            }
    }
}

static void grants_nothing_else_to_watch(const char *example) {
    CLEANUP(doc_free) cJSON *rules = rules_of(example);
    const cJSON *rule, *resource;
    int watched = 0;
    cJSON_ArrayForEach(rule, rules) {
        const cJSON *verbs = cJSON_GetObjectItem(rule, "verbs");
        if (!has(verbs, "list") && !has(verbs, "watch"))
            continue;
        const cJSON *groups = cJSON_GetObjectItem(rule, "apiGroups");
        assert_int_equal(cJSON_GetArraySize(groups), 1);
        cJSON_ArrayForEach(resource, cJSON_GetObjectItem(rule, "resources")) {
            const char *group = cJSON_GetStringValue(cJSON_GetArrayItem(groups, 0));
            if (!is_watched(group, cJSON_GetStringValue(resource)))
                fail_msg("nobody watches %s", cJSON_GetStringValue(resource));
            watched++;
        }
    }
    assert_true(watched > 0);
}

static void the_example_grants_nothing_else_to_watch(void **state) {
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++)
        grants_nothing_else_to_watch(examples[i]);
}

/* ---- docs ---- */

static void metrics_are_documented(void **state) {
    (void)state;
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    struct err err;
    if (file_read("docs/metrics.md", LIMIT_CONFIG_BYTES, &text, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    strbuf_append_char(&text, '\0');
    for (size_t i = 0; i < KIND_ROWS; i++) {
        char quoted[64];
        if (is_of_members(&watched_kinds[i]))
            continue;
        (void)snprintf(quoted, sizeof quoted, "`%s`", kind_name(&watched_kinds[i])); /* fits */
        assert_contains(text.p, quoted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_the_api_servers),
        cmocka_unit_test(members_have_kinds_of_their_own),
        cmocka_unit_test(lists_may_be_as_long),
        cmocka_unit_test(paths_of_one_object),
        cmocka_unit_test(queries),
        cmocka_unit_test(names_differ),
        cmocka_unit_test(each_kind_of_the_cache_has_a_row),
        cmocka_unit_test(kinds_of_the_hub),
        cmocka_unit_test(the_example_grants_what_is_watched),
        cmocka_unit_test(the_example_grants_what_is_checked),
        cmocka_unit_test(the_example_grants_nothing_else_to_watch),
        cmocka_unit_test(metrics_are_documented),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
