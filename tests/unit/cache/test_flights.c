/* Flights: pods that may land on any of several nodes, and nobody knows yet on which. */
#include "unit/cache/probe.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

struct fixture {
    struct cluster c;
    struct selector foo;
    struct pod pod; /* to be scheduled; UID "incoming" */
};

static int setup(void **state) {
    static struct fixture f;
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a b x");
    f.foo = cluster_selector(&f.c, "{\"matchLabels\":{\"foo\":\"\"}}");
    f.pod = cluster_pod(&f.c, "foo", "", "");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static void expect(struct fixture *f, const struct pod *pod, const char *nodes) {
    struct str names[8], rest = str_of(nodes);
    uint32_t count = 0;
    while (next_word(&rest, " ", &names[count]))
        count++;
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_expect(f->c.cache, pod, names, count), 0);
    cache_write_end(f->c.cache);
}

struct seen {
    const struct cache_view *view;
    char text[64];
    size_t n;
};

static void see(void *ctx, const uint64_t *nodes, uint32_t words) {
    struct seen *seen = ctx;
    assert_true(seen->n + sizeof "(abx)" <= sizeof seen->text);
    seen->text[seen->n++] = '(';
    for (const char *name = "abx"; *name != '\0'; name++) {
        uint32_t slot = cache_node_find(seen->view, (struct str){name, 1});
        if (slot != CACHE_NONE && slot / 64 < words && (nodes[slot / 64] >> slot % 64 & 1))
            seen->text[seen->n++] = *name;
    }
    seen->text[seen->n++] = ')';
}

/* Which flights a pod of this UID sees in "default": "(ab)(x)". */
static void check(struct fixture *f, const char *uid, const char *want) {
    const struct object_meta but = {.uid = str_of(uid)};
    const struct flight_question question = {STR("default"), &f->foo, &but};
    struct cache_view view;
    struct seen seen = {.view = &view};
    cache_view_open(f->c.cache, false, &view);
    cache_flights(&view, &question, see, &seen);
    cache_view_close(&view);
    assert_string_equal(seen.text, want);
}

static void a_flight_counts_nowhere_but_is_told(void **state) {
    struct fixture *f = *state;
    expect(f, &f->pod, "a x");
    assert_int_equal(probe_total(f->c.cache, "default", &f->foo), 0);
    check(f, "other", "(ax)");
    check(f, "incoming", ""); /* not to itself */
    assert_int_equal(cache_stats(f->c.cache).flights, 1);
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
}

static void only_matching_pods_of_the_namespace_are_told(void **state) {
    struct fixture *f = *state;
    struct pod elsewhere = f->pod, bar = cluster_pod(&f->c, "bar", "", "");
    elsewhere.meta.namespace = STR("ns1");
    expect(f, &elsewhere, "a");
    check(f, "other", "");
    expect(f, &bar, "a"); /* the same UID */
    check(f, "other", "");
    assert_int_equal(cache_stats(f->c.cache).flights, 1);
}

static void expecting_again_replaces(void **state) {
    struct fixture *f = *state;
    expect(f, &f->pod, "a b x");
    expect(f, &f->pod, "b");
    check(f, "other", "(b)");
}

static void apply(struct fixture *f, const char *node, bool finished, bool terminating) {
    struct object seen = {.kind = OBJECT_POD, .pod = f->pod};
    seen.pod.node_name = str_of(node);
    seen.pod.finished = finished;
    seen.pod.meta.terminating = terminating;
    cluster_apply(&f->c, &seen);
}

static void it_ends_when_the_pod_lands_or_ends(void **state) {
    struct fixture *f = *state;
    expect(f, &f->pod, "a b");
    apply(f, "", false, false); /* still pending */
    check(f, "other", "(ab)");
    apply(f, "a", false, false);
    check(f, "other", "");
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "a"), 1);
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    expect(f, &f->pod, "a b");
    apply(f, "", true, false);
    check(f, "other", "");
    expect(f, &f->pod, "a b");
    apply(f, "", false, true);
    check(f, "other", "");
    expect(f, &f->pod, "a b");
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    check(f, "other", "");
}

static void release_and_time_end_it(void **state) {
    struct fixture *f = *state;
    expect(f, &f->pod, "a");
    cache_write_begin(f->c.cache);
    cache_release(f->c.cache, &f->pod.meta);
    cache_write_end(f->c.cache);
    check(f, "other", "");
    expect(f, &f->pod, "a");
    for (int i = 0; i < 2; i++) {
        check(f, "other", "(a)");
        atomic_fetch_add(&f->c.clock.at_ms, i == 0 ? 999 : 1);
        cache_write_begin(f->c.cache);
        cache_expire(f->c.cache);
        cache_write_end(f->c.cache);
    }
    check(f, "other", "");
}

static void binding_reserves_by_uid(void **state) {
    struct fixture *f = *state;
    const struct object_meta known = {
        .name = f->pod.meta.name, .namespace = STR("default"), .uid = f->pod.meta.uid};
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve_expected(f->c.cache, &known, STR("a")), -ENOENT);
    cache_write_end(f->c.cache);
    expect(f, &f->pod, "a b");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve_expected(f->c.cache, &known, STR("nowhere")), -ENOENT);
    assert_int_equal(cache_reserve_expected(f->c.cache, &known, STR("b")), 0);
    cache_write_end(f->c.cache);
    check(f, "other", "");
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "b"), 1); /* labels and all */
    assert_int_equal(cache_stats(f->c.cache).reservations, 1);
}

/* What it was decided on has not come to pass. */
static void a_doubted_flight_is_not_reserved(void **state) {
    struct fixture *f = *state;
    struct pod elsewhere = cluster_pod(&f->c, "foo", "", "");
    elsewhere.meta.uid = STR("far");
    elsewhere.meta.namespace = STR("elsewhere");
    expect(f, &f->pod, "a b");
    expect(f, &elsewhere, "a b");
    cache_write_begin(f->c.cache);
    cache_doubt_expected(f->c.cache, STR("default"));
    assert_int_equal(cache_reserve_expected(f->c.cache, &f->pod.meta, STR("b")), -ESTALE);
    assert_int_equal(cache_reserve_expected(f->c.cache, &elsewhere.meta, STR("b")), 0);
    cache_write_end(f->c.cache);
    check(f, "other", "(ab)");
    expect(f, &f->pod, "a b"); /* decided anew */
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve_expected(f->c.cache, &f->pod.meta, STR("b")), 0);
    cache_write_end(f->c.cache);
}

/* A slot that another node gets must not inherit the flights of the first. */
static void a_node_that_goes_takes_its_flights(void **state) {
    struct fixture *f = *state;
    expect(f, &f->pod, "a x");
    cluster_remove(&f->c, &f->c.nodes[0]);
    check(f, "other", "(x)");
    cluster_nodes(&f->c, "b a"); /* a may have the old slot */
    check(f, "other", "(x)");
}

static void they_are_bounded(void **state) {
    struct fixture *f = *state;
    char uids[LIMIT_FLIGHTS + 10][8];
    for (size_t i = 0; i < LIMIT_FLIGHTS + 10; i++) {
        struct pod pod = f->pod;
        (void)snprintf(uids[i], sizeof uids[i], "%zu", i);
        pod.meta.uid = str_of(uids[i]);
        atomic_fetch_add(&f->c.clock.at_ms, i < 10); /* the first ten would end first */
        expect(f, &pod, "a");
    }
    assert_int_equal(cache_stats(f->c.cache).flights, LIMIT_FLIGHTS);
    atomic_fetch_add(&f->c.clock.at_ms, 1000 - 1);
    cache_write_begin(f->c.cache);
    cache_expire(f->c.cache);
    cache_write_end(f->c.cache);
    assert_int_equal(cache_stats(f->c.cache).flights, LIMIT_FLIGHTS); /* those are gone already */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_flight_counts_nowhere_but_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(only_matching_pods_of_the_namespace_are_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(expecting_again_replaces, setup, teardown),
        cmocka_unit_test_setup_teardown(it_ends_when_the_pod_lands_or_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(release_and_time_end_it, setup, teardown),
        cmocka_unit_test_setup_teardown(binding_reserves_by_uid, setup, teardown),
        cmocka_unit_test_setup_teardown(a_doubted_flight_is_not_reserved, setup, teardown),
        cmocka_unit_test_setup_teardown(a_node_that_goes_takes_its_flights, setup, teardown),
        cmocka_unit_test_setup_teardown(they_are_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
