/*
 * Pods in flight under hard constraints: while nobody knows where they land, they count wherever
 * they may, and never for the emptiest domain. Nodes a and b are in zone1, x and y in zone2.
 */
#include "unit/cluster_builder.h"

#include <stdio.h>

struct fixture {
    struct cluster c;
    struct ordered_rule rule;
};

static int setup(void **state) {
    static struct fixture f;
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a b x y");
    f.c.options.count_flights = true;
    f.c.options.ordered_rules = &f.rule;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static uint32_t split(const char *text, struct str names[8]) {
    struct str rest = str_of(text);
    uint32_t count = 0;
    while (next_word(&rest, " ", &names[count]))
        count++;
    return count;
}

static void expect(struct fixture *f, const char *uid, const char *nodes) {
    struct str names[8];
    uint32_t count = split(nodes, names);
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    pod.meta.uid = str_of(uid);
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_expect(f->c.cache, &pod, names, count, 0), 0);
    cache_write_end(f->c.cache);
}

/* Verdicts for a b x y, "SSUR", and the reason of the first that is not S. */
static void check(struct fixture *f, const struct pod *pod, const char *want, const char *reason) {
    struct str names[8], said = STR("");
    struct candidates candidates = {names, split("a b x y", names)};
    struct filter_result result;
    struct err err;
    char got[5] = {0};
    if (engine_filter(&f->c.options, f->c.cache, pod, &candidates, &f->c.arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < 4; i++) {
        got[i] = "SUR"[result.verdicts[i]];
        if (said.n == 0)
            said = result.reason_texts[result.reasons[i]];
    }
    assert_string_equal(got, want);
    assert_str(said, reason);
}

static void a_flight_fills_every_domain_it_may_land_in(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    check(f, &pod, "SSSS", "");
    expect(f, "p1", "a b");
    check(f, &pod, "RRSS", "waiting for pods in flight on zone");
    expect(f, "p1", "b x");
    check(f, &pod, "RRRR", "waiting for pods in flight on zone");
}

static void one_flight_counts_once_in_a_domain(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "2/zone/foo", "");
    expect(f, "p1", "a b");
    check(f, &pod, "SSSS", "");
    expect(f, "p2", "a");
    check(f, &pod, "RRSS", "waiting for pods in flight on zone");
}

static void a_flight_never_raises_the_minimum(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    cluster_pods(&f->c, "a:1");
    expect(f, "p1", "x"); /* when it lands, zone1 is free again; not before */
    check(f, &pod, "UURR", "over maxSkew on zone");
}

static void other_groups_and_the_pod_itself_do_not_matter(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    struct pod bar = cluster_pod(&f->c, "bar", "1/zone/bar", "");
    expect(f, "incoming", "a b x y");
    check(f, &pod, "SSSS", "");
    expect(f, "p1", "a b x y");
    check(f, &bar, "SSSS", "");
}

/* Its binding is under way, and kube-scheduler asks again: it is not held against the pod. */
static void its_own_reservation_does_not_matter(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    struct pod other = pod;
    other.meta.uid = STR("other");
    cluster_pods(&f->c, "b:1 x:1");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_reserve(f->c.cache, &pod, STR("a")), 0);
    cache_write_end(f->c.cache);
    check(f, &pod, "SSSS", "");
    check(f, &other, "UUSS", "over maxSkew on zone");
    f->rule = (struct ordered_rule){
        .pods = cluster_selector(
            &f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}")};
    f->rule.terms = cluster_constraints(&f->c, "1/zone/nil", &f->rule.term_count);
    f->c.options.ordered_rule_count = 1;
    pod = cluster_pod(&f->c, "foo", "", "");
    check(f, &pod, "SSSS", "");
}

static void switched_off_they_are_not_seen(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    f->c.options.count_flights = false;
    expect(f, "p1", "a b x y");
    check(f, &pod, "SSSS", "");
}

static void nodes_that_do_not_count_carry_no_flights(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo,taints=Honor", "");
    cluster_nodes(&f->c, "b,!");
    expect(f, "p1", "b");
    check(f, &pod, "SSSS", "");
}

static void ordered_terms_count_them_too(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    f->rule = (struct ordered_rule){
        .pods = cluster_selector(
            &f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}")};
    f->rule.terms = cluster_constraints(&f->c, "1/zone/nil 1/node/nil", &f->rule.term_count);
    f->c.options.ordered_rule_count = 1;
    check(f, &pod, "SSSS", "");
    expect(f, "p1", "a b");
    check(f, &pod, "RRSS", "waiting for pods in flight on zone (ordered)");
    cluster_pods(&f->c, "x:1");
    expect(f, "p1", "a");
    check(f, &pod, "RRUU", "waiting for pods in flight on zone (ordered)");
}

/* A pod in flight over several nodes of a domain counts there once, under every term. */
static void one_flight_counts_once_in_an_ordered_domain(void **state) {
    struct fixture *f = *state;
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    f->rule = (struct ordered_rule){
        .pods = cluster_selector(
            &f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}")};
    f->rule.terms = cluster_constraints(&f->c, "2/zone/nil", &f->rule.term_count);
    f->c.options.ordered_rule_count = 1;
    expect(f, "p1", "a b");
    check(f, &pod, "SSSS", "");
    expect(f, "p2", "b");
    check(f, &pod, "RRSS", "waiting for pods in flight on zone (ordered)");
    expect(f, "p2", "x");
    check(f, &pod, "SSSS", "");
}

/* A domain that pods in flight have filled is reported as one that lets no pod in. */
static void reports_know_of_flights(void **state) {
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"x", 1}, {"y", 1}};
    struct fixture *f = *state;
    struct filter_result result;
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", "");
    expect(f, "p1", "a b");
    f->c.options.reports = true;
    assert_int_equal(engine_filter(&f->c.options, f->c.cache, &pod, &(struct candidates){names, 4},
                                   &f->c.arena, &result, NULL),
                     0);
    assert_int_equal(result.applied_count, 1);
    assert_int_equal(result.applied[0].report_count, 2);
    for (uint32_t i = 0; i < 2; i++) { /* the allowed ones first */
        const struct domain_report *r = &result.applied[0].reports[i];
        assert_str(r->name, i == 0 ? "zone2" : "zone1");
        assert_int_equal(r->allowed, i == 0);
        assert_int_equal(r->pods, 0);
        assert_int_equal(r->nodes, 2);
        assert_int_equal(r->passed, i == 0 ? 2 : 0);
    }
}

/* The domains of a flight are those of all its nodes, also of the last of many. */
static void a_flight_over_many_nodes(void **state) {
    enum { NODES = 70 };
    struct fixture *f = *state;
    static char texts[NODES][8];
    static struct str names[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        char json[200];
        (void)snprintf(texts[i], sizeof texts[i], "m%u", i);
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"m%u\",\"labels\":{\"zone\":\"%s\"}}}", i,
                       i == NODES - 1 ? "zone2" : "zone1");
        cluster_apply_json(&f->c, OBJECT_NODE, json);
        names[i] = str_of(texts[i]);
    }
    struct pod pod = cluster_pod(&f->c, "foo", "1/zone/foo", ""), other = pod;
    other.meta.uid = STR("other");
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_expect(f->c.cache, &other, names, NODES, 0), 0);
    cache_write_end(f->c.cache);
    check(f, &pod, "RRRR", "waiting for pods in flight on zone");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_flight_fills_every_domain_it_may_land_in, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(one_flight_counts_once_in_a_domain, setup, teardown),
        cmocka_unit_test_setup_teardown(a_flight_never_raises_the_minimum, setup, teardown),
        cmocka_unit_test_setup_teardown(other_groups_and_the_pod_itself_do_not_matter, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(its_own_reservation_does_not_matter, setup, teardown),
        cmocka_unit_test_setup_teardown(switched_off_they_are_not_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_that_do_not_count_carry_no_flights, setup, teardown),
        cmocka_unit_test_setup_teardown(ordered_terms_count_them_too, setup, teardown),
        cmocka_unit_test_setup_teardown(one_flight_counts_once_in_an_ordered_domain, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(reports_know_of_flights, setup, teardown),
        cmocka_unit_test_setup_teardown(a_flight_over_many_nodes, setup, teardown),
    };
    return CLUSTER_RUN_TESTS("flights", tests);
}
