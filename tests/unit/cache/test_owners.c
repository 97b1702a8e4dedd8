/* Which pods have one controller, and what that one selects. */
#include "unit/cluster_builder.h"

#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, "a b");
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

static const char *pod_json(struct cluster *c, const char *name, const char *owner,
                            const char *more) {
    char text[500];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\",\"labels\":{\"n\":\"%s\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
        "\"name\":\"%s\",\"controller\":true}]%s},\"spec\":{\"nodeName\":\"a\"}}",
        name, name, owner, more);
    return arena_cstr(&c->arena, str_of(text));
}

static void add(struct cluster *c, const char *name, const char *owner) {
    cluster_apply_json(c, OBJECT_POD, pod_json(c, name, owner, ""));
}

/* ---- what is seen ---- */

struct seen {
    char text[200];
};

static void visit(void *ctx, label_lookup_fn *lookup, const void *labels, uint32_t pods) {
    struct seen *seen = ctx;
    struct str value = {0};
    size_t n = strlen(seen->text);
    assert_true(lookup(labels, STR("n"), &value));
    (void)snprintf(seen->text + n, sizeof seen->text - n, " %.*s:%u", STR_ARG(value), pods);
}

static void expect(struct cluster *c, const char *owner, uint32_t max, const char *want) {
    struct object pod = cluster_object(c, OBJECT_POD, pod_json(c, "new", owner, ""));
    struct cache_view view;
    struct seen seen = {""};
    cache_view_open(c->cache, &view);
    cache_siblings(&view, &pod.meta, max, visit, &seen);
    cache_view_close(&view);
    assert_string_equal(seen.text, want);
}

static void siblings_come_and_go(void **state) {
    struct cluster *c = *state;
    expect(c, "x", 9, "");
    add(c, "1", "x");
    add(c, "2", "y");
    add(c, "3", "x");
    expect(c, "x", 9, " 3:1 1:1");
    expect(c, "y", 9, " 2:1");
    expect(c, "x", 1, " 3:1");
    expect(c, "x", 0, "");
    cluster_apply_json(c, OBJECT_POD,
                       pod_json(c, "3", "x", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""));
    expect(c, "x", 9, " 1:1");
    struct object gone = cluster_object(c, OBJECT_POD, pod_json(c, "1", "x", ""));
    cluster_remove(c, &gone);
    expect(c, "x", 9, "");
    expect(c, "y", 9, " 2:1");
}

static void a_pod_may_be_adopted(void **state) {
    struct cluster *c = *state;
    add(c, "1", "x");
    add(c, "1", "y");
    expect(c, "x", 9, "");
    expect(c, "y", 9, " 1:1");
}

/* ---- selectors ---- */

static bool selects(struct cluster *c, const char *owner, uint32_t *ret_labels) {
    struct object pod = cluster_object(c, OBJECT_POD, pod_json(c, "new", owner, ""));
    struct cache_view view;
    const struct label_selector *selector;
    cache_view_open(c->cache, &view);
    bool found = cache_owner_selector(&view, &pod.meta, &selector);
    if (found)
        *ret_labels = selector->match_labels.count;
    cache_view_close(&view);
    return found;
}

static void selectors_are_kept_with_their_owner(void **state) {
    struct cluster *c = *state;
    uint32_t labels = 0;
    static const char x[] = "{\"metadata\":{\"name\":\"x\",\"namespace\":\"shop\"},\"spec\":{"
                            "\"selector\":{\"matchLabels\":{\"n\":\"1\"}}}}";
    assert_false(selects(c, "x", &labels));
    cluster_workload(c, OBJECT_STATEFUL_SET, x); /* of that name, and another kind */
    assert_false(selects(c, "x", &labels));
    cluster_workload(c, OBJECT_REPLICA_SET, x);
    assert_true(selects(c, "x", &labels));
    assert_int_equal(labels, 1);
    struct object set = cluster_object(c, OBJECT_REPLICA_SET, x);
    add(c, "1", "x"); /* its pods stay known without it, and it without them */
    cluster_remove(c, &set);
    assert_false(selects(c, "x", &labels));
    expect(c, "x", 9, " 1:1");
}

/* A pod that is assumed is none yet, and says nothing of the others. */
static void assumed_pods_are_no_siblings(void **state) {
    struct cluster *c = *state;
    struct object pod = cluster_object(c, OBJECT_POD, pod_json(c, "1", "x", ""));
    pod.pod.meta.uid = STR("1");
    cache_write_begin(c->cache);
    assert_int_equal(cache_assume_on(c->cache, &pod.pod.meta, STR("a")), 0);
    cache_write_end(c->cache);
    assert_int_equal(cache_stats(c->cache).assumed, 1);
    expect(c, "x", 9, "");
    add(c, "2", "x");
    expect(c, "x", 9, " 2:1");
}

/* A controller without a selector is kept, and selects nothing. */
static void a_controller_may_lack_a_selector(void **state) {
    struct cluster *c = *state;
    uint32_t labels = 0;
    cluster_workload(c, OBJECT_REPLICA_SET,
                     "{\"metadata\":{\"name\":\"x\",\"namespace\":\"shop\"},\"spec\":{}}");
    assert_int_equal(cache_stats(c->cache).workloads, 1);
    assert_false(selects(c, "x", &labels));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(siblings_come_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pod_may_be_adopted, setup, teardown),
        cmocka_unit_test_setup_teardown(selectors_are_kept_with_their_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(assumed_pods_are_no_siblings, setup, teardown),
        cmocka_unit_test_setup_teardown(a_controller_may_lack_a_selector, setup, teardown),
    };
    return CLUSTER_RUN_TESTS("owners", tests);
}
