/* The selector of default constraints: what Services and a pod's controller select. */
#include "unit/cache/probe.h"

#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

/* A workload of namespace "default" with this selector. */
static struct object workload(struct cluster *c, enum object_kind kind, const char *name,
                              const char *selector) {
    char json[512];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\"},"
                   "\"spec\":{\"selector\":%s}}",
                   name, selector); /* fits: the test's own words */
    return cluster_object(c, kind, json);
}

static void apply(struct cluster *c, enum object_kind kind, const char *name,
                  const char *selector) {
    struct object object = workload(c, kind, name, selector);
    cluster_apply(c, &object);
}

/* A pod with the label app=web and a controller, "" for none. */
static struct object_meta pod_of(struct cluster *c, const char *api, const char *kind,
                                 const char *name) {
    char json[512];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\"},"
                   "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"apiVersion\":\"apps/v1\","
                   "\"name\":\"not-the-controller\",\"controller\":false},"
                   "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\",\"controller\":true}]}}",
                   api, kind, name); /* fits */
    return cluster_object(c, OBJECT_POD, json).meta;
}

static struct object_meta plain_pod(struct cluster *c) {
    return cluster_object(c, OBJECT_POD, "{\"metadata\":{\"labels\":{\"app\":\"web\"}}}").meta;
}

/* The default selector must be what this LabelSelector compiles to. */
static void check(struct cluster *c, const struct object_meta *pod, const char *want) {
    struct selector selector, wanted = cluster_selector(c, want);
    struct cache_view view;
    struct err err;
    struct strbuf got_key = {0}, want_key = {0};
    cache_view_open(c->cache, &view);
    if (cache_default_selector(&view, pod, &c->arena, &selector, &err) != 0)
        fail_msg("%s", err.text);
    cache_view_close(&view);
    assert_false(selector.nothing);
    selector_key(&selector, &got_key);
    selector_key(&wanted, &want_key);
    bool same = str_eq(strbuf_str(&got_key), strbuf_str(&want_key));
    strbuf_done(&got_key);
    strbuf_done(&want_key);
    assert_true(same);
}

static void without_workloads_nothing_is_required(void **state) {
    struct cluster *c = *state;
    struct object_meta pod = plain_pod(c);
    check(c, &pod, "{}");
    cluster_apply_json(c, OBJECT_NAMESPACE, "{\"metadata\":{\"name\":\"default\"}}");
    check(c, &pod, "{}");
}

static void services_that_select_the_pod_are_merged(void **state) {
    struct cluster *c = *state;
    struct object_meta pod = cluster_object(c, OBJECT_POD,
                                            "{\"metadata\":{\"labels\":{\"app\":\"web\","
                                            "\"tier\":\"front\",\"x\":\"y\"}}}")
                                 .meta;
    apply(c, OBJECT_SERVICE, "one", "{\"app\":\"web\"}");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\"}}");
    apply(c, OBJECT_SERVICE, "two", "{\"app\":\"web\",\"tier\":\"front\"}");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\",\"tier\":\"front\"}}");
    apply(c, OBJECT_SERVICE, "three", "{\"app\":\"db\"}");
    apply(c, OBJECT_SERVICE, "four", "null");
    apply(c, OBJECT_SERVICE, "five", "{}");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\",\"tier\":\"front\"}}");
}

static void only_the_pods_namespace_matters(void **state) {
    struct cluster *c = *state;
    struct object_meta pod = plain_pod(c);
    cluster_apply_json(c, OBJECT_SERVICE,
                       "{\"metadata\":{\"name\":\"s\",\"namespace\":\"other\"},"
                       "\"spec\":{\"selector\":{\"app\":\"web\"}}}");
    check(c, &pod, "{}");
}

static void the_controller_adds_its_selector(void **state) {
    struct cluster *c = *state;
    apply(c, OBJECT_REPLICA_SET, "x",
          "{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"tier\","
          "\"operator\":\"NotIn\",\"values\":[\"b\",\"a\"]}]}");
    apply(c, OBJECT_STATEFUL_SET, "x", "{\"matchLabels\":{\"set\":\"1\"}}");
    apply(c, OBJECT_REPLICATION_CONTROLLER, "x", "{\"rc\":\"1\"}");
    static const struct {
        const char *api, *kind, *name, *want;
    } rows[] = {
        {"apps/v1", "ReplicaSet", "x",
         "{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"tier\","
         "\"operator\":\"NotIn\",\"values\":[\"a\",\"b\"]}]}"},
        {"apps/v1", "StatefulSet", "x", "{\"matchLabels\":{\"set\":\"1\"}}"},
        {"v1", "ReplicationController", "x", "{\"matchLabels\":{\"rc\":\"1\"}}"},
        {"apps/v1", "ReplicaSet", "y", "{}"},
        {"example.com/v1", "ReplicaSet", "x", "{}"},
        {"v1", "StatefulSet", "x", "{}"},
        {"apps/v1", "ReplicationController", "x", "{}"},
        {"apps/v1", "DaemonSet", "x", "{}"},
        {"batch/v1", "Job", "x", "{}"},
        {"v1", "Service", "x", "{}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct object_meta pod = pod_of(c, rows[i].api, rows[i].kind, rows[i].name);
        check(c, &pod, rows[i].want);
    }
    apply(c, OBJECT_SERVICE, "s", "{\"app\":\"web\"}");
    struct object_meta pod = pod_of(c, "apps/v1", "StatefulSet", "x");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\",\"set\":\"1\"}}");
}

/* As upstream: what does not parse is passed over, and a nil selector adds nothing. */
/* A pod may have an owner whose selector is another's: then labels contradict each other. */
static void a_replication_controller_wins_over_services(void **state) {
    struct cluster *c = *state;
    apply(c, OBJECT_SERVICE, "s", "{\"app\":\"web\"}");
    apply(c, OBJECT_REPLICATION_CONTROLLER, "x", "{\"app\":\"db\",\"rc\":\"1\"}");
    apply(c, OBJECT_REPLICA_SET, "x", "{\"matchLabels\":{\"app\":\"db\"}}");
    struct object_meta pod = pod_of(c, "v1", "ReplicationController", "x");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"db\",\"rc\":\"1\"}}");
    pod = pod_of(c, "apps/v1", "ReplicaSet", "x");
    check(c, &pod,
          "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"web\"]},"
          "{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"db\"]}]}");
}

static void selectors_without_a_meaning_add_nothing(void **state) {
    struct cluster *c = *state;
    struct object_meta pod = pod_of(c, "apps/v1", "ReplicaSet", "x");
    apply(c, OBJECT_SERVICE, "good", "{\"app\":\"web\"}");
    apply(c, OBJECT_SERVICE, "bad", "{\"app\":\"not a value\"}");
    apply(c, OBJECT_REPLICA_SET, "x",
          "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"in\",\"values\":[\"web\"]}]}");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\"}}");
    apply(c, OBJECT_REPLICA_SET, "x", "null");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\"}}");
}

static void the_last_version_counts(void **state) {
    struct cluster *c = *state;
    struct object_meta pod = plain_pod(c);
    apply(c, OBJECT_SERVICE, "s", "{\"app\":\"db\"}");
    check(c, &pod, "{}");
    apply(c, OBJECT_SERVICE, "s", "{\"app\":\"web\"}");
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\"}}");
    assert_int_equal(cache_stats(c->cache).workloads, 1);
    struct object same_name = workload(c, OBJECT_STATEFUL_SET, "s", "null");
    cluster_remove(c, &same_name); /* another kind */
    check(c, &pod, "{\"matchLabels\":{\"app\":\"web\"}}");
    struct object service = workload(c, OBJECT_SERVICE, "s", "null");
    cluster_remove(c, &service);
    check(c, &pod, "{}");
    assert_int_equal(cache_stats(c->cache).workloads, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_workloads_nothing_is_required),
        TEST(services_that_select_the_pod_are_merged),
        TEST(a_replication_controller_wins_over_services),
        TEST(only_the_pods_namespace_matters),
        TEST(the_controller_adds_its_selector),
        TEST(selectors_without_a_meaning_add_nothing),
        TEST(the_last_version_counts),
    };
    return cmocka_run_group_tests_name("workloads", tests, NULL, NULL);
}
