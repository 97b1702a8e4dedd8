/*
 * Ordered spread. The scenarios are those of Open Cluster Management's enhancement 70 (spread
 * policy), its use cases and its worked example, with a node for each cluster and a pod for each
 * decision.
 */
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <stdio.h>

enum { CANDIDATES_MAX = 16 };

struct fixture {
    struct cluster c;
    struct ordered_rule rules[2];
    struct pod pod;
};

static int setup(void **state) {
    static struct fixture f;
    cluster_open(&f.c);
    f.c.options.ordered_rules = f.rules;
    f.pod = cluster_pod(&f.c, "foo", "", "");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

/* Adds a rule for pods with the label foo; terms as cluster_constraints() reads them. */
static struct ordered_rule *add_rule(struct fixture *f, const char *terms) {
    struct ordered_rule *rule = &f->rules[f->c.options.ordered_rule_count++];
    *rule = (struct ordered_rule){
        .pods = cluster_selector(
            &f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Exists\"}]}")};
    rule->terms = cluster_constraints(&f->c, terms, &rule->term_count);
    return rule;
}

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

static struct filter_result filter(struct fixture *f, const struct candidates *candidates) {
    struct filter_result result;
    struct err err;
    if (engine_filter(&f->c.options, f->c.cache, &f->pod, candidates, &f->c.arena, &result, &err) !=
        0)
        fail_msg("%s", err.text);
    return result;
}

static struct score_result score(struct fixture *f, const struct candidates *candidates) {
    struct score_result result;
    struct err err;
    if (engine_score(&f->c.options, f->c.cache, &f->pod, candidates, &f->c.arena, &result, &err) !=
        0)
        fail_msg("%s", err.text);
    return result;
}

/* "SSUR": one letter a candidate, or "Skip". */
static void check_filter(struct fixture *f, const char *candidates, const char *want) {
    static const char letters[] = "SUR";
    struct asked a;
    char got[CANDIDATES_MAX + 1] = {0};
    ask_for(&a, candidates);
    struct filter_result result = filter(f, &a.candidates);
    for (uint32_t i = 0; i < a.candidates.count; i++)
        got[i] = letters[result.verdicts[i]];
    assert_string_equal(result.skipped ? "Skip" : got, want);
}

static void check_raw(struct fixture *f, const char *candidates, const int64_t *want) {
    struct asked a;
    ask_for(&a, candidates);
    struct score_result result = score(f, &a.candidates);
    assert_int_equal(result.column_count, 1);
    assert_string_equal(result.columns[0].algorithm, "ordered_spread");
    for (uint32_t i = 0; i < a.candidates.count; i++)
        assert_int_equal(result.columns[0].raw[i], want[i]);
}

/* Puts a pod of the group on the node. */
static void place(struct fixture *f, struct str node) {
    char token[64];
    (void)snprintf(token, sizeof token, "%.*s:1", STR_ARG(node)); /* fits */
    cluster_pods(&f->c, token);
}

/* The best of the candidates that pass, the first of equals; CANDIDATES_MAX: none passes. */
static uint32_t best_of(struct fixture *f, const struct candidates *candidates) {
    struct str survivors[CANDIDATES_MAX];
    uint32_t index[CANDIDATES_MAX], count = 0, best = 0;
    struct filter_result filtered = filter(f, candidates);
    for (uint32_t i = 0; i < candidates->count; i++)
        if (filtered.verdicts[i] == VERDICT_PASS) {
            index[count] = i;
            survivors[count++] = candidates->names[i];
        }
    if (count == 0)
        return CANDIDATES_MAX;
    struct score_result scored = score(f, &(struct candidates){survivors, count});
    for (uint32_t i = 1; i < count; i++)
        if (scored.columns[0].normalized[i] > scored.columns[0].normalized[best])
            best = i;
    return index[best];
}

/* Picks the best candidate n times, each at most once; the names in the order they were picked. */
static void check_picks(struct fixture *f, const char *candidates, int n, const char *want) {
    struct asked a;
    struct strbuf picked = {0};
    ask_for(&a, candidates);
    for (int i = 0; i < n; i++) {
        uint32_t best = best_of(f, &a.candidates);
        if (best == CANDIDATES_MAX)
            break;
        place(f, a.names[best]);
        strbuf_appendf(&picked, "%s%.*s", i > 0 ? " " : "", STR_ARG(a.names[best]));
        a.candidates.count--;
        for (uint32_t next = best; next < a.candidates.count; next++)
            a.names[next] = a.names[next + 1];
    }
    unit_assert_str(strbuf_str(&picked), want, __FILE__, __LINE__);
    strbuf_done(&picked);
}

/* ---- the enhancement's own examples ---- */

#define EAST_1A ",+region=us-east,+zone=us-east-1a"
#define EAST_1B ",+region=us-east,+zone=us-east-1b"
#define WEST_1A ",+region=us-west,+zone=us-west-1a"

static void the_worked_example(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/region/nil,soft 1/zone/nil");
    cluster_nodes(&f->c, "c1" EAST_1A " c2" EAST_1A " c3" EAST_1B " c4" WEST_1A " c5" WEST_1A);
    check_filter(f, "c1 c2 c3 c4 c5", "SSSSS");
    check_raw(f, "c1 c2 c3 c4 c5", (const int64_t[]){0, 0, 0, 0, 0});
    place(f, STR("c1"));
    check_filter(f, "c2 c3 c4 c5", "USSS");
    check_raw(f, "c3 c4 c5", (const int64_t[]){63, 4032, 4032});
    struct asked a;
    ask_for(&a, "c3 c4 c5");
    struct score_result result = score(f, &a.candidates);
    assert_int_equal(result.columns[0].normalized[0], 0);
    assert_int_equal(result.columns[0].normalized[1], 100);
    assert_int_equal(result.columns[0].normalized[2], 100);
}

#define ZONES_A_B "a0,+zone=a a1,+zone=a a2,+zone=a b0,+zone=b b1,+zone=b"

static void uc2_even_spread(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/zone/nil,soft");
    cluster_nodes(&f->c, ZONES_A_B);
    check_picks(f, "a0 a1 a2 b0 b1", 4, "a0 b0 a1 b1");
}

#define ONE_IN_B "a0,+zone=a a1,+zone=a a2,+zone=a b0,+zone=b"

static void uc3_hard_maximum_skew_1(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/zone/nil");
    cluster_nodes(&f->c, ONE_IN_B);
    check_picks(f, "a0 a1 a2 b0", 4, "a0 b0 a1");
}

static void uc3_hard_maximum_skew_2(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "2/zone/nil");
    cluster_nodes(&f->c, ONE_IN_B);
    check_picks(f, "a0 a1 a2 b0", 4, "a0 b0 a1 a2");
}

static void uc3_soft(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/zone/nil,soft");
    cluster_nodes(&f->c, ONE_IN_B);
    check_picks(f, "a0 a1 a2 b0", 4, "a0 b0 a1 a2");
}

/* First regions, then zones: two of four in the region with one zone. */
static void uc4_regions_before_zones(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/region/nil,soft 1/zone/nil,soft");
    cluster_nodes(&f->c, "e1" EAST_1A " e2" EAST_1A " e3" EAST_1B " e4" EAST_1B " w1" WEST_1A
                         " w2" WEST_1A " w3" WEST_1A);
    check_picks(f, "e1 e2 e3 e4 w1 w2 w3", 4, "e1 w1 e3 w2");
}

#define SEVEN_AND_TWO                                                                              \
    "e1" EAST_1A " e2" EAST_1A " e3" EAST_1A " e4" EAST_1A " e5" EAST_1A " e6" EAST_1A             \
    " e7" EAST_1A " w1" WEST_1A " w2" WEST_1A
#define SEVEN_AND_TWO_NAMES "e1 e2 e3 e4 e5 e6 e7 w1 w2"

static void seven_and_two_soft(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/region/nil,soft");
    cluster_nodes(&f->c, SEVEN_AND_TWO);
    check_picks(f, SEVEN_AND_TWO_NAMES, 7, "e1 w1 e2 w2 e3 e4 e5");
}

static void seven_and_two_hard(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/region/nil");
    cluster_nodes(&f->c, SEVEN_AND_TWO);
    check_picks(f, SEVEN_AND_TWO_NAMES, 7, "e1 w1 e2 w2 e3");
}

static void seven_and_two_hard_maximum_skew_2(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "2/region/nil");
    cluster_nodes(&f->c, SEVEN_AND_TWO);
    check_picks(f, SEVEN_AND_TWO_NAMES, 7, "e1 w1 e2 w2 e3 e4");
}

/* Two Amazon, two Google, one IBM: the prototype's "Hard Spread". */
static void five_clusters_of_three_clouds(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/cloud/nil");
    cluster_nodes(&f->c, "c1,+cloud=amazon c2,+cloud=amazon c3,+cloud=google c4,+cloud=google "
                         "c5,+cloud=ibm");
    check_picks(f, "c1 c2 c3 c4 c5", 5, "c1 c3 c5 c2 c4");
}

/* ---- semantics ---- */

/* Zones are compared under their region only, and equal names under two regions differ. */
static void siblings_have_the_same_parent(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "9/region/nil 1/zone/nil");
    cluster_nodes(&f->c, "a,+region=r1,+zone=z1 b,+region=r1,+zone=z2 c,+region=r2,+zone=z1 "
                         "d,+region=r2,+zone=z2");
    cluster_pods(&f->c, "a:3 b:3 d:1");
    /* c: 0 under r2 is the minimum there; a: 3 + 1 - 3 under r1 */
    check_filter(f, "a b c d", "SSSU");
    /* region r2 has 1 of 6..1 -> 63; then zone: under r1 all equal, under r2 c is emptiest */
    check_raw(f, "a b c d", (const int64_t[]){0, 0, 63 << 6 | 63, 63 << 6});
}

static void a_hard_term_needs_its_key(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/region/nil,soft 1/zone/nil");
    cluster_nodes(&f->c, "a" EAST_1A " b,-zone,+region=us-east");
    cluster_pods(&f->c, "a:2"); /* b is no domain, so that the minimum is a's */
    check_filter(f, "a b nowhere", "SRU");
}

static void nodes_without_a_soft_key_are_one_domain(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/zone/nil,soft");
    cluster_nodes(&f->c, "a,+zone=z b,-zone c,-zone");
    cluster_pods(&f->c, "b:1");
    check_raw(f, "a b c", (const int64_t[]){63, 0, 0});
    cluster_nodes(&f->c, "d,+zone"); /* the empty value is the same domain */
    check_raw(f, "a b c d", (const int64_t[]){63, 0, 0, 0});
    check_filter(f, "a b c d", "Skip");
}

static void nodes_that_policies_exclude_do_not_count(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/node/nil,taints=Honor");
    f->pod = cluster_pod(&f->c, "foo", "", "\"nodeSelector\":{\"disk\":\"ssd\"},");
    cluster_nodes(&f->c, "a,+disk=ssd b,+disk=ssd c d,+disk=ssd,!");
    cluster_pods(&f->c, "a:1 b:1 d:5");
    /* c and d are no domains, so the minimum is 1; nothing to compare them with lets them pass */
    check_filter(f, "a b c d", "SSSS");
    cluster_pods(&f->c, "a:1");
    check_filter(f, "a b c d", "USSS");
}

static void terms_take_six_bits_each(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/k0/nil,soft 1/k1/nil,soft 1/k2/nil,soft 1/k3/nil,soft 1/k4/nil,soft "
                      "1/k5/nil,soft 1/k6/nil,soft 1/k7/nil,soft");
    cluster_nodes(&f->c, "a,+k0=1,+k1,+k2,+k3,+k4,+k5,+k6,+k7=1 b,+k0=2,+k1,+k2,+k3,+k4,+k5,+k6,+k7"
                         " c,+k0=1,+k1,+k2,+k3,+k4,+k5,+k6,+k7=2");
    cluster_pods(&f->c, "a:1");
    check_raw(f, "a b c", (const int64_t[]){0, (int64_t)63 << 42, 63});
}

static void parts_are_rounded_down(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/node/nil,soft");
    cluster_nodes(&f->c, "a b c d");
    cluster_pods(&f->c, "a:7 b:1 c:4");
    check_raw(f, "a b c d", (const int64_t[]){0, 63 * 6 / 7, 63 * 3 / 7, 63});
    struct asked asked;
    ask_for(&asked, "a b c d");
    struct score_result result = score(f, &asked.candidates);
    static const int64_t normalized[] = {0, 100 * 54 / 63, 100 * 27 / 63, 100};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(result.columns[0].normalized[i], normalized[i]);
}

/* By distance the last keys would be lost: a raw score has 6 bits for each of them, and there are
 * 101 steps. */
static void later_keys_reach_the_priority(void **state) {
    struct fixture *f = *state;
    static const char nodes[] = "i j k l m";
    (void)add_rule(f, "1/k0/nil,soft 1/k1/nil,soft 1/k2/nil,soft 1/k3/nil,soft");
    cluster_nodes(&f->c, "i,+k0=1,+k1=1,+k2=1,+k3=1 j,+k0=1,+k1=1,+k2=1,+k3=2 "
                         "k,+k0=1,+k1=1,+k2=2,+k3=1 l,+k0=1,+k1=2,+k2=1,+k3=1 "
                         "m,+k0=2,+k1=1,+k2=1,+k3=1");
    cluster_pods(&f->c, "i:1");
    struct asked asked;
    ask_for(&asked, nodes);
    const struct score_result result = score(f, &asked.candidates);
    for (uint32_t i = 1; i < 5; i++) {
        assert_true(result.columns[0].normalized[i] > result.columns[0].normalized[i - 1]);
        assert_true(result.priorities[i] > result.priorities[i - 1]);
    }
    assert_int_equal(result.columns[0].normalized[0], 0);
    assert_int_equal(result.columns[0].normalized[4], 100);
}

/* A node that the rule has worse than all shares the score of none, also where there are more raw
 * scores than steps. */
static void the_worst_shares_its_score_with_none(void **state) {
    enum { DOMAINS = 53, FULL = 2 * DOMAINS, ALL = FULL + 1 };
    struct fixture *f = *state;
    struct str names[ALL];
    char text[160];
    struct ordered_rule *rule = add_rule(f, "1/k/nil,soft 1/node/nil,soft");
    rule->all_keys = true;
    for (int i = 0; i < ALL; i++) {
        (void)snprintf(text, sizeof text, "n%d", i); /* these fit */
        names[i] = arena_str(&f->c.arena, str_of(text));
        (void)snprintf(text, sizeof text, i < FULL ? "n%d,+k=%d" : "n%d", i, i / 2);
        cluster_nodes(&f->c, text);
        for (int pod = 0; i < FULL && i % 2 == 0 && pod < i / 2; pod++) {
            (void)snprintf(text, sizeof text,
                           "{\"metadata\":{\"name\":\"p%d-%d\",\"namespace\":\"default\","
                           "\"labels\":{\"foo\":\"\"}},\"spec\":{\"nodeName\":\"n%d\"}}",
                           i, pod, i);
            cluster_apply_json(&f->c, OBJECT_POD, text);
        }
    }
    const struct candidates candidates = {.names = names, .count = ALL};
    const struct score_result result = score(f, &candidates);
    assert_int_equal(result.columns[0].normalized[FULL], 0);
    assert_int_equal(result.columns[0].raw[FULL - 2], 0);
    for (int i = 0; i < FULL; i++)
        assert_true(result.columns[0].normalized[i] > 0);
}

static void all_equal_score_the_most(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/node/nil,soft");
    cluster_nodes(&f->c, "a b");
    struct asked asked;
    ask_for(&asked, "a b");
    struct score_result result = score(f, &asked.candidates);
    assert_int_equal(result.columns[0].normalized[0], 100);
    assert_int_equal(result.columns[0].normalized[1], 100);
}

/* ---- which rule, which group ---- */

static void the_first_rule_that_fits_is_used(void **state) {
    struct fixture *f = *state;
    static const struct str others[] = {{"other", 5}}, own[] = {{"other", 5}, {"default", 7}};
    cluster_nodes(&f->c, "a x");
    cluster_pods(&f->c, "a:1");
    struct ordered_rule *first = add_rule(f, "1/zone/nil"), *second = add_rule(f, "5/zone/nil");
    check_filter(f, "a x", "US");
    first->namespaces = others;
    first->namespace_count = 1;
    check_filter(f, "a x", "SS");
    first->namespaces = own;
    first->namespace_count = 2;
    check_filter(f, "a x", "US");
    first->pods = cluster_selector(&f->c, "{\"matchLabels\":{\"foo\":\"no\"}}");
    check_filter(f, "a x", "SS");
    second->pods = cluster_selector(&f->c, "null");
    check_filter(f, "a x", "Skip");
}

static void the_group_is_the_rules_selector_in_the_namespace(void **state) {
    struct fixture *f = *state;
    (void)add_rule(f, "1/zone/nil");
    cluster_nodes(&f->c, "a x");
    cluster_pods(&f->c, "a:bar ns1/a:1 a:~1");
    check_filter(f, "a x", "SS");
    cluster_pods(&f->c, "a:foo+other=1");
    check_filter(f, "a x", "US");
}

static void match_label_keys_narrow_the_group(void **state) {
    struct fixture *f = *state;
    static const struct str keys[] = {{"revision", 8}, {"absent", 6}};
    struct ordered_rule *rule = add_rule(f, "1/zone/nil");
    rule->match_label_keys = keys;
    rule->match_label_key_count = 2;
    f->pod = cluster_pod(&f->c, "foo+revision=2", "", "");
    cluster_nodes(&f->c, "a x");
    cluster_pods(&f->c, "a:foo+revision=1 a:foo");
    check_filter(f, "a x", "SS");
    cluster_pods(&f->c, "a:foo+revision=2");
    check_filter(f, "a x", "US");
}

/* A rule that wants all keys has a node without one worse than all, also where it would share its
 * domain with a node whose value is "". */
static void a_node_without_a_key_may_be_the_worst(void **state) {
    struct fixture *f = *state;
    static const int64_t soft[] = {0, 63 << 6, 63 << 6}, all_keys[] = {0, 63 << 6, -1};
    struct ordered_rule *rule = add_rule(f, "1/zone/foo/soft 1/node/foo/soft");
    cluster_nodes(&f->c, "a b,+zone x,-zone");
    cluster_pods(&f->c, "a:1");
    check_raw(f, "a b x", soft);
    rule->all_keys = true;
    check_raw(f, "a b x", all_keys);
}

static void assume(struct fixture *f, const char *uid, const char *const *nodes, uint32_t count) {
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    struct cache_view view;
    uint32_t slots[4];
    struct cache_nodes where = {.slots = slots, .count = count};
    pod.meta.uid = str_of(uid);
    cache_view_open(f->c.cache, &view);
    where.epoch = topology_slot_epoch(view.nodes.topology);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = topology_find(&view.nodes, str_of(nodes[i]));
    cache_view_close(&view);
    cache_write_begin(f->c.cache);
    assert_int_equal(cache_assume(f->c.cache, &pod.meta, &where), 0);
    cache_write_end(f->c.cache);
}

/* Nobody knows where a pod that was scored will land: it counts in parts on each of its nodes, and
 * all parts together are as much as one pod that is there. */
static void assumed_pods_count_in_parts(void **state) {
    struct fixture *f = *state;
    static const char *const nodes[] = {"a", "x"};
    static const int64_t half_each[] = {0, 0, 63}, one_more[] = {0, 42, 63}, alike[] = {0, 0, 63};
    add_rule(f, "1/zone/foo/soft");
    cluster_nodes(&f->c, "a x o");
    assume(f, "first", nodes, 2);
    check_raw(f, "a x o", half_each);
    assume(f, "second", nodes, 1);
    check_raw(f, "a x o", one_more); /* 1.5, 0.5 and 0 pods */
    cluster_pods(&f->c, "x:1");
    check_raw(f, "a x o", alike);
}

/* A policy's order is one of two keys at least: of a single key that candidates have,
 * kube-scheduler's own score says the same. Keys that no candidate has are left out; candidates
 * that are not known do not say what they have. */
static void an_order_has_two_keys_that_candidates_have(void **state) {
    static const struct {
        const char *terms, *candidates;
        uint32_t want; /* terms that are scored by */
    } cases[] = {
        {"1/zone/nil,soft 1/node/nil,soft", "a x", 2},
        {"1/zone/nil,soft 1/rack/nil,soft", "a x", 0},
        {"1/rack/nil,soft 1/zone/nil,soft 1/node/nil,soft", "a x", 2},
        {"1/rack/nil,soft 1/zone/nil,soft 1/node/nil,soft", "a r", 3},
        {"1/rack/nil,soft 1/row/nil,soft", "a x", 0},
        {"1/zone/nil,soft 1/rack/nil,soft", "nowhere", 2},
        {"1/zone/nil,soft 1/rack/nil,soft", "nowhere a", 0},
    };
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a x r,+rack=1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct asked asked;
        f->c.options.ordered_rule_count = 0;
        add_rule(f, cases[i].terms)->all_keys = true;
        ask_for(&asked, cases[i].candidates);
        struct score_result result = score(f, &asked.candidates);
        assert_int_equal(result.applied_count, cases[i].want);
        assert_int_equal(result.column_count, cases[i].want > 0);
        if (cases[i].want > 0)
            assert_string_equal(result.columns[0].algorithm, "ordered_spread");
    }
}

/* Nobody knows where they land: soft terms count them in parts, hard ones wait for the watch. */
static void the_filter_counts_no_assumed_pods(void **state) {
    static const char *const nodes[] = {"a"};
    struct fixture *f = *state;
    add_rule(f, "1/zone/foo");
    cluster_nodes(&f->c, "a b x");
    check_filter(f, "a b x", "SSS");
    assume(f, "first", nodes, 1);
    check_filter(f, "a b x", "SSS");
    cluster_pods(&f->c, "a:1");
    check_filter(f, "a b x", "UUS");
    cluster_pods(&f->c, "x:1");
    check_filter(f, "a b x", "SSS");
}

/* Assumed where a policy lets no node count. */
static void assumed_on_nodes_that_do_not_count(void **state) {
    static const char *const tainted[] = {"b"};
    static const int64_t alike[] = {0, 0};
    struct fixture *f = *state;
    add_rule(f, "1/zone/foo,soft,taints=Honor");
    cluster_nodes(&f->c, "a b,! x");
    check_raw(f, "a x", alike);
    assume(f, "first", tainted, 1);
    check_raw(f, "a x", alike);
    cluster_nodes(&f->c, "b");
    static const int64_t one_more[] = {0, 63};
    check_raw(f, "a x", one_more);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_worked_example),
        TEST(uc2_even_spread),
        TEST(uc3_hard_maximum_skew_1),
        TEST(uc3_hard_maximum_skew_2),
        TEST(uc3_soft),
        TEST(uc4_regions_before_zones),
        TEST(seven_and_two_soft),
        TEST(seven_and_two_hard),
        TEST(seven_and_two_hard_maximum_skew_2),
        TEST(five_clusters_of_three_clouds),
        TEST(siblings_have_the_same_parent),
        TEST(a_hard_term_needs_its_key),
        TEST(nodes_without_a_soft_key_are_one_domain),
        TEST(a_node_without_a_key_may_be_the_worst),
        TEST(assumed_pods_count_in_parts),
        TEST(an_order_has_two_keys_that_candidates_have),
        TEST(the_filter_counts_no_assumed_pods),
        TEST(assumed_on_nodes_that_do_not_count),
        TEST(nodes_that_policies_exclude_do_not_count),
        TEST(terms_take_six_bits_each),
        TEST(parts_are_rounded_down),
        TEST(later_keys_reach_the_priority),
        TEST(the_worst_shares_its_score_with_none),
        TEST(all_equal_score_the_most),
        TEST(the_first_rule_that_fits_is_used),
        TEST(the_group_is_the_rules_selector_in_the_namespace),
        TEST(match_label_keys_narrow_the_group),
    };
    return CLUSTER_RUN_TESTS("ordered spread", tests);
}
