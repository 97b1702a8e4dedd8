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
    char text[900];
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

/* ---- long names ---- */

/* What each group's controller is called, in the order in which the groups were made, and the bytes
 * of group, kind and name. */
struct lengths {
    struct {
        size_t group, kind, name;
    } of[4];
    uint32_t count;
};

static struct lengths lengths(struct cluster *c) {
    struct lengths ret = {.count = 0};
    struct cache_view view;
    struct cache_group group;
    uint32_t at = 0;
    cache_view_open(c->cache, &view);
    while (cache_group_next(&view, &at, &c->arena, &group) > 0) {
        assert_true(ret.count < 4);
        const struct workload_name *w = &group.controller;
        ret.of[ret.count].group = w->type.group.n;
        ret.of[ret.count].kind = w->type.kind.n;
        ret.of[ret.count++].name = w->name.n;
    }
    cache_view_close(&view);
    return ret;
}

static const char *long_pod(struct cluster *c, const char *name, int n, const char *end) {
    char text[2000], x[301];
    memset(x, 'x', sizeof x);
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\",\"labels\":{\"n\":\"%s\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"%.*s%s/v1\",\"kind\":\"%.*s%s\","
        "\"name\":\"%.*s%s\",\"controller\":true}]},\"spec\":{\"nodeName\":\"a\"}}",
        name, name, n, x, end, n, x, end, n, x, end); /* fits */
    return arena_cstr(&c->arena, str_of(text));
}

/* No object has a name of more than 253 bytes, but an API server takes a reference with any. */
static void a_reference_is_cut_where_no_name_is_longer(void **state) {
    static const struct {
        int n;
        const char *end;
        size_t want;
    } rows[] = {
        {252, "", 252},       {253, "", 253},       {254, "", 253},       {300, "", 253},
        {251, "\u00e9", 253}, {252, "\u00e9", 252}, {250, "\u20ac", 253}, {251, "\u20ac", 251},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *json = long_pod(c, "1", rows[i].n, rows[i].end);
        struct object pod = cluster_object(c, OBJECT_POD, json);
        cluster_apply(c, &pod);
        const struct lengths got = lengths(c);
        assert_int_equal(got.count, 1);
        assert_int_equal(got.of[0].group, rows[i].want);
        assert_int_equal(got.of[0].kind, rows[i].want);
        assert_int_equal(got.of[0].name, rows[i].want);
        cluster_remove(c, &pod);
    }
}

/* They are known by the whole reference. */
static void what_is_cut_alike_is_not_one_controller(void **state) {
    struct cluster *c = *state;
    char owner[2][260];
    for (int i = 0; i < 2; i++) {
        memset(owner[i], 'x', 259);
        owner[i][258] = (char)('a' + i);
        owner[i][259] = '\0';
        add(c, (const char[]){(char)('1' + i), '\0'}, owner[i]);
    }
    expect(c, owner[0], 9, " 1:1");
    expect(c, owner[1], 9, " 2:1");
    owner[0][253] = '\0';
    expect(c, owner[0], 9, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(siblings_come_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pod_may_be_adopted, setup, teardown),
        cmocka_unit_test_setup_teardown(selectors_are_kept_with_their_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(assumed_pods_are_no_siblings, setup, teardown),
        cmocka_unit_test_setup_teardown(a_controller_may_lack_a_selector, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reference_is_cut_where_no_name_is_longer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_cut_alike_is_not_one_controller, setup, teardown),
    };
    return CLUSTER_RUN_TESTS("owners", tests);
}
