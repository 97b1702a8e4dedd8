/* What a policy makes of a pod's scores. Where its data is found: see tests/integration. */
#include "extender/policy_overrides.h"

#include "admission/pods/spread_inject.h"
#include "unit/cluster_builder.h"

#include <errno.h>

#define TERMS                                                                                      \
    {.topology_key = {"region", 6}, .max_skew = 1, .hard = true}, {                                \
        .topology_key = {"zone", 4}, .max_skew = 1                                                 \
    }

static const struct policy_spread region_then_zone[] = {TERMS};
static const struct policy_spread many[] = {TERMS, TERMS, TERMS, TERMS, TERMS};

struct fixture {
    struct cluster c;
    struct policy policy;
    struct pod pod;
    struct engine_options options;
};

/* Of the region r1 two zones, with 3 pods; of r2 one, with 2. */
static int setup(void **state) {
    static struct fixture f;
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a,+region=r1,+zone=z1 b,+region=r1,+zone=z2 x,+region=r2,+zone=z3");
    cluster_pods(&f.c, "a:2 b:1 x:2");
    f.policy = (struct policy){.name = STR("even"),
                               .spread = region_then_zone,
                               .spread_count = 2,
                               .has_weights = true,
                               .spread_weight = 7,
                               .locality_weight = 8,
                               .problem = STR("")};
    f.pod = cluster_pod(&f.c, "foo", "", "");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static void prepare(struct fixture *f) {
    const struct policy_list list = {&f->policy, 1};
    const struct pod_scoring scoring = {.instead = &list, .cache = f->c.cache};
    struct err err = {0};
    f->options = f->c.options;
    if (pod_scoring_prepare(&scoring, &f->pod, &f->c.arena, &f->options, &err) != 0)
        fail_msg("%s", err.text);
}

static void expect_no_order(struct fixture *f) {
    prepare(f);
    assert_null(f->options.policy_rule);
    assert_int_equal(f->options.spread_weight, f->c.options.spread_weight);
    assert_int_equal(f->options.ordered_weight, f->c.options.ordered_weight);
}

static struct score_result score(struct fixture *f) {
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"x", 1}};
    static const struct candidates candidates = {names, 3};
    struct score_result result;
    prepare(f);
    if (engine_score(&f->options, f->c.cache, &f->pod, &candidates, &f->c.arena, &result, NULL) !=
        0)
        fail_msg("not scored");
    return result;
}

static void expect_raw(struct fixture *f, int64_t a, int64_t b, int64_t x) {
    struct score_result result = score(f);
    assert_int_equal(result.column_count, 1);
    assert_string_equal(result.columns[0].algorithm, "ordered_spread");
    assert_int_equal(result.columns[0].raw[0], a);
    assert_int_equal(result.columns[0].raw[1], b);
    assert_int_equal(result.columns[0].raw[2], x);
}

/* ---- what is in force ---- */

static void regions_are_filled_evenly_before_zones(void **state) {
    struct fixture *f = *state;
    expect_raw(f, 0, 63, 63 << 6);
    cluster_pods(&f->c, "x:1");
    expect_raw(f, 0, 63, 0);
    struct score_result result = score(f);
    assert_int_equal(result.applied_count, 2);
    assert_int_equal(result.applied[0].origin, CONSTRAINT_OF_RULE);
    assert_str(result.applied[0].rule, "TopologyPolicy even");
    assert_str(result.applied[0].constraint->topology_key, "region");
}

static void no_node_is_dropped(void **state) {
    struct fixture *f = *state;
    static const struct str names[] = {{"a", 1}, {"elsewhere", 9}};
    struct filter_result result;
    prepare(f);
    assert_int_equal(engine_filter(&f->options, f->c.cache, &f->pod, &(struct candidates){names, 2},
                                   &f->c.arena, &result, NULL),
                     0);
    assert_true(result.skipped);
}

/* A pod that the webhook leaves alone is scored as if there were no policy; what binds is followed
 * all the same. */
static void a_pod_that_opted_out_is_not_followed(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo+evenkeel.io/inject=disabled", "", "");
    expect_no_order(f);
    f->pod = cluster_pod(&f->c, "foo+evenkeel.io/inject=enabled", "", "");
    expect_raw(f, 0, 63, 63 << 6);
    f->pod = cluster_pod(&f->c, "foo+evenkeel.io/inject=disabled", "", "");
    f->policy.mode = POLICY_REQUIRE;
    expect_raw(f, 0, 63, 63 << 6);
}

static void a_pod_of_a_namespace_that_opted_out_is_not_followed(void **state) {
    struct fixture *f = *state;
    cluster_apply_json(&f->c, OBJECT_NAMESPACE,
                       "{\"metadata\":{\"name\":\"default\",\"labels\":{\"evenkeel.io/inject\":"
                       "\"disabled\"}}}");
    expect_no_order(f);
    f->policy.mode = POLICY_REQUIRE;
    expect_raw(f, 0, 63, 63 << 6);
}

/* Whichever scheduler asks gets an answer. */
static void pods_of_every_scheduler_are_scored(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo", "", "\"schedulerName\":\"mine\",");
    expect_raw(f, 0, 63, 63 << 6);
}

static void a_revision_is_spread_by_itself(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo+pod-template-hash=2", "", "");
    expect_raw(f, 0, 0, 0);
    cluster_pods(&f->c, "x:foo+pod-template-hash=2");
    expect_raw(f, 63 << 6, 63 << 6, 0);
}

/* What the webhook has injected is what the policy asks for, and scored once. */
static void soft_constraints_on_the_policys_keys_are_replaced(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo", "1/region/foo 1/zone/foo,soft", "");
    expect_raw(f, 0, 63, 63 << 6);
}

/* Whom they count is the pod's own wish where it made them itself. */
static void soft_constraints_say_whom_to_count(void **state) {
    struct fixture *f = *state;
    cluster_pods(&f->c, "x:bar x:bar");
    f->pod = cluster_pod(&f->c, "foo+bar", "1/region/bar,soft 1/zone/bar,soft", "");
    expect_raw(f, 63 << 6, 63 << 6, 0);
    f->pod = cluster_pod(&f->c, "foo+bar", "1/zone/bar,soft", "");
    expect_raw(f, 63 << 6, 63 << 6, 0);
    f->pod = cluster_pod(&f->c, "foo+bar", "1/region/foo 1/zone/bar,soft", "");
    expect_raw(f, 63 << 6, 63 << 6, 0); /* a hard one scores nothing */
}

static void soft_constraints_that_count_different_pods_stay(void **state) {
    static const struct str revision_key = {"pod-template-hash", 17};
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo+bar", "1/region/foo,soft 1/zone/bar,soft", "");
    expect_no_order(f);
    f->pod = cluster_pod(&f->c, "foo", "1/region/foo,soft 1/zone/foo,soft", "");
    struct spread_constraint own[2] = {f->pod.constraints[0], f->pod.constraints[1]};
    f->pod.constraints = own;
    prepare(f);
    assert_non_null(f->options.policy_rule);
    own[1].match_label_keys = &revision_key;
    own[1].match_label_key_count = 1;
    expect_no_order(f);
    own[0] = own[1];
    prepare(f);
    assert_int_equal(f->options.policy_rule->match_label_key_count, 1);
    own[1].selector.present = false; /* counts nothing */
    expect_no_order(f);
    own[0].selector = own[1].selector = (struct label_selector){.present = true};
    expect_no_order(f);
}

static void expect_empty_tainted_region(struct fixture *f, enum policy_inclusion taints,
                                        bool is_a_domain) {
    const struct policy_spread spread[] = {
        {.topology_key = {"region", 6}, .max_skew = 1, .node_taints = taints},
        {.topology_key = {"zone", 4}, .max_skew = 1, .node_taints = taints},
    };
    f->policy.spread = spread;
    struct score_result result = score(f);
    assert_int_equal(result.columns[0].raw[0] >> 6, 0);
    /* r1 has 3 pods, r2 has 2: it is the emptiest unless the empty r3 counts */
    assert_int_equal(result.columns[0].raw[2] >> 6, is_a_domain ? 63 / 3 : 63);
}

/* docs/guides/pods.md: nodeTaintsPolicy is Honor when it is not written, so the node's taint keeps
 * its region out of what is compared, as it does in what the webhook injects. */
static void inclusion_policies_count(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "y,+region=r3,+zone=z4,!");
    expect_empty_tainted_region(f, POLICY_HONOR, false);
    expect_empty_tainted_region(f, POLICY_INCLUSION_DEFAULT, false);
    expect_empty_tainted_region(f, POLICY_IGNORE, true);
}

/* As for the pod's own soft constraints, a node without their keys is no good place. */
static void a_node_without_the_keys_is_the_worst(void **state) {
    struct fixture *f = *state;
    cluster_nodes(&f->c, "a,-region,+zone=z1");
    expect_raw(f, -1, 63 << 6, 0); /* without the two pods on it r1 has fewer than r2 */
}

/* ---- keys that no candidate has ---- */

/* Priorities of a, b and x by the pod's own constraints: what they are without policies. */
static void expect_own_scores(struct fixture *f) {
    static const struct str names[] = {{"a", 1}, {"b", 1}, {"x", 1}};
    struct score_result own, with = score(f);
    if (engine_score(&f->c.options, f->c.cache, &f->pod, &(struct candidates){names, 3},
                     &f->c.arena, &own, NULL) != 0)
        fail_msg("not scored");
    assert_int_equal(with.column_count, 1);
    assert_string_equal(with.columns[0].algorithm, "spread");
    assert_memory_equal(with.priorities, own.priorities, 3 * sizeof *own.priorities);
    assert_true(own.priorities[1] > own.priorities[0]); /* z1 has 2 pods, z2 has one */
    assert_str(with.applied[0].constraint->topology_key, "zone");
}

/* The webhook leaves a constraint out whose key no node has; the others stay, and count. */
static void an_order_of_one_key_that_is_there_leaves_the_pods_constraints(void **state) {
    struct fixture *f = *state;
    static const struct policy_spread zone_then_rack[] = {
        {.topology_key = {"zone", 4}, .max_skew = 1},
        {.topology_key = {"rack", 4}, .max_skew = 1, .hard = true},
    };
    f->policy.spread = zone_then_rack;
    f->pod = cluster_pod(&f->c, "foo", "1/zone/foo,soft", "");
    expect_own_scores(f);
    cluster_nodes(&f->c, "y,-zone,+rack=k1"); /* which is no candidate */
    expect_own_scores(f);
    cluster_nodes(&f->c, "a,+region=r1,+zone=z1,+rack=k1");
    struct score_result result = score(f);
    assert_string_equal(result.columns[0].algorithm, "ordered_spread");
}

static void an_order_goes_on_without_a_key_that_no_candidate_has(void **state) {
    struct fixture *f = *state;
    static const struct policy_spread three[] = {
        {.topology_key = {"region", 6}, .max_skew = 1},
        {.topology_key = {"rack", 4}, .max_skew = 1},
        {.topology_key = {"zone", 4}, .max_skew = 1},
    };
    f->policy.spread = three;
    f->policy.spread_count = 3;
    expect_raw(f, 0, 63, 63 << 6); /* as by region and zone */
}

/* In an extender beside PodTopologySpread the plugin scores the pod's constraints already. */
static void without_a_weight_the_pods_constraints_are_not_scored_twice(void **state) {
    struct fixture *f = *state;
    static const struct policy_spread racks[] = {
        {.topology_key = {"row", 3}, .max_skew = 1},
        {.topology_key = {"rack", 4}, .max_skew = 1},
    };
    static const struct str names[] = {{"a", 1}, {"b", 1}};
    struct score_result result;
    f->policy.spread = racks;
    f->pod = cluster_pod(&f->c, "foo", "1/rack/foo,soft", "");
    prepare(f);
    assert_non_null(f->options.policy_rule);
    f->options.spread_weight = 0;
    assert_int_equal(engine_score(&f->options, f->c.cache, &f->pod, &(struct candidates){names, 2},
                                  &f->c.arena, &result, NULL),
                     0);
    assert_int_equal(result.column_count, 0);
}

static void the_most_important_terms_count(void **state) {
    struct fixture *f = *state;
    f->policy.spread = many;
    f->policy.spread_count = sizeof many / sizeof many[0];
    prepare(f);
    assert_int_equal(f->options.policy_rule->term_count, ENGINE_MAX_ORDERED_TERMS);
}

static void weights_are_for_pods_with_data(void **state) {
    struct fixture *f = *state;
    static const struct mounted_dataset data[1];
    prepare(f);
    assert_int_equal(f->options.ordered_weight, f->c.options.spread_weight);
    f->pod.datasets = data;
    f->pod.dataset_count = 1;
    prepare(f);
    assert_int_equal(f->options.ordered_weight, 7);
    assert_int_equal(f->options.locality_weight, 8);
}

/* Racks count for more than zones there, and regions for nothing; not for pods without data, nor
 * by a policy that only tells. */
static void a_policys_tiers_score_locality(void **state) {
    struct fixture *f = *state;
    static const struct mounted_dataset data[1];
    static const struct policy_tier tiers[] = {{{"rack", 4}, 60}, {{"zone", 4}, 30}};
    f->policy.locality = POLICY_LOCALITY_PREFERRED;
    f->policy.tiers = tiers;
    f->policy.tier_count = 2;
    prepare(f);
    assert_int_equal(f->options.tier_count, 0);
    f->pod.datasets = data;
    f->pod.dataset_count = 1;
    prepare(f);
    assert_int_equal(f->options.tier_count, 2);
    assert_str(f->options.tiers[0].topology_key, "rack");
    assert_int_equal(f->options.tiers[0].weight, 60);
    assert_str(f->options.tiers[1].topology_key, "zone");
    assert_int_equal(f->options.tiers[1].weight, 30);
    f->policy.mode = POLICY_AUDIT;
    prepare(f);
    assert_int_equal(f->options.tier_count, 0);
}

static void a_policy_without_tiers_leaves_the_configured_ones(void **state) {
    struct fixture *f = *state;
    static const struct mounted_dataset data[1];
    f->c.options.tiers = engine_default_tiers;
    f->c.options.tier_count = ENGINE_DEFAULT_TIERS;
    f->policy.locality = POLICY_LOCALITY_REQUIRED;
    f->pod.datasets = data;
    f->pod.dataset_count = 1;
    prepare(f);
    assert_ptr_equal(f->options.tiers, engine_default_tiers);
    assert_int_equal(f->options.tier_count, ENGINE_DEFAULT_TIERS);
}

/* ---- what is not ---- */

static void a_policy_that_is_not_the_pods_changes_nothing(void **state) {
    struct fixture *f = *state;
    f->policy.objects = cluster_selector(&f->c, "{\"matchLabels\":{\"bar\":\"\"}}");
    expect_no_order(f);
    f->policy.objects = cluster_selector(&f->c, "{\"matchLabels\":{\"foo\":\"\"}}");
    prepare(f);
    assert_non_null(f->options.policy_rule);
    f->policy.mode = POLICY_AUDIT;
    expect_no_order(f);
}

static void one_key_has_no_order(void **state) {
    struct fixture *f = *state;
    f->policy.spread_count = 1;
    expect_no_order(f);
}

static void a_soft_constraint_on_another_key_is_the_pods_own_wish(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo", "1/region/foo,soft 1/host/foo,soft", "");
    expect_no_order(f);
    f->pod = cluster_pod(&f->c, "foo", "1/host/foo", ""); /* a hard one scores nothing */
    expect_raw(f, 0, 63, 63 << 6);
}

static void a_configured_rule_comes_first(void **state) {
    struct fixture *f = *state;
    struct ordered_rule rule = {.pods =
                                    cluster_selector(&f->c, "{\"matchLabels\":{\"foo\":\"\"}}")};
    f->c.options.ordered_rules = &rule;
    f->c.options.ordered_rule_count = 1;
    expect_no_order(f);
    f->pod = cluster_pod(&f->c, "bar", "", ""); /* which the rule is not for */
    prepare(f);
    assert_non_null(f->options.policy_rule);
}

static void a_pod_without_a_group_is_not_spread(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "pod-template-hash=2", "", "");
    expect_no_order(f);
}

static void without_policies_nothing_changes(void **state) {
    struct fixture *f = *state;
    const struct pod_scoring scoring = {.cache = f->c.cache};
    f->options = f->c.options;
    assert_int_equal(pod_scoring_prepare(&scoring, &f->pod, &f->c.arena, &f->options, NULL), 0);
    assert_memory_equal(&f->options, &f->c.options, sizeof f->options);
}

static void too_little_memory_is_an_error(void **state) {
    struct fixture *f = *state;
    const struct policy_list list = {&f->policy, 1};
    const struct pod_scoring scoring = {.instead = &list, .cache = f->c.cache};
    struct arena small;
    struct err err = {0};
    arena_init(&small, 64);
    f->options = f->c.options;
    assert_int_equal(pod_scoring_prepare(&scoring, &f->pod, &small, &f->options, &err), -ENOMEM);
    assert_string_equal(err.text, "no memory to prepare the scoring of the pod");
    arena_done(&small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Nine constraints: as many terms as a rule may have, the most important ones. */
static void a_rule_has_so_many_terms(void **state) {
    struct fixture *f = *state;
    f->policy.spread = many;
    for (uint32_t count = 2; count <= ENGINE_MAX_ORDERED_TERMS + 1; count++) {
        f->policy.spread_count = count;
        prepare(f);
        assert_non_null(f->options.policy_rule);
        assert_int_equal(f->options.policy_rule->term_count,
                         count < ENGINE_MAX_ORDERED_TERMS ? count : ENGINE_MAX_ORDERED_TERMS);
    }
}

/* nodeAffinityPolicy and nodeTaintsPolicy of each constraint: not given, Honor, Ignore. */
static void terms_count_the_nodes_that_the_policy_counts(void **state) {
    static const enum policy_inclusion inclusions[] = {POLICY_INCLUSION_DEFAULT, POLICY_HONOR,
                                                       POLICY_IGNORE};
    struct fixture *f = *state;
    for (int a = 0; a < 3; a++)
        for (int t = 0; t < 3; t++) {
            struct policy_spread spread[] = {TERMS};
            spread[1].node_affinity = inclusions[a];
            spread[1].node_taints = inclusions[t];
            f->policy.spread = spread;
            prepare(f);
            assert_true(f->options.policy_rule->terms[0].honor_affinity);
            assert_true(f->options.policy_rule->terms[0].honor_taints);
            assert_int_equal(f->options.policy_rule->terms[1].honor_affinity, a != 2);
            assert_int_equal(f->options.policy_rule->terms[1].honor_taints, t != 2);
        }
}

/* kube-scheduler's defaults that the webhook kept are no wish of anybody, unless the policy says
 * that it keeps none: then they are the pod's own. */
static void defaults_that_the_policy_does_not_keep(void **state) {
    struct fixture *f = *state;
    f->pod = cluster_pod(&f->c, "foo", "3/host/foo,soft", "");
    prepare(f);
    const bool is_default = f->options.policy_rule != NULL;
    f->policy.replace_defaults = true;
    expect_no_order(f);
    assert_true(is_default);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(regions_are_filled_evenly_before_zones),
        TEST(no_node_is_dropped),
        TEST(a_rule_has_so_many_terms),
        TEST(terms_count_the_nodes_that_the_policy_counts),
        TEST(defaults_that_the_policy_does_not_keep),
        TEST(a_pod_that_opted_out_is_not_followed),
        TEST(a_pod_of_a_namespace_that_opted_out_is_not_followed),
        TEST(pods_of_every_scheduler_are_scored),
        TEST(a_revision_is_spread_by_itself),
        TEST(soft_constraints_on_the_policys_keys_are_replaced),
        TEST(soft_constraints_say_whom_to_count),
        TEST(soft_constraints_that_count_different_pods_stay),
        TEST(inclusion_policies_count),
        TEST(a_node_without_the_keys_is_the_worst),
        TEST(an_order_of_one_key_that_is_there_leaves_the_pods_constraints),
        TEST(an_order_goes_on_without_a_key_that_no_candidate_has),
        TEST(without_a_weight_the_pods_constraints_are_not_scored_twice),
        TEST(the_most_important_terms_count),
        TEST(weights_are_for_pods_with_data),
        TEST(a_policys_tiers_score_locality),
        TEST(a_policy_without_tiers_leaves_the_configured_ones),
        TEST(a_policy_that_is_not_the_pods_changes_nothing),
        TEST(one_key_has_no_order),
        TEST(a_soft_constraint_on_another_key_is_the_pods_own_wish),
        TEST(a_configured_rule_comes_first),
        TEST(a_pod_without_a_group_is_not_spread),
        TEST(without_policies_nothing_changes),
        TEST(too_little_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
