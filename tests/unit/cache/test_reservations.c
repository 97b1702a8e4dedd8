/* Reservations: pods that count before their binding is seen. */
#include "unit/cache/incoming.h"

#include <errno.h>
#include <stdatomic.h>

static int reserve(struct incoming *f, const struct pod *pod, const char *node) {
    cache_write_begin(f->c.cache);
    int r = cache_reserve(f->c.cache, pod, str_of(node));
    cache_write_end(f->c.cache);
    return r;
}

static void release(struct incoming *f) {
    cache_write_begin(f->c.cache);
    cache_release(f->c.cache, &f->pod.meta);
    cache_write_end(f->c.cache);
}

static void expire(struct incoming *f, int64_t after_ms) {
    atomic_fetch_add(&f->c.clock.at_ms, after_ms);
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache);
    cache_write_end(f->c.cache);
}

/* Counts on a and b, real pods, reservations: "1/0 pods 0 reserved 1". */
static void check(struct incoming *f, uint32_t a, uint32_t b, uint32_t pods,
                  uint32_t reservations) {
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "a"), a);
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "b"), b);
    struct cache_stats stats = cache_stats(f->c.cache);
    assert_int_equal(stats.pods, pods);
    assert_int_equal(stats.reservations, reservations);
}

/* The pod as a watch shows it, changed in one thing. */
static void apply(struct incoming *f, const char *node, bool finished, bool terminating) {
    struct object seen = {.kind = OBJECT_POD, .pod = f->pod};
    seen.pod.node_name = str_of(node);
    seen.pod.finished = finished;
    seen.pod.meta.terminating = terminating;
    cluster_apply(&f->c, &seen);
}

static void a_reservation_counts_at_once(void **state) {
    struct incoming *f = *state;
    struct cache_pod found;
    check(f, 0, 0, 0, 0);
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    check(f, 1, 0, 0, 1);
    assert_true(probe_pod(f->c.cache, &f->pod.meta, &found));
    assert_true(found.reserved);
}

static void only_known_nodes_can_be_reserved(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "nowhere"), -ENOENT);
    cluster_pods(&f->c, "ghost:1");
    assert_int_equal(reserve(f, &f->pod, "ghost"), -ENOENT);
    check(f, 0, 0, 1, 0);
}

static void the_binding_takes_its_place(void **state) {
    struct incoming *f = *state;
    struct cache_pod found;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    apply(f, "a", false, false);
    check(f, 1, 0, 1, 0);
    assert_true(probe_pod(f->c.cache, &f->pod.meta, &found));
    assert_false(found.reserved);
    expire(f, 1000000);
    check(f, 1, 0, 1, 0);
}

static void the_binding_may_be_elsewhere(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    apply(f, "b", false, false);
    check(f, 0, 1, 1, 0);
}

/* An update of the pod that is still pending says nothing about the placement under way. */
static void an_update_of_the_unbound_pod_changes_nothing(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    apply(f, "", false, false);
    check(f, 1, 0, 0, 1);
}

static void a_pod_that_ends_needs_no_place(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    apply(f, "", true, false);
    check(f, 0, 0, 0, 0);
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    apply(f, "", false, true);
    check(f, 0, 0, 0, 0);
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    check(f, 0, 0, 0, 0);
}

static void a_finished_pod_reserves_nothing(void **state) {
    struct incoming *f = *state;
    struct pod finished = f->pod;
    finished.finished = true;
    assert_int_equal(reserve(f, &finished, "a"), 0);
    check(f, 0, 0, 0, 0);
}

static void release_ends_reservations_only(void **state) {
    struct incoming *f = *state;
    release(f); /* nothing there */
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    release(f);
    check(f, 0, 0, 0, 0);
    apply(f, "a", false, false);
    release(f);
    check(f, 1, 0, 1, 0);
}

static void a_reservation_runs_out(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    expire(f, 999);
    check(f, 1, 0, 0, 1);
    expire(f, 1);
    check(f, 0, 0, 0, 0);
}

static void a_second_reservation_replaces_the_first(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    expire(f, 600);
    assert_int_equal(reserve(f, &f->pod, "b"), 0);
    check(f, 0, 1, 0, 1);
    expire(f, 600); /* the first would have run out by now */
    check(f, 0, 1, 0, 1);
    expire(f, 400);
    check(f, 0, 0, 0, 0);
}

static void a_bound_pod_is_not_reserved(void **state) {
    struct incoming *f = *state;
    apply(f, "a", false, false);
    assert_int_equal(reserve(f, &f->pod, "b"), 0);
    check(f, 1, 0, 1, 0);
}

static void reservations_outlive_a_listing(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    cache_write_begin(f->c.cache);
    cache_sync_begin(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
    cluster_nodes(&f->c, "a b");
    cache_write_begin(f->c.cache);
    cache_sync_end(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
    check(f, 1, 0, 0, 1);
}

static void a_node_may_go_before_its_reservation(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    cluster_remove(&f->c, &f->c.nodes[0]);
    check(f, TOPOLOGY_NONE, 0, 0, 1);
    expire(f, 1000);
    check(f, TOPOLOGY_NONE, 0, 0, 0);
}

static void many_run_out_in_any_order(void **state) {
    struct incoming *f = *state;
    static const char uids[] = "abcdefghijklmnopqrstuvwxyz";
    for (size_t i = 0; i < 26; i++) {
        struct pod pod = f->pod;
        pod.meta.uid = (struct str){uids + i, 1};
        expire(f, i % 3 == 0 ? 10 : 0);
        assert_int_equal(reserve(f, &pod, i % 2 == 0 ? "a" : "b"), 0);
    }
    check(f, 13, 13, 0, 26); /* made in threes at 10, 20, ... 90 ms */
    expire(f, 919);
    check(f, 13, 13, 0, 26); /* at 1009 ms */
    expire(f, 41);
    check(f, 5, 6, 0, 11); /* at 1050 ms */
    expire(f, 1000);
    check(f, 0, 0, 0, 0);
}

/* ---- a binding under way ---- */

static int begin(struct incoming *f, const char *node) {
    cache_write_begin(f->c.cache);
    int r = cache_bind_begin(f->c.cache, &f->pod.meta, str_of(node));
    cache_write_end(f->c.cache);
    return r;
}

static void end(struct incoming *f, enum cache_bound outcome) {
    cache_write_begin(f->c.cache);
    cache_bind_end(f->c.cache, &f->pod.meta, outcome);
    cache_write_end(f->c.cache);
}

static void a_binding_lasts_until_its_outcome(void **state) {
    struct incoming *f = *state;
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    assert_int_equal(begin(f, "b"), -ENOENT); /* filter left a */
    assert_int_equal(begin(f, "a"), 0);
    assert_int_equal(reserve(f, &f->pod, "b"), -EBUSY);
    release(f);
    expire(f, 1000000);
    check(f, 1, 0, 0, 1);
    end(f, CACHE_NOT_BOUND);
    check(f, 0, 0, 0, 0);
}

/* It is there: only that nobody has seen it yet, and nobody need ever, if it was deleted. */
static void what_is_bound_lasts_until_it_would_have_been_seen(void **state) {
    struct incoming *f = *state;
    cache_heard(f->c.cache, OBJECT_POD, f->c.clock.at_ms);
    assert_int_equal(reserve(f, &f->pod, "a"), 0);
    assert_int_equal(begin(f, "a"), 0);
    end(f, CACHE_BOUND);
    assert_int_equal(reserve(f, &f->pod, "b"), 0); /* nothing is reserved */
    release(f);
    expire(f, 60000);
    check(f, 1, 0, 0, 1);
    cache_heard(f->c.cache, OBJECT_POD, f->c.clock.at_ms - 59001);
    expire(f, 0);
    check(f, 1, 0, 0, 1);
    cache_heard(f->c.cache, OBJECT_POD, f->c.clock.at_ms - 59000);
    expire(f, 0);
    check(f, 0, 0, 0, 0);
}

static void the_watch_may_be_faster_than_the_outcome(void **state) {
    struct incoming *f = *state;
    static const enum cache_bound outcomes[] = {CACHE_BOUND, CACHE_NOT_BOUND, CACHE_MAYBE_BOUND};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(reserve(f, &f->pod, "a"), 0);
        assert_int_equal(begin(f, "a"), 0);
        apply(f, "a", false, false);
        end(f, outcomes[i]);
        check(f, 1, 0, 1, 0);
        cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
        assert_int_equal(reserve(f, &f->pod, "a"), 0);
        assert_int_equal(begin(f, "a"), 0);
        apply(f, "", false, true);
        end(f, outcomes[i]);
        check(f, 0, 0, 0, 0);
        assert_int_equal(cache_stats(f->c.cache).flights, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, incoming_setup, incoming_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_reservation_counts_at_once),
        TEST(only_known_nodes_can_be_reserved),
        TEST(the_binding_takes_its_place),
        TEST(the_binding_may_be_elsewhere),
        TEST(an_update_of_the_unbound_pod_changes_nothing),
        TEST(a_pod_that_ends_needs_no_place),
        TEST(a_finished_pod_reserves_nothing),
        TEST(release_ends_reservations_only),
        TEST(a_reservation_runs_out),
        TEST(a_second_reservation_replaces_the_first),
        TEST(a_bound_pod_is_not_reserved),
        TEST(reservations_outlive_a_listing),
        TEST(a_node_may_go_before_its_reservation),
        TEST(many_run_out_in_any_order),
        TEST(a_binding_lasts_until_its_outcome),
        TEST(what_is_bound_lasts_until_it_would_have_been_seen),
        TEST(the_watch_may_be_faster_than_the_outcome),
    };
    return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
