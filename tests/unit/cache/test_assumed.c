/* Assumed pods: each counts in parts on the nodes it may land on, until it is seen. */
#include "base/limits.h"
#include "unit/cache/incoming.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

/* The slots of nodes named "a b", found as the engine does: under a view that is closed since. */
static struct cache_nodes nodes_of(struct incoming *f, const char *names, uint32_t *slots) {
    struct cache_view view;
    struct str rest = str_of(names), name;
    struct cache_nodes where = {.slots = slots};
    cache_view_open(f->c.cache, &view);
    where.epoch = topology_slot_epoch(view.nodes.topology);
    while (next_word(&rest, " ", &name))
        slots[where.count++] = topology_find(&view.nodes, name);
    cache_view_close(&view);
    return where;
}

static int try_assume(struct incoming *f, const struct object_meta *pod,
                      const struct cache_nodes *where) {
    cache_write_begin(f->c.cache);
    int r = cache_assume(f->c.cache, pod, where);
    cache_write_end(f->c.cache);
    return r;
}

static void assume(struct incoming *f, const struct pod *pod, const char *names) {
    uint32_t slots[8];
    struct cache_nodes where = nodes_of(f, names, slots);
    assert_int_equal(try_assume(f, &pod->meta, &where), 0);
}

/* Parts per thousand of a pod on each node, as the selector counts them; pods that are there are
 * no part of that. */
static void check(struct incoming *f, int a, int b, int x) {
    const struct {
        const char *node;
        int want;
    } rows[] = {{"a", a}, {"b", b}, {"x", x}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(probe_assumed(f->c.cache, "default", &f->foo, rows[i].node) * 1000 /
                             CACHE_POD,
                         rows[i].want);
}

static void a_pod_is_divided_among_its_nodes(void **state) {
    struct incoming *f = *state;
    assume(f, &f->pod, "a x");
    check(f, 500, 0, 500);
    assert_int_equal(probe_total(f->c.cache, "default", &f->foo), 0);
    assert_int_equal(cache_stats(f->c.cache).assumed, 1);
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
    assume(f, &f->pod, "b"); /* anew */
    check(f, 0, 1000, 0);
    assert_int_equal(cache_stats(f->c.cache).assumed, 1);
    struct pod other = f->pod;
    other.meta.uid = STR("other");
    assume(f, &other, "b x");
    check(f, 0, 1500, 500);
}

/* A counter that is there before the pod, and one that comes later, know the same. Thirds do not
 * divide a whole: together they are one all the same. */
static void parts_are_a_whole_pod(void **state) {
    struct incoming *f = *state;
    struct selector everything = cluster_selector(&f->c, "{}");
    check(f, 0, 0, 0);
    assume(f, &f->pod, "a b x");
    int64_t sum = 0;
    for (const char *node = "abx"; *node != '\0'; node++) {
        const char name[] = {*node, '\0'};
        int64_t part = probe_assumed(f->c.cache, "default", &f->foo, name);
        assert_int_equal(probe_assumed(f->c.cache, "default", &everything, name), part);
        assert_in_range(part, CACHE_POD / 3, CACHE_POD / 3 + 1);
        sum += part;
    }
    assert_int_equal(sum, CACHE_POD);
}

static void only_matching_pods_of_the_namespace_count(void **state) {
    struct incoming *f = *state;
    struct pod elsewhere = f->pod, bar = cluster_pod(&f->c, "bar", "", "");
    elsewhere.meta.namespace = STR("ns1");
    assume(f, &elsewhere, "a");
    check(f, 0, 0, 0);
    assume(f, &bar, "a"); /* the same UID */
    check(f, 0, 0, 0);
    assert_int_equal(cache_stats(f->c.cache).assumed, 1);
}

static void it_ends_when_the_pod_lands_or_ends(void **state) {
    struct incoming *f = *state;
    assume(f, &f->pod, "a b");
    incoming_seen(f, "", false, false); /* still pending */
    check(f, 500, 500, 0);
    incoming_seen(f, "a", false, false);
    check(f, 0, 0, 0);
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "a"), 1);
    assume(f, &f->pod, "b"); /* it is bound: late news */
    check(f, 0, 0, 0);
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    assume(f, &f->pod, "a b");
    incoming_seen(f, "", true, false);
    check(f, 0, 0, 0);
    assume(f, &f->pod, "a b");
    incoming_seen(f, "", false, true);
    check(f, 0, 0, 0);
    assume(f, &f->pod, "a b");
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    check(f, 0, 0, 0);
}

static void release_reservation_and_time_end_it(void **state) {
    struct incoming *f = *state;
    assume(f, &f->pod, "a");
    cache_write_begin(f->c.cache);
    cache_release(f->c.cache, &f->pod.meta);
    cache_write_end(f->c.cache);
    check(f, 0, 0, 0);
    assume(f, &f->pod, "a");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve(f->c.cache, &f->pod, STR("a")), 0);
    cache_write_end(f->c.cache);
    check(f, 0, 0, 0); /* the reservation counts, wholly */
    cache_write_begin(f->c.cache);
    cache_release(f->c.cache, &f->pod.meta);
    cache_write_end(f->c.cache);
    assume(f, &f->pod, "a");
    for (int i = 0; i < 2; i++) {
        check(f, 1000, 0, 0);
        atomic_fetch_add(&f->c.clock.at_ms, i == 0 ? 999 : 1);
        cache_write_begin(f->c.cache);
        cache_expire(f->c.cache);
        cache_write_end(f->c.cache);
    }
    check(f, 0, 0, 0);
}

static void binding_says_the_node(void **state) {
    struct incoming *f = *state;
    const struct object_meta known = {
        .name = f->pod.meta.name, .namespace = STR("default"), .uid = f->pod.meta.uid};
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_move_assumed(f->c.cache, &known, STR("a")), -ENOENT);
    cache_write_end(f->c.cache);
    assume(f, &f->pod, "a b");
    check(f, 500, 500, 0);
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_move_assumed(f->c.cache, &known, STR("nowhere")), -ENOENT);
    assert_int_equal(cache_move_assumed(f->c.cache, &known, STR("x")), 0);
    cache_write_end(f->c.cache);
    check(f, 0, 0, 1000);
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_assume_on(f->c.cache, &f->pod.meta, STR("b")), 0);
    assert_int_equal(
        cache_assume_on(f->c.cache, &(struct object_meta){.uid = STR("far")}, STR("nowhere")), 0);
    cache_write_end(f->c.cache);
    check(f, 0, 1000, 0);
}

/* A slot that another node gets must not inherit what was assumed of the first. */
static void a_slot_that_changed_hands_is_refused(void **state) {
    struct incoming *f = *state;
    uint32_t slots[8];
    struct cache_nodes where = nodes_of(f, "a x", slots);
    cluster_remove(&f->c, &f->c.nodes[0]);
    cluster_nodes(&f->c, "b a"); /* a may have the old slot */
    assert_int_equal(try_assume(f, &f->pod.meta, &where), -ESTALE);
    check(f, 0, 0, 0);
}

/* A node that goes keeps its slot while a pod is assumed there, as it does for pods. */
static void a_node_may_go_and_come_back(void **state) {
    struct incoming *f = *state;
    assume(f, &f->pod, "a x");
    cluster_remove(&f->c, &f->c.nodes[0]);
    cluster_nodes(&f->c, "n o p");
    cluster_nodes(&f->c, "a b x");
    check(f, 500, 0, 500);
    assume(f, &f->pod, "b");
    check(f, 0, 1000, 0);
}

static void arrays_grow_with_the_nodes(void **state) {
    struct incoming *f = *state;
    check(f, 0, 0, 0);
    assume(f, &f->pod, "a x");
    for (int i = 0; i < 100; i++) {
        char json[64];
        (void)snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"n%d\"}}", i);
        cluster_apply_json(&f->c, OBJECT_NODE, json);
    }
    check(f, 500, 0, 500);
    struct pod other = f->pod;
    other.meta.uid = STR("other");
    assume(f, &other, "n99 b");
    check(f, 500, 500, 500);
    assert_int_equal(probe_assumed(f->c.cache, "default", &f->foo, "n99"), CACHE_POD / 2);
}

static void they_are_bounded(void **state) {
    struct incoming *f = *state;
    char uids[LIMIT_ASSUMED + 10][8];
    for (size_t i = 0; i < LIMIT_ASSUMED + 10; i++) {
        struct pod pod = f->pod;
        (void)snprintf(uids[i], sizeof uids[i], "%zu", i);
        pod.meta.uid = str_of(uids[i]);
        atomic_fetch_add(&f->c.clock.at_ms, i < 10); /* the first ten would end first */
        assume(f, &pod, i < 10 ? "x" : "a");
    }
    assert_int_equal(cache_stats(f->c.cache).assumed, LIMIT_ASSUMED);
    check(f, LIMIT_ASSUMED * 1000, 0, 0);
    atomic_fetch_add(&f->c.clock.at_ms, 1000);
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache);
    cache_write_end(f->c.cache);
    assert_int_equal(cache_stats(f->c.cache).assumed, 0);
    assert_int_equal(cache_stats(f->c.cache).classes, 0);
    check(f, 0, 0, 0);
}

/* All of them may be overdue at once, and each is taken out of many counters. */
static void the_end_of_many_lets_readers_in(void **state) {
    struct incoming *f = *state;
    enum { COUNTERS = 60, PODS = 600 };
    char text[96];
    for (int i = 0; i < COUNTERS; i++) {
        struct cache_view view;
        const uint32_t *counts;
        const int64_t *assumed;
        (void)snprintf(text, sizeof text,
                       "{\"matchExpressions\":[{\"key\":\"k%d\",\"operator\":\"DoesNotExist\"}]}",
                       i);
        struct selector selector = cluster_selector(&f->c, text);
        cache_view_open(f->c.cache, &view);
        assert_int_equal(cache_counter_assumed(&view, STR("default"), &selector, &counts, &assumed),
                         0);
        cache_view_close(&view);
    }
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(text, sizeof text, "p%d", i);
        f->pod.meta.uid = str_of(text);
        assume(f, &f->pod, "a b x");
    }
    assert_true(cache_load(f->c.cache).write_steps < 2 * LIMIT_WRITE_STEPS);
    atomic_fetch_add(&f->c.clock.at_ms, 1000);
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache);
    cache_write_end(f->c.cache);
    assert_int_equal(cache_stats(f->c.cache).assumed, 0);
    assert_true(cache_load(f->c.cache).write_steps < 2 * LIMIT_WRITE_STEPS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pod_is_divided_among_its_nodes, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(parts_are_a_whole_pod, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(only_matching_pods_of_the_namespace_count, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(it_ends_when_the_pod_lands_or_ends, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(release_reservation_and_time_end_it, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(binding_says_the_node, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(a_slot_that_changed_hands_is_refused, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(a_node_may_go_and_come_back, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(arrays_grow_with_the_nodes, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(the_end_of_many_lets_readers_in, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(they_are_bounded, incoming_setup, incoming_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
