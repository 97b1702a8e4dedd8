/* The domains of hard constraints, reported for explaining: counts, which are allowed, and what
 * became of their nodes. Expectations are counted by hand. */
#include "explain/domains.h"

#include "unit/cluster_builder.h"

struct fixture {
    struct cluster c;
    struct ordered_rule rule;
    struct filter_result result;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    cluster_open(&f.c);
    f.c.options.reports = true;
    f.c.options.filters = FILTERS_ALL;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static void filter(struct fixture *f, const char *constraints) {
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"o", 1}, {"x", 1}, {"y", 1}};
    static const struct candidates candidates = {names, 5};
    struct pod pod = cluster_pod(&f->c, "foo", constraints, "");
    struct err err = {0};
    if (engine_filter(&f->c.options, f->c.cache, &pod, &candidates, &f->c.arena, &f->result,
                      &err) != 0)
        fail_msg("%s", err.text);
}

static void assert_domain(const struct fixture *f, uint32_t constraint, uint32_t i,
                          struct domain_report expected) {
    assert_true(i < f->result.applied[constraint].report_count);
    const struct domain_report *d = &f->result.applied[constraint].reports[i];
    assert_str(d->name, expected.name.p);
    assert_int_equal(d->pods, expected.pods);
    assert_int_equal(d->counts, expected.counts);
    assert_int_equal(d->allowed, expected.allowed);
    assert_int_equal(d->nodes, expected.nodes);
    assert_int_equal(d->passed, expected.passed);
}

static void assert_sentence(const struct fixture *f, uint32_t constraint, const char *expected) {
    struct strbuf text = {0};
    domains_say(&f->result, &f->result.applied[constraint], &text);
    assert_str(strbuf_str(&text), expected);
    strbuf_done(&text);
}

static void full_and_cordoned(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b x,! y,! o");
    cluster_pods(&f->c, "a:2 b:1 o:3");
    filter(f, "1/zone/foo");
    assert_int_equal(f->result.known, 5);
    assert_int_equal(f->result.applied[0].report_count, 3);
    assert_domain(f, 0, 0, (struct domain_report){{"zone2", 5}, 0, true, true, 2, 0, {{0}}, 0});
    assert_domain(f, 0, 1, (struct domain_report){{"zone1", 5}, 3, true, false, 2, 0, {{0}}, 0});
    assert_domain(f, 0, 2, (struct domain_report){{"zone3", 5}, 3, true, false, 1, 0, {{0}}, 0});
    assert_sentence(f, 0,
                    "allowed: zone2; their 2 nodes are not offered by kube-scheduler: 2 with a "
                    "taint that the pod does not tolerate");
}

static void some_pass(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b x y,! o,-zone");
    cluster_pods(&f->c, "a:1");
    filter(f, "1/zone/foo");
    assert_int_equal(f->result.applied[0].report_count, 2);
    assert_domain(f, 0, 0, (struct domain_report){{"zone2", 5}, 0, true, true, 2, 1, {{0}}, 0});
    assert_sentence(f, 0,
                    "allowed: zone2; 1 of their 2 nodes not offered by kube-scheduler: 1 with a "
                    "taint that the pod does not tolerate; 1 of their 2 nodes passed");
}

static void tainted_nodes_may_not_count(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b x,! y,!");
    cluster_pods(&f->c, "a:2");
    filter(f, "1/zone/foo,taints=Honor");
    assert_domain(f, 0, 0, (struct domain_report){{"zone2", 5}, 0, false, true, 2, 0, {{0}}, 0});
    assert_domain(f, 0, 1, (struct domain_report){{"zone1", 5}, 2, true, true, 2, 2, {{0}}, 0});
}

static void no_node_has_the_label(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b");
    filter(f, "1/rack/foo");
    assert_sentence(f, 0, "no domain is allowed: no node has the label");
}

/* A region with two zones and one with one: the fuller region is not allowed, and neither are its
 * zones, however empty one of them is. */
static void ordered_terms(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a,+region=r1,+z=1 b,+region=r1,+z=2 x,+region=r2,+z=1,! "
                         "y,+region=r2,+z=1,! o,+region=r2,+z=1,!");
    cluster_pods(&f->c, "a:2 x:1");
    f->rule = (struct ordered_rule){
        .name = STR("web"),
        .pods = cluster_selector(
            &f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}")};
    f->rule.terms = cluster_constraints(&f->c, "1/region/nil 1/z/nil", &f->rule.term_count);
    f->c.options.ordered_rules = &f->rule;
    f->c.options.ordered_rule_count = 1;
    filter(f, "");
    assert_int_equal(f->result.applied_count, 2);
    assert_domain(f, 0, 0, (struct domain_report){{"r2", 2}, 1, true, true, 3, 0, {{0}}, 0});
    assert_domain(f, 0, 1, (struct domain_report){{"r1", 2}, 2, true, false, 2, 0, {{0}}, 0});
    assert_domain(f, 1, 0, (struct domain_report){{"r2/1", 4}, 1, true, true, 3, 0, {{0}}, 0});
    assert_domain(f, 1, 1, (struct domain_report){{"r1/2", 4}, 0, true, false, 1, 0, {{0}}, 0});
    assert_domain(f, 1, 2, (struct domain_report){{"r1/1", 4}, 2, true, false, 1, 0, {{0}}, 0});
    assert_sentence(f, 0,
                    "allowed: r2; their 3 nodes are not offered by kube-scheduler: 3 with a taint "
                    "that the pod does not tolerate");
}

static void costs_nothing_unless_asked_for(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b");
    f->c.options.reports = false;
    filter(f, "1/zone/foo");
    assert_null(f->result.applied[0].reports);
    assert_sentence(f, 0, "");
}

/* What takes too many steps is left out; the verdicts stand. */
static void steps_run_out(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a b x y o");
    f->c.options.max_steps = 150;
    filter(f, "1/zone/foo");
    assert_null(f->result.applied[0].reports);
    assert_int_equal(f->result.verdicts[0], VERDICT_PASS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(full_and_cordoned, setup, teardown),
        cmocka_unit_test_setup_teardown(some_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(tainted_nodes_may_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(no_node_has_the_label, setup, teardown),
        cmocka_unit_test_setup_teardown(ordered_terms, setup, teardown),
        cmocka_unit_test_setup_teardown(costs_nothing_unless_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_run_out, setup, teardown),
    };
    return CLUSTER_RUN_TESTS("explain/domains", tests);
}
