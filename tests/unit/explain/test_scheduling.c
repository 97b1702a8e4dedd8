/*
 * What is said of nodes that were dropped and of scores: how many of each, which are named, and in
 * which order. The results are written here by hand, as the engine would give them.
 */
#include "explain/scheduling.h"
#include "explain/scores.h"

#include "unit/unit.h"

#include <stdio.h>

static const struct str names[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
static const struct str reasons[] = {{"", 0}, {"one", 3}, {"two", 3}};
static const struct decision_about about = {
    .verb = "filter", .subject = {{"", 0}, {"Pod", 3}, {"shop", 4}, {"web", 3}}};

struct fixture {
    struct strbuf out;
    struct decision d;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.d = {.cut = false}};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->out);
    return 0;
}

static void begin(struct fixture *f, uint32_t nodes) {
    strbuf_clear(&f->out);
    decision_begin(&f->d, &f->out, &about, nodes);
}

/* All that is said must end with this. */
static void expect_end(struct fixture *f, const char *end) {
    decision_end(&f->d);
    if (!str_has_suffix(strbuf_str(&f->out), str_of(end)))
        fail_msg("'%.*s' does not end with '%s'", (int)f->out.n, f->out.p, end);
}

/* ---- nodes that were dropped ---- */

#define GROUP(verdict, reason, nodes, names)                                                       \
    "{\"verdict\":\"" verdict "\",\"reason\":\"" reason "\",\"nodes\":" nodes ",\"names\":[" names \
    "]}"

static void filter(struct fixture *f, uint32_t count, uint32_t named, const char *end) {
    static uint8_t verdicts[] = {VERDICT_UNSCHEDULABLE, VERDICT_PASS, VERDICT_UNRESOLVABLE,
                                 VERDICT_UNSCHEDULABLE, VERDICT_UNRESOLVABLE},
                   reason[] = {1, 0, 2, 1, 2};
    const struct candidates candidates = {names, count};
    const struct filter_result result = {.verdicts = verdicts,
                                         .reasons = reason,
                                         .reason_texts = reasons,
                                         .reason_count = 3,
                                         .known = 5};
    begin(f, named);
    decision_put_filter(&f->d, &candidates, &result);
    decision_put_offered(&f->d, &candidates, &result);
    expect_end(f, end);
}

/* Every node is counted once, whatever their number, and as many of each reason are named as may
 * be. */
static void every_node_is_counted(void **state) {
    struct fixture *f = *state;
    filter(f, 0, 5, "\"candidates\":0,\"passed\":0,\"dropped\":[],\"knownNodes\":5");
    filter(f, 1, 5,
           "\"candidates\":1,\"passed\":0,\"dropped\":[" GROUP("Unschedulable", "one", "1",
                                                               "\"a\"") "],\"knownNodes\":5");
    filter(f, 2, 5,
           "\"candidates\":2,\"passed\":1,\"dropped\":[" GROUP("Unschedulable", "one", "1",
                                                               "\"a\"") "],\"knownNodes\":5");
    filter(f, 3, 5,
           "\"candidates\":3,\"passed\":1,\"dropped\":[" GROUP(
               "Unschedulable", "one", "1", "\"a\"") "," GROUP("UnschedulableAndUnresolvable",
                                                               "two", "1",
                                                               "\"c\"") "],\"knownNodes\":5");
    /* all that are known were offered */
    filter(f, 5, 5,
           "\"candidates\":5,\"passed\":1,\"dropped\":[" GROUP(
               "Unschedulable", "one", "2", "\"a\",\"d\"") "," GROUP("UnschedulableAndUnresolvable",
                                                                     "two", "2",
                                                                     "\"c\",\"e\"") "]");
    filter(f, 5, 2,
           "\"candidates\":5,\"passed\":1,\"dropped\":[" GROUP(
               "Unschedulable", "one", "2", "\"a\",\"d\"") "," GROUP("UnschedulableAndUnresolvable",
                                                                     "two", "2",
                                                                     "\"c\",\"e\"") "]");
    filter(f, 5, 1,
           "\"candidates\":5,\"passed\":1,\"dropped\":[" GROUP(
               "Unschedulable", "one", "2", "\"a\"") "," GROUP("UnschedulableAndUnresolvable",
                                                               "two", "2", "\"c\"") "]");
}

static void preemptions(struct fixture *f, uint32_t named, const char *names_of_it) {
    static const struct preemption list[] = {
        {.node = {"a", 1}}, {.node = {"b", 1}}, {.node = {"c", 1}}, {.node = {"d", 1}}};
    static const bool fits[] = {false, true, false, false};
    char end[256];
    (void)snprintf(end, sizeof end,
                   "\"candidates\":4,\"passed\":1,\"dropped\":[" GROUP(
                       "Unschedulable", "evicting its victims makes no room", "3", "%s") "]",
                   names_of_it);
    begin(f, named);
    decision_put_preemptions(&f->d, list, fits, 4);
    expect_end(f, end);
}

static void preemptions_are_named(void **state) {
    struct fixture *f = *state;
    preemptions(f, 1, "\"a\"");
    preemptions(f, 2, "\"a\",\"c\"");
    preemptions(f, 3, "\"a\",\"c\",\"d\"");
    preemptions(f, 4, "\"a\",\"c\",\"d\"");
}

/* ---- constraints ---- */

/* minDomains where it asks for something; counts of domains where these are not reported at length.
 */
static void constraints(void **state) {
    struct fixture *f = *state;
    static const struct domain_count counts[] = {{{"x", 1}, 3}, {{"y", 1}, 0}};
    static const struct domain_report reports[] = {{.name = {"x", 1}, .pods = 3}};
    static const struct selector all = {.count = 0};
    struct spread_constraint c = {.topology_key = STR("zone"), .max_skew = 2, .hard = true};
    struct applied_constraint a = {
        .constraint = &c, .selector = &all, .counts = counts, .count_count = 2};
    const struct filter_result result = {
        .applied = &a, .applied_count = 1, .reason_texts = reasons, .reason_count = 1};
    const struct candidates none = {0};
#define ZONE                                                                                       \
    "{\"from\":\"pod\",\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","          \
    "\"maxSkew\":2"
    const char *const min_domains[] = {"", ",\"minDomains\":2"};
    for (int32_t n = 1; n <= 2; n++) {
        char end[400];
        (void)snprintf(end, sizeof end,
                       "\"constraints\":[" ZONE "%s,\"selector\":\"(everything)\"}],"
                       "\"candidates\":0,\"passed\":0,\"dropped\":[],\"podsByDomain\":[{"
                       "\"topologyKey\":\"zone\",\"pods\":{\"x\":3,\"y\":0}}]",
                       min_domains[n - 1]);
        c.min_domains = n;
        begin(f, 1);
        decision_put_filter(&f->d, &none, &result);
        expect_end(f, end);
    }
    a.reports = reports;
    a.report_count = 1;
    begin(f, 1);
    decision_put_filter(&f->d, &none, &result);
    expect_end(
        f, "\"meaning\":\"no domain is allowed\"}],\"candidates\":0,\"passed\":0,\"dropped\":[]");
    begin(f, 1);
    decision_put_constraints(&f->d, &a, 1, NULL); /* of scores */
    expect_end(f, "\"constraints\":[" ZONE ",\"minDomains\":2,\"selector\":\"(everything)\"}]");
}

/* ---- scores ---- */

static int64_t raw[5];

/* "abc": the nodes that are named, the best first. */
static void best(struct fixture *f, const struct score_result *result, uint32_t wanted,
                 const char *order) {
    const struct candidates candidates = {names, 5};
    const struct pod pod = {.dataset_count = 0};
    char got[8] = "";
    size_t n = 0;
    begin(f, wanted);
    decision_put_scores(&f->d, &pod, &candidates, result);
    decision_end(&f->d);
    strbuf_append_char(&f->out, '\0');
    static const char mark[] = "{\"node\":\"";
    for (const char *at = f->out.p; (at = strstr(at, mark)) != NULL; n++) {
        at += strlen(mark);
        got[n] = *at;
    }
    assert_string_equal(got, order);
}

static void the_best_first(void **state) {
    struct fixture *f = *state;
    int32_t priorities[] = {3, 9, 3, 9, 5};
    int64_t normalized[] = {10, 20, 30, 20, 100}, totals[] = {7, 1, 9, 7, 8};
    struct score_result result = {.priorities = priorities};
    best(f, &result, 5, "bdeac"); /* equals in their order */
    best(f, &result, 3, "bde");
    best(f, &result, 4, "bdea");
    best(f, &result, 1, "b");
    best(f, &result, 0, "");
    result.columns[0] = (struct score_column){"spread", raw, normalized};
    result.column_count = 1;
    best(f, &result, 5, "bdeca"); /* between equals the first algorithm decides */
    best(f, &result, 4, "bdec");
    normalized[3] = 21;
    best(f, &result, 2, "db");
    normalized[4] = 100; /* and never against the priority */
    normalized[1] = normalized[3] = 0;
    best(f, &result, 3, "bde");
    result.totals = totals; /* where the pod would go */
    best(f, &result, 5, "ceadb");
    best(f, &result, 3, "cea");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_node_is_counted),
        TEST(preemptions_are_named),
        TEST(constraints),
        TEST(the_best_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
