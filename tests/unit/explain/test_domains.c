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

/* ---- sentences, of reports that are written here ---- */

static const struct str said_texts[] = {{"", 0},
                                        {"node(s) were unschedulable", 26},
                                        {"Insufficient cpu", 16},
                                        {"over maxSkew on zone", 20},
                                        {"waiting for pods in flight on zone", 34},
                                        {"Too many pods", 13}};
enum { CORDONED = 1, CPU, SKEW, FLIGHT, PODS };

static void expect_sentence(const struct domain_report *reports, uint32_t count,
                            const char *expected) {
    const struct filter_result result = {.reason_texts = said_texts, .reason_count = 6};
    const struct applied_constraint applied = {.reports = reports, .report_count = count};
    struct strbuf text = {0};
    domains_say(&result, &applied, &text);
    assert_str(strbuf_str(&text), expected);
    strbuf_done(&text);
}

/* Six names at most, and of the domains that are not allowed, which stand behind, none. */
static void names_of_domains(void **state) {
    struct domain_report reports[8] = {
        {.name = STR("a"), .allowed = true}, {.name = STR("b"), .allowed = true},
        {.name = STR("c"), .allowed = true}, {.name = STR(""), .allowed = true},
        {.name = STR("e"), .allowed = true}, {.name = STR("f"), .allowed = true}};
    (void)state;
    reports[6].nodes = 3;
    reports[6].name = STR("full");
#define NO_NODES "; they have no nodes"
    expect_sentence(reports, 1, "allowed: a" NO_NODES);
    expect_sentence(reports, 7, "allowed: a, b, c, \"\", e, f" NO_NODES);
    reports[6] = (struct domain_report){.name = STR("g"), .allowed = true};
    expect_sentence(reports, 7, "allowed: a, b, c, \"\", e, f and 1 more" NO_NODES);
    reports[7] = reports[6];
    expect_sentence(reports, 8, "allowed: a, b, c, \"\", e, f and 2 more" NO_NODES);
    reports[0].allowed = false;
    expect_sentence(reports, 8, "no domain is allowed");
    expect_sentence(reports, 0, "no domain is allowed: no node has the label");
}

/* Of each side, kube-scheduler's and Evenkeel's, how many nodes, and the reasons of most. */
static void whose_reasons(void **state) {
    (void)state;
    struct domain_report d[] = {
        {.name = STR("a"), .allowed = true, .nodes = 4, .refused = {{CPU, 4}}, .refused_count = 1},
        {.name = STR("b"),
         .allowed = true,
         .nodes = 5,
         .refused = {{CORDONED, 3}, {CPU, 2}},
         .refused_count = 2},
        {.name = STR("c"), .nodes = 9, .refused = {{PODS, 9}}, .refused_count = 1},
    };
    expect_sentence(d, 3,
                    "allowed: a, b; their 9 nodes are not offered by kube-scheduler: 6 "
                    "Insufficient cpu, 3 cordoned");
    d[1].refused[0].reason = SKEW;
    expect_sentence(d, 3,
                    "allowed: a, b; 6 of their 9 nodes not offered by kube-scheduler: 6 "
                    "Insufficient cpu; 3 of their 9 nodes dropped: 3 over maxSkew on zone");
    d[0].refused[0].reason = d[1].refused[1].reason = FLIGHT;
    expect_sentence(d, 3,
                    "allowed: a, b; 9 of their 9 nodes dropped: 6 waiting for pods in flight on "
                    "zone, 3 over maxSkew on zone");
    d[1].refused_count = 1;
    d[1].passed = 2;
    expect_sentence(d, 3,
                    "allowed: a, b; 7 of their 9 nodes dropped: 4 waiting for pods in flight on "
                    "zone, 3 over maxSkew on zone; 2 of their 9 nodes passed");
    /* three reasons of a side at most; all their nodes count */
    const struct domain_report many = {.name = STR("a"),
                                       .allowed = true,
                                       .nodes = 10,
                                       .refused = {{CORDONED, 4}, {CPU, 3}, {PODS, 2}, {0, 0}},
                                       .refused_count = 3};
    expect_sentence(&many, 1,
                    "allowed: a; 9 of their 10 nodes not offered by kube-scheduler: 4 cordoned, 3 "
                    "Insufficient cpu, 2 with as many pods as it may have");
}

/* A hundred domains are reported one by one, and the others are counted. */
static void many_domains(void **state) {
    static struct domain_report reports[LIMIT_EXPLAINED_DOMAINS + 2];
    (void)state;
    for (uint32_t n = LIMIT_EXPLAINED_DOMAINS - 1; n <= LIMIT_EXPLAINED_DOMAINS + 2; n++) {
        const struct filter_result result = {.reason_texts = said_texts, .reason_count = 6};
        const struct applied_constraint applied = {.reports = reports, .report_count = n};
        struct strbuf text = {0};
        struct decision d = {.w.out = &text};
        uint32_t count = 0;
        decision_put_domains(&d, &result, &applied);
        strbuf_append_char(&text, '\0');
        for (const char *at = text.p; (at = strstr(at, "\"domain\":")) != NULL; at++)
            count++;
        assert_int_equal(count, n < LIMIT_EXPLAINED_DOMAINS ? n : LIMIT_EXPLAINED_DOMAINS);
        const char *left = strstr(text.p, "\"domainReportsLeftOut\":");
        assert_int_equal(
            left == NULL ? 0 : strtol(left + strlen("\"domainReportsLeftOut\":"), NULL, 10),
            n - count);
        strbuf_done(&text);
    }
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
        cmocka_unit_test(names_of_domains),
        cmocka_unit_test(whose_reasons),
        cmocka_unit_test(many_domains),
        cmocka_unit_test_setup_teardown(costs_nothing_unless_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_run_out, setup, teardown),
    };
    return CLUSTER_RUN_TESTS("explain/domains", tests);
}
