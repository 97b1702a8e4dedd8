/* The engine around its algorithms: candidates, reasons, errors, combining scores. */
#include "engine/engine.h"

#include "base/json_reader.h"
#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>

static int setup(void **state) {
    static struct cluster c;
    cluster_open(&c);
    *state = &c;
    return 0;
}

static int teardown(void **state) {
    cluster_close(*state);
    return 0;
}

enum { CANDIDATES_MAX = 8 };

struct asked {
    struct str names[CANDIDATES_MAX];
    struct candidates candidates;
};

static void ask_for(struct asked *a, const char *candidates) {
    struct str rest = str_of(candidates);
    *a = (struct asked){.candidates.names = a->names};
    while (next_word(&rest, " ", &a->names[a->candidates.count]))
        a->candidates.count++;
}

static struct filter_result filter(struct cluster *c, const struct pod *pod,
                                   const char *candidates) {
    struct asked a;
    struct filter_result result;
    struct err err;
    ask_for(&a, candidates);
    if (engine_filter(&c->options, c->cache, pod, &a.candidates, &c->arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

static struct score_result score(struct cluster *c, const struct pod *pod, const char *candidates) {
    struct asked a;
    struct score_result result;
    struct err err;
    ask_for(&a, candidates);
    if (engine_score(&c->options, c->cache, pod, &a.candidates, &c->arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

static struct str reason(const struct filter_result *result, uint32_t i) {
    assert_true(result->reasons[i] < result->reason_count);
    return result->reason_texts[result->reasons[i]];
}

/* One rule of ordered spread for pods with the label foo. */
static void add_ordered_rule(struct cluster *c, const char *terms) {
    struct ordered_rule *rule = arena_alloc(&c->arena, sizeof *rule);
    assert_non_null(rule);
    rule->pods =
        cluster_selector(c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}");
    rule->terms = cluster_constraints(c, terms, &rule->term_count);
    c->options.ordered_rules = rule;
    c->options.ordered_rule_count = 1;
}

/* ---- filter ---- */

static void without_constraints_all_pass(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a");
    struct pod pod = cluster_pod(c, "foo", "", "");
    struct filter_result result = filter(c, &pod, "a nowhere");
    assert_true(result.skipped);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(result.verdicts[i], VERDICT_PASS);
        assert_str(reason(&result, i), "");
    }
}

static void every_verdict_has_its_reason(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x b,-zone");
    cluster_pods(c, "a:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    struct filter_result result = filter(c, &pod, "a x b nowhere");
    static const struct {
        enum verdict verdict;
        const char *reason;
    } want[] = {
        {VERDICT_UNSCHEDULABLE, "over maxSkew on zone"},
        {VERDICT_PASS, ""},
        {VERDICT_UNRESOLVABLE, "no label zone to spread over"},
        {VERDICT_UNSCHEDULABLE, "node is not in the cache yet"},
    };
    assert_false(result.skipped);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(result.verdicts[i], want[i].verdict);
        assert_str(reason(&result, i), want[i].reason);
    }
}

static void the_first_constraint_that_fails_gives_the_reason(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:1");
    struct pod pod = cluster_pod(c, "foo", "5/zone/foo 1/node/foo 1/zone/foo", "");
    struct filter_result result = filter(c, &pod, "a");
    assert_str(reason(&result, 0), "over maxSkew on node");
}

static void ordered_spread_has_reasons_of_its_own(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x b,-zone");
    cluster_pods(c, "a:1");
    add_ordered_rule(c, "1/zone/nil");
    struct pod pod = cluster_pod(c, "foo", "", "");
    struct filter_result result = filter(c, &pod, "a b x");
    assert_str(reason(&result, 0), "over maxSkew on zone (ordered)");
    assert_str(reason(&result, 1), "no label zone to spread over");
    assert_int_equal(result.verdicts[1], VERDICT_UNRESOLVABLE);
    assert_int_equal(result.verdicts[2], VERDICT_PASS);
}

/* The column is known from before: what it still has of a domain without nodes holds nobody up. */
static void a_domain_without_nodes_is_none(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    cluster_nodes(c, "a b x");
    cluster_pods(c, "a:1");
    assert_int_equal(filter(c, &pod, "b").verdicts[0], VERDICT_UNSCHEDULABLE);
    cluster_nodes(c, "x,+zone=zone1");
    assert_int_equal(filter(c, &pod, "b").verdicts[0], VERDICT_PASS);
}

static void a_node_must_pass_every_algorithm(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b x");
    cluster_pods(c, "a:1 x:1");
    add_ordered_rule(c, "1/node/nil");
    struct pod pod = cluster_pod(c, "foo", "9/zone/foo 1/node/foo", "");
    struct filter_result result = filter(c, &pod, "a b");
    assert_str(reason(&result, 0), "over maxSkew on node");
    assert_int_equal(result.verdicts[1], VERDICT_PASS);
    pod = cluster_pod(c, "foo", "9/zone/foo", "");
    result = filter(c, &pod, "a b");
    assert_str(reason(&result, 0), "over maxSkew on node (ordered)");
    assert_int_equal(result.verdicts[1], VERDICT_PASS);
}

static void duplicates_are_judged_each(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo 1/zone/foo,soft", "");
    struct filter_result result = filter(c, &pod, "x a x a");
    assert_int_equal(result.verdicts[0], VERDICT_PASS);
    assert_int_equal(result.verdicts[1], VERDICT_UNSCHEDULABLE);
    assert_int_equal(result.verdicts[2], VERDICT_PASS);
    assert_int_equal(result.verdicts[3], VERDICT_UNSCHEDULABLE);
    struct score_result scores = score(c, &pod, "x a x a");
    assert_int_equal(scores.priorities[0], 10);
    assert_int_equal(scores.priorities[1], 0);
    assert_int_equal(scores.priorities[2], 10);
}

static void no_candidates_no_answers(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo 1/zone/foo,soft", "");
    struct filter_result result = filter(c, &pod, "");
    assert_false(result.skipped);
    add_ordered_rule(c, "1/zone/nil,soft");
    struct score_result scores = score(c, &pod, "");
    assert_int_equal(scores.column_count, 0);
}

/* A topology key may be any text. Cutting it short must not cut a character in two, because the
 * reason becomes JSON. */
static void long_keys_are_cut_between_characters(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a");
    for (size_t before = 0; before < 4; before++) {
        struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
        struct spread_constraint constraint = pod.constraints[0];
        struct strbuf key = {0};
        for (size_t i = 0; i < before; i++)
            strbuf_append_char(&key, 'k');
        for (int i = 0; i < 200; i++)
            strbuf_append_str(&key, STR("\xf0\x9f\x98\x80"));
        constraint.topology_key = strbuf_str(&key);
        pod.constraints = &constraint;
        struct filter_result result = filter(c, &pod, "a");
        assert_int_equal(result.verdicts[0], VERDICT_UNRESOLVABLE);
        struct strbuf json = {0};
        strbuf_append_char(&json, '"');
        strbuf_append_str(&json, reason(&result, 0));
        strbuf_append_char(&json, '"');
        struct json_reader r;
        json_reader_init(&r, strbuf_str(&json), &c->arena, "reason");
        struct str text = json_string(&r);
        struct err err;
        if (json_finish(&r, &err) != 0)
            fail_msg("%s", err.text);
        assert_true(str_has_suffix(text, STR(" to spread over")));
        assert_in_range(text.n, 200, 400);
        strbuf_done(&json);
        strbuf_done(&key);
    }
}

/* ---- score ---- */

static void unknown_candidates_score_nothing(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:1");
    add_ordered_rule(c, "1/zone/nil,soft");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo,soft", "");
    struct score_result result = score(c, &pod, "nowhere x a");
    assert_int_equal(result.column_count, 2);
    assert_int_equal(result.priorities[0], 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(result.columns[i].normalized[0], 0);
        assert_int_equal(result.columns[i].raw[0], 0);
        assert_int_equal(result.columns[i].normalized[1], 100);
    }
    assert_int_equal(result.priorities[1], 10);
}

static void without_constraints_all_score_zero(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    struct score_result result = score(c, &pod, "a nowhere");
    assert_int_equal(result.column_count, 0);
    assert_int_equal(result.priorities[0], 0);
    assert_int_equal(result.priorities[1], 0);
}

/* spread says 20/60/100/0 (scenario S4), ordered spread 33/66/100/0 for the same counts. */
static void priorities_come_from_weighted_means(void **state) {
    struct cluster *c = *state;
    static const struct {
        uint32_t spread, ordered;
        int32_t want[4];
    } rows[] = {
        {1, 0, {2, 6, 10, 0}},   {0, 1, {3, 6, 10, 0}}, /* a begun step below the best is a whole
                                                           one */
        {1, 1, {2, 6, 10, 0}},                          /* 26.5 and 63 of 100 */
        {3, 1, {2, 6, 10, 0}},                          /* 23.25 and 61.5 */
        {1, 100, {3, 6, 10, 0}}, {0, 0, {0, 0, 0, 0}},  {4000000000u, 4000000000u, {2, 6, 10, 0}},
    };
    cluster_nodes(c, "a b c d");
    cluster_pods(c, "a:2 b:1 d:3");
    add_ordered_rule(c, "1/node/nil,soft");
    struct pod pod = cluster_pod(c, "foo", "1/host/foo,soft", "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        c->options.spread_weight = rows[i].spread;
        c->options.ordered_weight = rows[i].ordered;
        struct score_result result = score(c, &pod, "a b c d");
        uint32_t columns = 0; /* what weighs nothing is not looked at */
        if (rows[i].spread > 0)
            assert_string_equal(result.columns[columns++].algorithm, "spread");
        if (rows[i].ordered > 0)
            assert_string_equal(result.columns[columns++].algorithm, "ordered_spread");
        assert_int_equal(result.column_count, columns);
        for (uint32_t n = 0; n < 4; n++)
            assert_int_equal(result.priorities[n], rows[i].want[n]);
    }
}

static void priorities_may_be_finer(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b c d");
    cluster_pods(c, "a:2 b:1 d:3");
    struct pod pod = cluster_pod(c, "foo", "1/host/foo,soft", "");
    c->options.max_priority = 100; /* scores as they are: scenario S4 */
    struct score_result result = score(c, &pod, "a b c d");
    static const int32_t want[] = {20, 60, 100, 0};
    for (uint32_t n = 0; n < 4; n++)
        assert_int_equal(result.priorities[n], want[n]);
}

static void an_algorithm_that_skips_has_no_weight(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b");
    cluster_pods(c, "a:1");
    c->options.ordered_weight = 100;
    struct pod pod = cluster_pod(c, "foo", "1/host/foo,soft", "");
    struct score_result result = score(c, &pod, "a b");
    assert_int_equal(result.column_count, 1);
    assert_int_equal(result.priorities[0], 0);
    assert_int_equal(result.priorities[1], 10);
}

/* ---- errors ---- */

static struct pod pod_with_bad_selector(struct cluster *c, bool soft) {
    char json[512];
    (void)snprintf(json, sizeof json,
                   "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"topologySpreadConstraints\":["
                   "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                   "\"DoNotSchedule\"},{\"maxSkew\":1,\"topologyKey\":\"zone\","
                   "\"whenUnsatisfiable\":\"%s\",\"labelSelector\":{\"matchLabels\":"
                   "{\"app\":\"not a value\"}}}]}}",
                   soft ? "ScheduleAnyway" : "DoNotSchedule"); /* fits */
    return cluster_object(c, OBJECT_POD, json).pod;
}

static void errors_name_the_constraint(void **state) {
    struct cluster *c = *state;
    struct asked a;
    struct filter_result filtered;
    struct score_result scored;
    struct err err = {0};
    cluster_nodes(c, "a");
    ask_for(&a, "a");
    struct pod hard = pod_with_bad_selector(c, false), soft = pod_with_bad_selector(c, true);
    int r = engine_filter(&c->options, c->cache, &hard, &a.candidates, &c->arena, &filtered, &err);
    assert_int_equal(r, -EINVAL);
    assert_string_equal(err.text, "spec.topologySpreadConstraints[1].labelSelector: key 'app': "
                                  "'not a value' is not a label value");
    r = engine_score(&c->options, c->cache, &soft, &a.candidates, &c->arena, &scored, &err);
    assert_int_equal(r, -EINVAL);
    assert_contains(err.text, "spec.topologySpreadConstraints[1].labelSelector: ");
    assert_int_equal(filter(c, &soft, "a").verdicts[0], VERDICT_PASS);
}

/* The three questions with an arena of this size: an answer, or -ENOMEM with a reason. Returns
 * whether all were answered. */
static bool ask_with(struct cluster *c, const struct pod *pod, size_t size) {
    struct asked a;
    struct arena arena;
    struct filter_result filtered;
    struct score_result scored;
    bool *fits, all = true;
    struct preemption preemption = {.node = STR("a")};
    ask_for(&a, "a b x y nowhere");
    arena_init(&arena, size);
    for (int i = 0; i < 3; i++) {
        struct err err = {0};
        int r =
            i == 0
                ? engine_filter(&c->options, c->cache, pod, &a.candidates, &arena, &filtered, &err)
            : i == 1
                ? engine_score(&c->options, c->cache, pod, &a.candidates, &arena, &scored, &err)
                : engine_preempt(&c->options, c->cache, pod, &preemption, 1, &arena, &fits, &err);
        assert_int_equal(r, err.code);
        assert_true(r == 0 || (r == -ENOMEM && err.text[0] != '\0'));
        all = all && r == 0;
        arena_reset(&arena);
    }
    arena_done(&arena);
    return all;
}

static void too_little_memory_is_an_error(void **state) {
    struct cluster *c = *state;
    static const struct str keys[] = {{"foo", 3}};
    cluster_nodes(c, "a b x y");
    cluster_pods(c, "a:2 b:1 x:1");
    cluster_workload(c, OBJECT_SERVICE,
                     "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"foo\":\"\"}}}");
    add_ordered_rule(c, "1/zone/nil 1/node/nil,soft");
    struct ordered_rule rule = c->options.ordered_rules[0];
    rule.match_label_keys = keys;
    rule.match_label_key_count = 1;
    c->options.ordered_rules = &rule;
    c->options.default_constraints =
        cluster_constraints(c, "1/zone/nil 1/node/nil,soft", &c->options.default_constraint_count);
    struct pod pods[] = {cluster_pod(c, "foo", "1/zone/foo,keys=foo 1/node/bar,soft", ""),
                         cluster_pod(c, "foo", "", "")};
    for (size_t i = 0; i < 2; i++) {
        bool answered = false;
        for (size_t size = 0; size < 24 * 1024; size += 16) {
            bool all = ask_with(c, &pods[i], size);
            assert_true(all || !answered);
            answered = all;
        }
        assert_true(answered);
    }
}

/* The first question builds what later ones share. */
static void questions_are_remembered(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo 1/node/foo,soft", "");
    (void)filter(c, &pod, "a");
    (void)score(c, &pod, "a");
    struct cache_stats stats = cache_stats(c->cache);
    assert_int_equal(stats.counters, 1);
    assert_int_equal(stats.columns, 2);
    assert_int_equal(stats.feasibilities, 1);
    (void)filter(c, &pod, "x");
    (void)score(c, &pod, "x");
    struct cache_stats again = cache_stats(c->cache);
    assert_memory_equal(&stats, &again, sizeof stats);
}

/* The first `count` nodes' labels decide: the one that is missing is what `why` names. */
static void check_many_constraints(struct cluster *c, int count, int missing, const char *why) {
    struct strbuf constraints = {0}, node = {0};
    strbuf_append_char(&node, 'a');
    for (int i = 0; i < count; i++) {
        strbuf_appendf(&constraints, "1/k%d/foo ", i);
        if (i != missing)
            strbuf_appendf(&node, ",+k%d", i);
    }
    strbuf_append(&constraints, "", 1);
    strbuf_append(&node, "", 1);
    cluster_nodes(c, node.p);
    struct pod pod = cluster_pod(c, "foo", constraints.p, "");
    assert_int_equal(pod.constraint_count, count);
    struct filter_result result = filter(c, &pod, "a");
    assert_int_equal(result.verdicts[0], missing < count ? VERDICT_UNRESOLVABLE : VERDICT_PASS);
    assert_str(reason(&result, 0), why);
    strbuf_done(&constraints);
    strbuf_done(&node);
}

/* Each has reasons of its own as long as there is room; every one of them counts. */
static void hundreds_of_constraints(void **state) {
    struct cluster *c = *state;
    check_many_constraints(c, 64, 63, "no label k63 to spread over");
    check_many_constraints(c, 300, 10, "no label k10 to spread over");
    check_many_constraints(c, 300, 299,
                           "one of the pod's constraints beyond those that can be named");
    check_many_constraints(c, 300, 300, "");
}

/* Domains are named with what they have while they are at most DOMAINS_COUNTED; how many there are,
 * and what the emptiest counts, is always said. */
static void few_domains_are_named(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "foo", "1/node/foo", "");
    static const char names[][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (uint32_t nodes = 1; nodes <= DOMAINS_COUNTED + 1; nodes++) {
        cluster_nodes(c, names[nodes - 1]);
        char one[20];
        (void)snprintf(one, sizeof one, "%s:%d", names[nodes - 1], nodes == 1 ? 2 : 1);
        cluster_pods(c, one);
        struct filter_result result = filter(c, &pod, "a");
        assert_int_equal(result.applied_count, 1);
        assert_int_equal(result.applied[0].domains, nodes);
        assert_int_equal(result.applied[0].least, nodes == 1 ? 2 : 1);
        assert_int_equal(result.applied[0].count_count, nodes <= DOMAINS_COUNTED ? nodes : 0);
        for (uint32_t i = 0; i < result.applied[0].count_count; i++)
            assert_int_equal(result.applied[0].counts[i].pods,
                             str_eq(result.applied[0].counts[i].name, STR("a")) ? 2 : 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_constraints_all_pass),
        TEST(every_verdict_has_its_reason),
        TEST(few_domains_are_named),
        TEST(the_first_constraint_that_fails_gives_the_reason),
        TEST(ordered_spread_has_reasons_of_its_own),
        TEST(a_domain_without_nodes_is_none),
        TEST(a_node_must_pass_every_algorithm),
        TEST(duplicates_are_judged_each),
        TEST(no_candidates_no_answers),
        TEST(long_keys_are_cut_between_characters),
        TEST(unknown_candidates_score_nothing),
        TEST(without_constraints_all_score_zero),
        TEST(priorities_come_from_weighted_means),
        TEST(priorities_may_be_finer),
        TEST(an_algorithm_that_skips_has_no_weight),
        TEST(errors_name_the_constraint),
        TEST(too_little_memory_is_an_error),
        TEST(questions_are_remembered),
        TEST(hundreds_of_constraints),
    };
    return CLUSTER_RUN_TESTS("engine", tests);
}
