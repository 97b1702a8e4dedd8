/* Flights: pods that may land on any of several nodes, and nobody knows yet on which. */
#include "cache/internal.h"
#include "unit/cache/incoming.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

static void expect(struct incoming *f, const struct pod *pod, const char *nodes) {
    struct str names[8], rest = str_of(nodes);
    uint32_t count = 0;
    while (next_word(&rest, " ", &names[count]))
        count++;
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_expect(f->c.cache, pod, names, count, cache_doubts(f->c.cache)), 0);
    cache_write_end(f->c.cache);
}

struct seen {
    const struct cache_view *view;
    char text[64];
    size_t n;
};

static bool may_land(const struct flight_nodes *nodes, uint32_t words, uint32_t slot) {
    return slot / 64 < words &&
           ((nodes[slot / 64].passed | nodes[slot / 64].unclear) >> slot % 64 & 1) != 0;
}

static int see(void *ctx, const struct flight_nodes *nodes, uint32_t words) {
    struct seen *seen = ctx;
    assert_true(seen->n + sizeof "(abx)" <= sizeof seen->text);
    seen->text[seen->n++] = '(';
    for (const char *name = "abx"; *name != '\0'; name++) {
        uint32_t slot = topology_find(&seen->view->nodes, (struct str){name, 1});
        if (slot != TOPOLOGY_NONE && may_land(nodes, words, slot))
            seen->text[seen->n++] = *name;
    }
    seen->text[seen->n++] = ')';
    return 0;
}

/* Which flights a pod of this UID sees in "default": "(ab)(x)". */
static void check(struct incoming *f, const char *uid, const char *want) {
    const struct object_meta but = {.uid = str_of(uid)};
    const struct flight_question question = {STR("default"), &f->foo, &but};
    struct cache_view view;
    struct seen seen = {.view = &view};
    cache_view_open(f->c.cache, &view);
    assert_int_equal(cache_flights(&view, &question, see, &seen), 0);
    cache_view_close(&view);
    assert_string_equal(seen.text, want);
}

static void a_flight_counts_nowhere_but_is_told(void **state) {
    struct incoming *f = *state;
    expect(f, &f->pod, "a x");
    assert_int_equal(probe_total(f->c.cache, "default", &f->foo), 0);
    check(f, "other", "(ax)");
    check(f, "incoming", ""); /* not to itself */
    assert_int_equal(cache_stats(f->c.cache).flights, 1);
    assert_int_equal(cache_stats(f->c.cache).pods, 0);
}

static void only_matching_pods_of_the_namespace_are_told(void **state) {
    struct incoming *f = *state;
    struct pod elsewhere = f->pod, bar = cluster_pod(&f->c, "bar", "", "");
    elsewhere.meta.namespace = STR("ns1");
    expect(f, &elsewhere, "a");
    check(f, "other", "");
    expect(f, &bar, "a"); /* the same UID */
    check(f, "other", "");
    assert_int_equal(cache_stats(f->c.cache).flights, 1);
}

static void expecting_again_replaces(void **state) {
    struct incoming *f = *state;
    expect(f, &f->pod, "a b x");
    expect(f, &f->pod, "b");
    check(f, "other", "(b)");
}

static void it_ends_when_the_pod_lands_or_ends(void **state) {
    struct incoming *f = *state;
    expect(f, &f->pod, "a b");
    incoming_seen(f, "", false, false); /* still pending */
    check(f, "other", "(ab)");
    incoming_seen(f, "a", false, false);
    check(f, "other", "");
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "a"), 1);
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    expect(f, &f->pod, "a b");
    incoming_seen(f, "", true, false);
    check(f, "other", "");
    expect(f, &f->pod, "a b");
    incoming_seen(f, "", false, true);
    check(f, "other", "");
    expect(f, &f->pod, "a b");
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    check(f, "other", "");
}

static void release_and_time_end_it(void **state) {
    struct incoming *f = *state;
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

/* ---- bindings ---- */

static int begin(struct incoming *f, const struct object_meta *pod, const char *node) {
    cache_write_begin(f->c.cache);
    int r = cache_bind_begin(f->c.cache, pod, str_of(node));
    cache_write_end(f->c.cache);
    return r;
}

static void end(struct incoming *f, enum cache_bound outcome) {
    cache_write_begin(f->c.cache);
    cache_bind_end(f->c.cache, &f->pod.meta, outcome);
    cache_write_end(f->c.cache);
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

static void binding_counts_by_uid(void **state) {
    struct incoming *f = *state;
    const struct object_meta known = {
        .name = f->pod.meta.name, .namespace = STR("default"), .uid = f->pod.meta.uid};
    assert_int_equal(begin(f, &known, "a"), -ENOENT);
    expect(f, &f->pod, "a b");
    assert_int_equal(begin(f, &known, "nowhere"), -ENXIO);
    assert_int_equal(begin(f, &known, "x"), -EINVAL); /* filter did not leave it */
    assert_int_equal(begin(f, &known, "b"), 0);
    check(f, "other", "");
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "b"), 1); /* labels and all */
    assert_int_equal(cache_stats(f->c.cache).reservations, 1);
}

/* What it was decided on has not come to pass. */
static void a_doubted_flight_is_not_bound(void **state) {
    struct incoming *f = *state;
    struct pod elsewhere = cluster_pod(&f->c, "foo", "", "");
    elsewhere.meta.uid = STR("far");
    elsewhere.meta.namespace = STR("elsewhere");
    expect(f, &f->pod, "a b");
    expect(f, &elsewhere, "a b");
    cache_write_begin(f->c.cache);
    cache_doubt_expected(f->c.cache, STR("default"));
    cache_write_end(f->c.cache);
    assert_int_equal(begin(f, &f->pod.meta, "b"), -ESTALE);
    assert_int_equal(begin(f, &elsewhere.meta, "b"), 0);
    check(f, "other", "(ab)");
    expect(f, &f->pod, "a b"); /* decided anew */
    assert_int_equal(begin(f, &f->pod.meta, "b"), 0);
}

/* Judged before a binding failed, and noted after: the verdict is as old as the judgement. */
static void a_doubt_between_verdict_and_note_counts(void **state) {
    struct incoming *f = *state;
    const struct str nodes[] = {STR("a")};
    uint64_t doubts = cache_doubts(f->c.cache);
    cache_write_begin(f->c.cache);
    cache_doubt_expected(f->c.cache, STR("default"));
    assert_int_equal(cache_expect(f->c.cache, &f->pod, nodes, 1, doubts), 0);
    cache_write_end(f->c.cache);
    assert_int_equal(begin(f, &f->pod.meta, "a"), -ESTALE);
}

static void one_binding_at_a_time(void **state) {
    struct incoming *f = *state;
    expect(f, &f->pod, "a b");
    assert_int_equal(begin(f, &f->pod.meta, "b"), 0);
    expect(f, &f->pod, "a b");
    assert_int_equal(begin(f, &f->pod.meta, "a"), -EBUSY);
    assert_int_equal(begin(f, &f->pod.meta, "b"), -EBUSY);
    check(f, "other", "(ab)");
    end(f, CACHE_BOUND);
    check(f, "other", ""); /* it can land nowhere else */
    expect(f, &f->pod, "a b");
    check(f, "other", "");
    assert_int_equal(begin(f, &f->pod.meta, "a"), -EBUSY);
    assert_int_equal(begin(f, &f->pod.meta, "b"), 0); /* it is there: as often as is asked */
    end(f, CACHE_NOT_BOUND);
    assert_int_equal(probe_count(f->c.cache, "default", &f->foo, "b"), 1);
}

static void maybe_bound(struct incoming *f, const char *node) {
    expect(f, &f->pod, "a b x");
    assert_int_equal(begin(f, &f->pod.meta, node), 0);
    end(f, CACHE_MAYBE_BOUND);
}

/* Nobody knows the outcome: it may be on that node, and may not. */
static void what_may_be_bound_is_in_flight(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    assert_int_equal(probe_total(f->c.cache, "default", &f->foo), 0);
    assert_int_equal(cache_stats(f->c.cache).reservations, 0);
    check(f, "other", "(b)");
    check(f, "incoming", "");
    release(f); /* what filter said of it has nothing to do with that */
    check(f, "other", "(b)");
    assert_int_equal(begin(f, &f->pod.meta, "b"), -ENOENT);
    expect(f, &f->pod, "a x");
    check(f, "other", "(abx)");
    assert_int_equal(begin(f, &f->pod.meta, "b"), -EINVAL);
    assert_int_equal(begin(f, &f->pod.meta, "a"), 0);
    check(f, "other", "(b)"); /* and it counts on a */
    end(f, CACHE_MAYBE_BOUND);
    check(f, "other", "(ab)");
}

static void what_may_be_bound_is_so_until_it_is_known(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    incoming_seen(f, "", false, false); /* still pending: says nothing */
    check(f, "other", "(b)");
    incoming_seen(f, "a", false, false);
    check(f, "other", "");
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    maybe_bound(f, "b");
    cluster_remove(&f->c, &(struct object){.kind = OBJECT_POD, .pod = f->pod});
    check(f, "other", "");
    maybe_bound(f, "b");
    expect(f, &f->pod, "x");
    assert_int_equal(begin(f, &f->pod.meta, "x"), 0);
    end(f, CACHE_BOUND);
    check(f, "other", "");
}

/* A watch that is silent shows nobody's binding: the time does not run. */
static void what_may_be_bound_runs_out_by_what_was_seen(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    expect(f, &f->pod, "a");
    expire(f, 999);
    check(f, "other", "(ab)");
    expire(f, 1);
    check(f, "other", "");
    cache_heard(f->c.cache, OBJECT_POD, f->c.clock.at_ms);
    maybe_bound(f, "b");
    expect(f, &f->pod, "a");
    expire(f, 5000);
    check(f, "other", "(b)");
    cache_heard(f->c.cache, OBJECT_POD, f->c.clock.at_ms - 4001);
    expire(f, 0);
    check(f, "other", "(b)");
    cache_heard(f->c.cache, OBJECT_POD, f->c.clock.at_ms - 4000);
    expire(f, 0);
    check(f, "other", "");
}

/* Nodes that came after the flight have slots that it has no room for. */
static void it_may_be_bound_to_a_newer_node(void **state) {
    struct incoming *f = *state;
    char names[64 * 8], *at = names;
    expect(f, &f->pod, "a");
    assert_int_equal(begin(f, &f->pod.meta, "a"), 0);
    end(f, CACHE_MAYBE_BOUND);
    for (int i = 0; i < 70; i++)
        at += snprintf(at, (size_t)(names + sizeof names - at), "c%d ", i);
    cluster_nodes(&f->c, names);
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve(f->c.cache, &f->pod, STR("c69")), 0);
    cache_write_end(f->c.cache);
    assert_int_equal(begin(f, &f->pod.meta, "c69"), 0);
    end(f, CACHE_MAYBE_BOUND);
    check(f, "other", "(a)");
    cluster_remove(&f->c, &f->c.nodes[0]);
    check(f, "other", "()");
}

/* A slot that another node gets must not inherit the flights of the first. */
static void a_node_that_goes_takes_its_flights(void **state) {
    struct incoming *f = *state;
    expect(f, &f->pod, "a x");
    cluster_remove(&f->c, &f->c.nodes[0]);
    check(f, "other", "(x)");
    cluster_nodes(&f->c, "b a"); /* a may have the old slot */
    check(f, "other", "(x)");
}

static void they_are_bounded(void **state) {
    struct incoming *f = *state;
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

/* Room is made by forgetting what filter said, never by forgetting what may be bound. */
static void what_may_be_bound_makes_no_room(void **state) {
    struct incoming *f = *state;
    char uids[LIMIT_FLIGHTS][8];
    maybe_bound(f, "b");
    for (size_t i = 0; i < LIMIT_FLIGHTS; i++) {
        struct pod pod = f->pod;
        (void)snprintf(uids[i], sizeof uids[i], "%zu", i);
        pod.meta.uid = str_of(uids[i]);
        pod.meta.namespace = STR("elsewhere");
        expect(f, &pod, "a");
    }
    assert_int_equal(cache_stats(f->c.cache).flights, LIMIT_FLIGHTS);
    check(f, "other", "(b)");
}

/* Other pods of the namespace, which no check() asks about, as many as are kept. */
static void fill_up(struct incoming *f) {
    char uids[LIMIT_FLIGHTS][8];
    struct pod other = cluster_pod(&f->c, "bar", "", "");
    for (size_t i = 0; i < LIMIT_FLIGHTS; i++) {
        (void)snprintf(uids[i], sizeof uids[i], "%zu", i);
        other.meta.uid = str_of(uids[i]);
        expect(f, &other, "a");
    }
    assert_int_equal(cache_stats(f->c.cache).flights, LIMIT_FLIGHTS);
}

/* ... whoever asks for room, also of its own namespace, and whatever filter says of the pod since.
 */
static void what_may_be_bound_stays_among_its_own(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    expire(f, 1);
    fill_up(f);
    check(f, "other", "(b)");
}

static void what_may_be_bound_stays_when_it_is_expected_again(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    expect(f, &f->pod, "x");
    check(f, "other", "(bx)");
    expire(f, 1); /* the others end later, so it would be the first to go */
    fill_up(f);
    check(f, "other", "(bx)");
}

/* Once its time is over it is what filter said, and makes room as that does. */
static void what_was_unclear_makes_room_again(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    expire(f, 500);
    expect(f, &f->pod, "x");
    expire(f, 500);
    check(f, "other", "(x)");
    fill_up(f);
    check(f, "other", "");
}

/* Certain: it counts there, and is in flight no more. */
static void a_pod_that_is_reserved_is_in_no_flight(void **state) {
    struct incoming *f = *state;
    expect(f, &f->pod, "a x");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve(f->c.cache, &f->pod, STR("nowhere")), -ENOENT);
    cache_write_end(f->c.cache);
    check(f, "other", "(ax)");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve(f->c.cache, &f->pod, STR("a")), 0);
    cache_write_end(f->c.cache);
    check(f, "other", "");
    assert_int_equal(cache_stats(f->c.cache).flights, 0);
    assert_int_equal(probe_total(f->c.cache, "default", &f->foo), 1);
}

/* A node that goes takes what may be bound there, too; another one may get its slot. */
static void a_slot_has_no_flights_of_the_node_before(void **state) {
    struct incoming *f = *state;
    maybe_bound(f, "b");
    expect(f, &f->pod, "b");
    check(f, "other", "(b)");
    cluster_remove(&f->c, &f->c.nodes[1]);
    check(f, "other", "()");
    cluster_nodes(&f->c, "b");
    check(f, "other", "()");
}

/* A doubt about another namespace takes nothing back. */
static void a_doubt_stays(void **state) {
    static const char *const doubts[] = {"default", "other"};
    struct incoming *f = *state;
    expect(f, &f->pod, "a x");
    for (size_t i = 0; i < 2; i++) {
        cache_write_begin(f->c.cache);
        cache_doubt_expected(f->c.cache, str_of(doubts[i]));
        cache_write_end(f->c.cache);
        assert_int_equal(begin(f, &f->pod.meta, "a"), -ESTALE);
    }
}

static int see_slot(void *ctx, const struct flight_nodes *nodes, uint32_t words) {
    uint32_t *slot = ctx; /* TOPOLOGY_NONE once it was seen */
    if (may_land(nodes, words, *slot))
        *slot = TOPOLOGY_NONE;
    return 0;
}

/* Of a flight from before a node came: it may be bound there all the same, and costs what it then
 * takes. */
static void nodes_that_came_since_have_room_in_it(void **state) {
    enum { MORE = 130 };
    struct incoming *f = *state;
    uint64_t before = 0;
    expect(f, &f->pod, "a");
    assert_int_equal(begin(f, &f->pod.meta, "a"), 0);
    end(f, CACHE_MAYBE_BOUND);
    for (int i = 0; i < MORE; i++) {
        char name[8];
        uint32_t slot;
        struct cache_view view;
        const struct object_meta but = {.uid = STR("other")};
        const struct flight_question question = {STR("default"), &f->foo, &but};
        (void)snprintf(name, sizeof name, "d%d", i);
        struct object node = {.kind = OBJECT_NODE, .node = {.meta = {.name = str_of(name)}}};
        cluster_apply(&f->c, &node);
        before = f->c.cache->flights_kept.all.cost.bytes;
        cache_write_begin(f->c.cache);
        assert_int_equal(cache_reserve(f->c.cache, &f->pod, str_of(name)), 0);
        cache_write_end(f->c.cache);
        assert_int_equal(begin(f, &f->pod.meta, name), 0);
        end(f, CACHE_MAYBE_BOUND);
        cache_view_open(f->c.cache, &view);
        slot = topology_find(&view.nodes, str_of(name));
        const bool grew = slot % 64 == 0;
        assert_int_equal(cache_flights(&view, &question, see_slot, &slot), 0);
        cache_view_close(&view);
        assert_int_equal(slot, TOPOLOGY_NONE);
        assert_int_equal(f->c.cache->flights_kept.all.cost.bytes - before,
                         grew ? sizeof(struct flight_nodes) : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_flight_counts_nowhere_but_is_told, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(only_matching_pods_of_the_namespace_are_told,
                                        incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(expecting_again_replaces, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(it_ends_when_the_pod_lands_or_ends, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(release_and_time_end_it, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(binding_counts_by_uid, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(a_doubted_flight_is_not_bound, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(a_doubt_between_verdict_and_note_counts, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(one_binding_at_a_time, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(what_may_be_bound_is_in_flight, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(what_may_be_bound_is_so_until_it_is_known, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(what_may_be_bound_runs_out_by_what_was_seen, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(it_may_be_bound_to_a_newer_node, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(what_may_be_bound_makes_no_room, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(a_node_that_goes_takes_its_flights, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(they_are_bounded, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(what_may_be_bound_stays_among_its_own, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(what_may_be_bound_stays_when_it_is_expected_again,
                                        incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(what_was_unclear_makes_room_again, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(a_pod_that_is_reserved_is_in_no_flight, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(a_slot_has_no_flights_of_the_node_before, incoming_setup,
                                        incoming_teardown),
        cmocka_unit_test_setup_teardown(a_doubt_stays, incoming_setup, incoming_teardown),
        cmocka_unit_test_setup_teardown(nodes_that_came_since_have_room_in_it, incoming_setup,
                                        incoming_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
