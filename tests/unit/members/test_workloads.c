/*
 * Pods that have found no node, of Deployments that are known by their events. Expectations from
 * upstream's rules: karmada pkg/estimator/server/replica replica.go.
 */
#include "unit/members/kept.h"

#include <errno.h>
#include <stdio.h>

enum { NODES, PODS, DEPLOYMENTS, REPLICA_SETS };
enum { NOW_S = 1767225600, MINUTE_S = 60 }; /* 2026-01-01T00:00:00Z */

static void take(struct informer *i, uint32_t kind, const char *name) {
    kept_take(i, kind, "ns", name);
}

#define TEMPLATE(image)                                                                            \
    "\"template\":{\"metadata\":{\"labels\":{\"app\":\"a\"}},\"spec\":{\"containers\":[{"          \
    "\"name\":\"c\",\"image\":\"" image "\"}]}}"
#define DEPLOYMENT(name, uid, image)                                                               \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"" uid "\"},\"spec\":{"    \
    "\"selector\":{\"matchLabels\":{\"app\":\"a\"}}," TEMPLATE(image) "}}"
#define REPLICA_SET(name, uid, owner, created, image)                                              \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"" uid "\",\"labels\":{"   \
    "\"app\":\"a\"},\"creationTimestamp\":\"" created "\",\"ownerReferences\":[{\"apiVersion\":"   \
    "\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"d\",\"uid\":\"" owner "\",\"controller\":"     \
    "true}]},\"spec\":{" TEMPLATE(image) "}}"
#define POD(name, owner, label, status, reason, since)                                             \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"labels\":{\"app\":\"" label       \
    "\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r\"," \
    "\"uid\":\"" owner "\",\"controller\":true}]},\"status\":{\"conditions\":[{\"type\":"          \
    "\"PodScheduled\",\"status\":\"" status "\",\"reason\":\"" reason                              \
    "\",\"lastTransitionTime\":\"" since "\"}]}}"
#define WAITING(name, owner) POD(name, owner, "a", "False", "Unschedulable", "2025-12-31T23:50:00Z")

static int64_t waiting(struct informer *i, const char *deployment, int64_t threshold_s) {
    const struct member_workload workload = {.namespace = STR("ns"),
                                             .name = str_of(deployment),
                                             .threshold_ns = threshold_s * 1000000000,
                                             .now_ms = (int64_t)NOW_S * 1000};
    struct err err = {0};
    int64_t count = -1;
    const int r = member_unschedulable(i, &workload, &kept_arena, &count, &err);
    return r == 0 ? count : r;
}

static void counted(void **state) {
    struct informer *i = *state;
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("d", "u1", "v1"));
    assert_int_equal(waiting(i, "d", 0), 0);
    kept_give(i, REPLICA_SETS, REPLICA_SET("r1", "r1", "u1", "2025-01-01T00:00:00Z", "v1"));
    kept_give(i, PODS, WAITING("p1", "r1"));
    kept_give(i, PODS, WAITING("p2", "r1"));
    assert_int_equal(waiting(i, "d", 5 * MINUTE_S), 2);
    /* for ten minutes, which is not longer than ten */
    assert_int_equal(waiting(i, "d", 10 * MINUTE_S - 1), 2);
    assert_int_equal(waiting(i, "d", 10 * MINUTE_S), 0);
    /* each condition of a pod that counts */
    kept_give(i, PODS, WAITING("p3", "other"));
    kept_give(i, PODS, POD("p4", "r1", "b", "False", "Unschedulable", "2025-12-31T23:50:00Z"));
    kept_give(i, PODS, POD("p5", "r1", "a", "True", "Unschedulable", "2025-12-31T23:50:00Z"));
    kept_give(i, PODS, POD("p6", "r1", "a", "False", "SchedulingGated", "2025-12-31T23:50:00Z"));
    assert_int_equal(waiting(i, "d", 5 * MINUTE_S), 2);
    /* it has found one, it is gone */
    kept_give(i, PODS, POD("p1", "r1", "a", "True", "", "2025-12-31T23:50:00Z"));
    assert_int_equal(waiting(i, "d", 5 * MINUTE_S), 1);
    take(i, PODS, "p2");
    assert_int_equal(waiting(i, "d", 5 * MINUTE_S), 0);
    assert_int_equal(waiting(i, "e", 0), -ENOENT);
    take(i, DEPLOYMENTS, "d");
    assert_int_equal(waiting(i, "d", 0), -ENOENT);
}

/* Of the oldest ReplicaSet that has the Deployment's template and is its own. */
static void newest_replica_set(void **state) {
    struct informer *i = *state;
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("d", "u1", "v2"));
    kept_give(i, REPLICA_SETS, REPLICA_SET("r1", "r1", "u1", "2025-01-01T00:00:00Z", "v1"));
    kept_give(i, REPLICA_SETS, REPLICA_SET("r2", "r2", "u1", "2025-01-02T00:00:00Z", "v2"));
    kept_give(i, REPLICA_SETS, REPLICA_SET("r3", "r3", "u1", "2025-01-03T00:00:00Z", "v2"));
    kept_give(i, REPLICA_SETS, REPLICA_SET("r4", "r4", "u9", "2025-01-01T00:00:00Z", "v2"));
    kept_give(i, PODS, WAITING("p1", "r1"));
    kept_give(i, PODS, WAITING("p2", "r2"));
    kept_give(i, PODS, WAITING("p3", "r2"));
    kept_give(i, PODS, WAITING("p4", "r3"));
    kept_give(i, PODS, WAITING("p5", "r4"));
    assert_int_equal(waiting(i, "d", 0), 2);
    take(i, REPLICA_SETS, "r2");
    assert_int_equal(waiting(i, "d", 0), 1);
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("d", "u1", "v1")); /* rolled back */
    kept_give(i, PODS, WAITING("p6", "r1"));
    kept_give(i, PODS, WAITING("p7", "r1"));
    assert_int_equal(waiting(i, "d", 0), 3);
}

/* Only that of the spec selects; upstream's informer has no pods that have finished. */
static void other_selectors(void **state) {
    struct informer *i = *state;
    kept_give(i, DEPLOYMENTS,
              "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"d\",\"uid\":\"u1\"},\"spec\":{"
              "\"selector\":{\"matchLabels\":{\"app\":\"a\"}}," TEMPLATE(
                  "v1") "},\"status\":{"
                        "\"selector\":{\"matchLabels\":{\"app\":\"b\"}}}}");
    kept_give(i, REPLICA_SETS, REPLICA_SET("r1", "r1", "u1", "2025-01-01T00:00:00Z", "v1"));
    kept_give(i, PODS, WAITING("p1", "r1"));
    kept_give(i, PODS,
              "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p2\",\"labels\":{\"app\":\"a\"},"
              "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"uid\":\"r1\",\"controller\":true}]},"
              "\"status\":{\"phase\":\"Failed\",\"conditions\":[{\"type\":\"PodScheduled\","
              "\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}");
    assert_int_equal(waiting(i, "d", 0), 1);
}

static void step_all(struct informer *i, enum informer_listing how) {
    void *contents = informer_write(i);
    for (uint32_t kind = PODS; kind <= REPLICA_SETS; kind++)
        informer_list(&member_store, contents, kind, how);
    informer_write_done(i);
}

static void listings(void **state) {
    struct informer *i = *state;
    step_all(i, LISTING_BEGINS);
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("d", "u1", "v1"));
    kept_give(i, REPLICA_SETS, REPLICA_SET("r1", "r1", "u1", "2025-01-01T00:00:00Z", "v1"));
    kept_give(i, PODS, WAITING("p1", "r1"));
    step_all(i, LISTING_ENDS);
    assert_int_equal(waiting(i, "d", 0), 1);
    /* without end: what it was the first to show is forgotten, all else stays */
    step_all(i, LISTING_BEGINS);
    kept_give(i, PODS, WAITING("p1", "r1"));
    kept_give(i, PODS, WAITING("p2", "r1"));
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("e", "u2", "v1"));
    step_all(i, LISTING_FAILS);
    assert_int_equal(waiting(i, "d", 0), 1);
    assert_int_equal(waiting(i, "e", 0), -ENOENT);
    step_all(i, LISTING_BEGINS);
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("d", "u1", "v1"));
    step_all(i, LISTING_ENDS);
    kept_give(i, PODS, WAITING("p1", "r1"));
    assert_int_equal(waiting(i, "d", 0), 0); /* its ReplicaSet was not shown */
}

/* Pods and ReplicaSets of others, of another namespace with the same owner, too: they take no
 * steps. */
static void pods_of_others(void **state) {
    enum { OTHERS = 1000, STEPS = 200 };
    struct informer *i = *state;
    char json[600];
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("d", "u1", "v1"));
    for (int n = 0; n < OTHERS; n++) {
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"o%d\",\"uid\":\"o%d\","
                       "\"labels\":{\"app\":\"a\"},\"ownerReferences\":[{\"kind\":\"Any\",\"uid\":"
                       "\"%s\",\"controller\":true}]},\"status\":{\"conditions\":[{\"type\":"
                       "\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}",
                       n % 2 ? "ns" : "other", n, n, n % 2 ? "r9" : "r1");
        kept_give(i, PODS, json);
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"o%d\",\"uid\":\"o%d\","
                       "\"ownerReferences\":[{\"kind\":\"Any\",\"uid\":\"%s\",\"controller\":true"
                       "}]},\"spec\":{" TEMPLATE("v1") "}}",
                       n % 2 ? "ns" : "other", n, n, n % 2 ? "u9" : "u1");
        kept_give(i, REPLICA_SETS, json);
    }
    kept_give(i, REPLICA_SETS, REPLICA_SET("r1", "r1", "u1", "2025-01-01T00:00:00Z", "v1"));
    kept_give(i, PODS, WAITING("p1", "r1"));
    kept_give(i, PODS, WAITING("p2", "r1"));
    kept_give(i, PODS, WAITING("p3", "r1"));
    arena_reset(&kept_arena);
    kept_arena.steps.max = STEPS;
    assert_int_equal(waiting(i, "d", 0), 3);
    /* the first of their list, the last, and the one between them */
    static const char *const gone[] = {"p1", "p2", "p3"};
    for (int n = 0; n < 3; n++) {
        take(i, PODS, gone[n]);
        kept_arena.steps.used = 0;
        assert_int_equal(waiting(i, "d", 0), 2 - n);
    }
    /* one that gets another owner leaves the list */
    kept_arena.steps.max = 0;
    kept_give(i, PODS, WAITING("p1", "r1"));
    kept_give(i, PODS, WAITING("p2", "r1"));
    kept_give(i, PODS, WAITING("p1", "r9"));
    assert_int_equal(waiting(i, "d", 0), 1);
}

static void bad_selector(void **state) {
    struct informer *i = *state;
    kept_give(i, DEPLOYMENTS,
              "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"d\",\"uid\":\"u1\"},\"spec\":{"
              "\"selector\":{"
              "\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Near\"}]}}}");
    assert_int_equal(waiting(i, "d", 0), -EINVAL);
    kept_arena.steps.max = kept_arena.steps.used;
    kept_give(i, DEPLOYMENTS, DEPLOYMENT("e", "u1", "v1"));
    assert_int_equal(waiting(i, "e", 0), -E2BIG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counted, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(newest_replica_set, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(other_selectors, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(listings, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(pods_of_others, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(bad_selector, kept_setup, kept_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
