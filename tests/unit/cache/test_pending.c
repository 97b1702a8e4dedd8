/* The workloads and the ages of pods without a node. */
#include "cache/placed.h"
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

/* A pod with a controller; NULL: none. */
static struct object pod_of(struct cluster *c, const char *namespace, const char *kind,
                            const char *controller, const char *node) {
    char json[512], owners[256] = "";
    if (controller != NULL)
        (void)snprintf(owners, sizeof owners, /* fits */
                       ",\"ownerReferences\":[{\"kind\":\"%s\",\"apiVersion\":\"apps/v1\","
                       "\"name\":\"%s\",\"controller\":true}]",
                       kind, controller);
    (void)snprintf(json, sizeof json, /* fits */
                   "{\"metadata\":{\"name\":\"p\",\"namespace\":\"%s\",\"uid\":\"u\"%s},"
                   "\"spec\":{\"nodeName\":\"%s\"}}",
                   namespace, owners, node);
    return cluster_object(c, OBJECT_POD, json);
}

/* Expects one Pending pod, of NAMESPACE GROUP/KIND NAME; "": of no workload. NULL: no pod. */
static void expect(struct cluster *c, const char *want) {
    struct cache_view view;
    struct cache_owner owner;
    uint32_t from = 0;
    char got[256] = "";
    cache_view_open(c->cache, &view);
    const uint32_t count = cache_pending_next(&view, &from, &owner, 1);
    if (count == 1 && !str_empty(owner.namespace))
        (void)snprintf(got, sizeof got, "%.*s %.*s/%.*s %.*s", STR_ARG(owner.namespace), /* fits */
                       STR_ARG(owner.type.group), STR_ARG(owner.type.kind), STR_ARG(owner.name));
    cache_view_close(&view);
    assert_int_equal(count, want == NULL ? 0 : 1);
    assert_int_equal(from, count == 1 && from != CACHE_PLACED_END ? 1 : CACHE_PLACED_END);
    if (want != NULL)
        assert_string_equal(got, want);
}

static uint64_t changes_of(struct cluster *c) {
    struct cache_view view;
    cache_view_open(c->cache, &view);
    const uint64_t changes = cache_changes(&view);
    cache_view_close(&view);
    return changes;
}

static void the_last_owner_counts(void **state) {
    static const struct {
        const char *namespace, *kind, *controller, *want;
        uint64_t changes;
    } rows[] = {
        {"a", "StatefulSet", "db", "a apps/StatefulSet db", 1},
        {"a", "StatefulSet", "db", "a apps/StatefulSet db", 0},
        {"a", "StatefulSet", "web", "a apps/StatefulSet web", 1},
        {"a", "ReplicaSet", "web", "a apps/ReplicaSet web", 1},
        {"a", "DaemonSet", "web", "", 1}, /* it chooses the node */
        {"a", "", NULL, "", 0},
        {"a", "StatefulSet", "db", "a apps/StatefulSet db", 1},
        {"b", "StatefulSet", "db", "b apps/StatefulSet db", 1},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct object pod =
            pod_of(c, rows[i].namespace, rows[i].kind, rows[i].controller, "");
        const uint64_t changes = changes_of(c);
        cluster_apply(c, &pod);
        expect(c, rows[i].want);
        assert_int_equal(changes_of(c) - changes, rows[i].changes);
    }
    const struct object bound = pod_of(c, "b", "StatefulSet", "db", "n1");
    cluster_apply(c, &bound);
    expect(c, NULL);
}

/* Only pods that a hard constraint or a volume may keep off, and that nobody holds back. */
static void old_pods_are_counted(void **state) {
#define HARD "\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"DoNotSchedule\"}]"
#define CLAIM "\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":\"d\"}}]"
    static const struct {
        const char *created, *spec;
        uint32_t want;
    } rows[] = {
        {"\"2026-01-01T00:00:00Z\"", HARD, 1},
        {"\"2026-01-01T00:09:59Z\"", CLAIM, 1},
        {"\"2026-01-01T00:10:00Z\"", HARD, 0}, /* not before that time */
        {"null", HARD, 0},
        {"\"soon\"", HARD, 0},
        {"\"2026-01-01T00:00:00Z\"", "\"containers\":[]", 0},
        {"\"2026-01-01T00:00:00Z\"",
         "\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"ScheduleAnyway\"}]", 0},
        {"\"2026-01-01T00:00:00Z\"",
         "\"topologySpreadConstraints\":[1,{\"whenUnsatisfiable\":2},{\"whenUnsatisfiable\":"
         "\"ScheduleAnyway\"},{\"whenUnsatisfiable\":\"DoNotSchedule\"}]",
         1},
        {"\"2026-01-01T00:00:00Z\"", "\"topologySpreadConstraints\":null", 0},
        {"\"2026-01-01T00:00:00Z\"", HARD ",\"schedulingGates\":[{\"name\":\"g\"}]", 0},
        {"\"2026-01-01T00:00:00Z\"", HARD ",\"schedulingGates\":[]", 1},
        {"\"2026-01-01T00:00:00Z\"", HARD ",\"nodeName\":\"n1\"", 0},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cache_view view;
        char json[400];
        uint32_t from = 0;
        (void)snprintf(json, sizeof json, /* fits */
                       "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"creationTimestamp\":%s},"
                       "\"spec\":{%s}}",
                       rows[i].created, rows[i].spec);
        struct object pod; /* read as of a cluster */
        assert_int_equal(
            object_decode(str_of(json), OBJECT_POD, POD_RUNNING, &c->arena, &pod, NULL), 0);
        cluster_apply(c, &pod);
        cache_view_open(c->cache, &view);
        assert_int_equal(cache_pending_count_old(&view, &from, 9, INT64_C(1767226200000)),
                         rows[i].want); /* 2026-01-01T00:10:00Z */
        assert_int_equal(from, CACHE_PLACED_END);
        cache_view_close(&view);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_owner_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(old_pods_are_counted, setup, teardown),
    };
    return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
