/* engine_preempt(): would the pod fit on a node once these pods are gone? */
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <errno.h>

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

/* Asks about several nodes at once; fits[i] is the answer for preemptions[i]. */
static const bool *preempt(struct cluster *c, const struct pod *pod,
                           const struct preemption *preemptions, uint32_t count) {
    bool *fits;
    struct err err;
    if (engine_preempt(&c->options, c->cache, pod, preemptions, count, &c->arena, &fits, &err) != 0)
        fail_msg("%s", err.text);
    return fits;
}

/* The cluster's pods number first, first + 1, ... as victims. */
static struct preemption victims(struct cluster *c, const char *node, uint32_t first,
                                 uint32_t count) {
    struct object_meta *metas = arena_array(&c->arena, count, sizeof *metas);
    assert_non_null(metas);
    for (uint32_t i = 0; i < count; i++)
        metas[i] = c->pods[first + i].object.meta;
    return (struct preemption){str_of(node), metas, count};
}

static bool fits(struct cluster *c, const struct pod *pod, struct preemption preemption) {
    return preempt(c, pod, &preemption, 1)[0];
}

static void enough_victims_make_room(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:3 x:1"); /* pods 0..2 on a, 3 on x */
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    assert_false(fits(c, &pod, victims(c, "a", 0, 0)));
    assert_false(fits(c, &pod, victims(c, "a", 0, 1)));
    assert_true(fits(c, &pod, victims(c, "a", 0, 2)));
    assert_true(fits(c, &pod, victims(c, "a", 0, 3)));
    assert_true(fits(c, &pod, victims(c, "x", 3, 0)));
}

/* Removing from the emptiest domain lowers the minimum too. */
static void a_lower_minimum_does_not_help(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b x");
    cluster_pods(c, "a:1 b:1 x:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo 1/node/foo", "");
    assert_true(fits(c, &pod, victims(c, "a", 0, 1)));
    assert_false(fits(c, &pod, victims(c, "b", 1, 0)));
    assert_true(fits(c, &pod, victims(c, "x", 2, 1)));
}

static void only_victims_on_the_node_count(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b x");
    cluster_pods(c, "a:1 b:1");
    struct pod pod = cluster_pod(c, "foo", "1/node/foo", "");
    assert_false(fits(c, &pod, victims(c, "a", 1, 1)));
    assert_true(fits(c, &pod, victims(c, "a", 0, 2)));
    pod = cluster_pod(c, "foo", "2/zone/foo", "");
    assert_false(fits(c, &pod, victims(c, "a", 1, 1))); /* on b, of the same zone */
    assert_true(fits(c, &pod, victims(c, "b", 1, 1)));
}

static void victims_that_do_not_count_change_nothing(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:1 a:bar a:~1 ns1/a:1"); /* pods 0, 1, 2, 3 */
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    assert_false(fits(c, &pod, victims(c, "a", 1, 3)));
    assert_true(fits(c, &pod, victims(c, "a", 0, 4)));
    struct object_meta stranger = {.uid = STR("nobody")};
    assert_false(fits(c, &pod, (struct preemption){STR("a"), &stranger, 1}));
}

static void a_victim_named_twice_goes_once(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:2");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    const struct object_meta *first = &c->pods[0].object.meta;
    struct object_meta twice[] = {*first, *first};
    struct preemption both[] = {{STR("a"), twice, 2}, victims(c, "a", 0, 1), victims(c, "a", 0, 2)};
    const bool *answers = preempt(c, &pod, both, 3);
    assert_false(answers[0]);
    assert_false(answers[1]);
    assert_true(answers[2]);
}

/* The last pod of a domain goes and comes back: the domain must neither vanish nor turn negative.
 */
static void the_state_is_whole_after_every_candidate(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b x y");
    cluster_pods(c, "a:1 x:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo 1/node/foo", "");
    struct object_meta twice[] = {c->pods[0].object.meta, c->pods[0].object.meta};
    struct preemption preemptions[6] = {victims(c, "a", 0, 1),       victims(c, "a", 0, 0),
                                        {STR("a"), twice, 2},        victims(c, "a", 0, 0),
                                        victims(c, "nowhere", 0, 1), victims(c, "b", 0, 0)};
    static const bool want[] = {true, false, true, false, false, true};
    for (int round = 0; round < 3; round++) {
        const bool *answers = preempt(c, &pod, preemptions, 6);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(answers[i], want[i]);
    }
}

static void reserved_pods_are_victims_like_others(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    struct pod other = cluster_pod(c, "foo", "", "");
    other.meta.uid = STR("other");
    cache_write_begin(c->cache);
    assert_int_equal(cache_reserve(c->cache, &other, STR("a")), 0);
    cache_write_end(c->cache);
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    assert_false(fits(c, &pod, (struct preemption){STR("a"), NULL, 0}));
    assert_true(fits(c, &pod, (struct preemption){STR("a"), &other.meta, 1}));
}

static void victims_may_be_known_by_name(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_apply_json(c, OBJECT_POD,
                       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"labels\":"
                       "{\"foo\":\"\"}},\"spec\":{\"nodeName\":\"a\"}}");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    struct object_meta victim = {.name = STR("p"), .namespace = STR("default")};
    assert_true(fits(c, &pod, (struct preemption){STR("a"), &victim, 1}));
    victim.namespace = STR("other");
    assert_false(fits(c, &pod, (struct preemption){STR("a"), &victim, 1}));
}

static void nodes_that_can_never_be_used(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a,-zone");
    cluster_pods(c, "a:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo", "");
    assert_false(fits(c, &pod, victims(c, "a", 0, 1)));
    assert_false(fits(c, &pod, victims(c, "nowhere", 0, 1)));
}

static void without_constraints_everything_fits(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a");
    cluster_pods(c, "a:9");
    struct pod pod = cluster_pod(c, "foo", "", "");
    assert_true(fits(c, &pod, victims(c, "a", 0, 0)));
    assert_true(fits(c, &pod, victims(c, "nowhere", 0, 0)));
    (void)preempt(c, &pod, NULL, 0);
}

static void ordered_spread_is_asked_too(void **state) {
    struct cluster *c = *state;
    struct ordered_rule rule = {.pods = cluster_selector(c, "{}")};
    rule.terms = cluster_constraints(c, "1/zone/nil 1/node/nil", &rule.term_count);
    c->options.ordered_rules = &rule;
    c->options.ordered_rule_count = 1;
    cluster_nodes(c, "a b x");
    cluster_pods(c, "a:1 b:1"); /* zone1 has 2, zone2 0 */
    struct pod pod = cluster_pod(c, "foo", "", "");
    struct preemption preemptions[] = {victims(c, "a", 0, 0), victims(c, "a", 0, 1),
                                       victims(c, "b", 1, 1), victims(c, "x", 0, 0)};
    const bool *answers = preempt(c, &pod, preemptions, 4);
    assert_false(answers[0]);
    assert_false(answers[1]); /* zone1 would hold 2, zone2 none */
    assert_false(answers[2]);
    assert_true(answers[3]);
    cluster_pods(c, "x:1");
    answers = preempt(c, &pod, preemptions, 4);
    assert_false(answers[0]);
    assert_true(answers[1]);
    assert_true(answers[2]);
    assert_true(answers[3]);
}

/* upstream: podtopologyspread/filtering.go minMatchNum(): with fewer domains than minDomains the
 * emptiest is taken for empty, with as many it is not; also after a victim is gone. */
static void fewer_domains_than_wanted_count_nothing(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a x");
    cluster_pods(c, "a:2 x:1");
    struct pod three = cluster_pod(c, "foo", "1/zone/foo,minDomains=3", "");
    assert_false(fits(c, &three, victims(c, "a", 0, 1)));
    assert_true(fits(c, &three, victims(c, "a", 0, 2)));
    assert_false(fits(c, &three, victims(c, "x", 2, 0)));
    assert_true(fits(c, &three, victims(c, "x", 2, 1)));
    struct pod two = cluster_pod(c, "foo", "1/zone/foo,minDomains=2", "");
    assert_true(fits(c, &two, victims(c, "a", 0, 1)));
    struct pod one = cluster_pod(c, "foo", "1/zone/foo,minDomains=1", "");
    assert_true(fits(c, &one, victims(c, "a", 0, 1)));
}

/* upstream: updateWithPod() returns where the node does not count. */
static void victims_on_nodes_that_do_not_count(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b,! x");
    cluster_pods(c, "a:2 b:1 x:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo,taints=Honor", "");
    assert_false(fits(c, &pod, victims(c, "b", 2, 1)));
    pod = cluster_pod(c, "foo", "2/zone/foo,taints=Honor", "");
    assert_true(fits(c, &pod, victims(c, "b", 2, 1)));
    struct ordered_rule rule = {.pods = cluster_selector(c, "{}")};
    rule.terms = cluster_constraints(c, "1/zone/nil,taints=Honor", &rule.term_count);
    c->options.ordered_rules = &rule;
    c->options.ordered_rule_count = 1;
    pod = cluster_pod(c, "foo", "", "");
    assert_false(fits(c, &pod, victims(c, "b", 2, 1)));
    assert_true(fits(c, &pod, victims(c, "a", 0, 1)));
}

/* A node lacks the second key: what is there counts for neither. */
static void victims_on_nodes_without_a_key(void **state) {
    struct cluster *c = *state;
    cluster_nodes(c, "a b,-node x");
    cluster_pods(c, "a:2 b:1 x:1");
    struct pod pod = cluster_pod(c, "foo", "1/zone/foo 9/node/foo", "");
    assert_false(fits(c, &pod, victims(c, "a", 0, 0)));
    assert_true(fits(c, &pod, victims(c, "a", 0, 1)));
    assert_false(fits(c, &pod, victims(c, "b", 2, 1)));
    assert_false(fits(c, &pod, victims(c, "a", 0, 0)));
}

/* What a victim frees is taken again before the next candidate: a port, room for one more pod, and
 * cpu. */
static void the_other_filters_are_whole_after_every_candidate(void **state) {
    static const struct {
        const char *on_it, *pod;
    } cases[] = {
        {"\"containers\":[{\"ports\":[{\"hostPort\":80}]}],",
         "\"containers\":[{\"ports\":[{\"hostPort\":80}]}],"},
        {"", ""}, /* the node has room for one */
        {"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"3\"}}}],",
         "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],"},
        {"\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
         "\"topologyKey\":\"zone\",\"labelSelector\":{}}]}},",
         ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const bool want[] = {true, false, true, false};
        struct cluster c;
        struct object_meta victim = {.name = STR("other"), .namespace = STR("default")};
        const struct preemption with = {STR("n"), &victim, 1}, without = {STR("n"), NULL, 0};
        const struct preemption asked[] = {with, without, with, without};
        cluster_open(&c);
        c.options.filters = FILTERS_ALL;
        cluster_apply_json(&c, OBJECT_NODE,
                           i == 1 ? "{\"metadata\":{\"name\":\"n\",\"labels\":{\"zone\":\"z\"}},"
                                    "\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"1\"}}}"
                                  : "{\"metadata\":{\"name\":\"n\",\"labels\":{\"zone\":\"z\"}},"
                                    "\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"2\"}}}");
        struct strbuf json = {0};
        strbuf_appendf(&json,
                       "{\"metadata\":{\"name\":\"other\",\"namespace\":\"default\"},\"spec\":{%s"
                       "\"nodeName\":\"n\"}}",
                       cases[i].on_it);
        strbuf_append_char(&json, '\0');
        struct object on_it; /* as a watch decodes it */
        struct err err;
        assert_int_equal(
            object_decode(str_of(json.p), OBJECT_POD, POD_RUNNING, &c.arena, &on_it, &err), 0);
        cluster_apply(&c, &on_it);
        strbuf_done(&json);
        struct pod pod = cluster_pod(&c, "foo", "", cases[i].pod);
        const bool *answers = preempt(&c, &pod, asked, 4);
        for (int k = 0; k < 4; k++)
            if (answers[k] != want[k])
                fail_msg("case %zu, answer %d", i, k);
        cluster_close(&c);
    }
}

static void errors_come_through(void **state) {
    struct cluster *c = *state;
    struct err err = {0};
    bool *answers = NULL;
    struct preemption preemption = {.node = STR("a")};
    struct pod pod =
        cluster_object(c, OBJECT_POD,
                       "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"topologySpreadConstraints\":["
                       "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                       "\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\","
                       "\"operator\":\"Gt\",\"values\":[\"1\"]}]}}]}}")
            .pod;
    int r = engine_preempt(&c->options, c->cache, &pod, &preemption, 1, &c->arena, &answers, &err);
    assert_int_equal(r, -EINVAL);
    assert_contains(err.text, "spec.topologySpreadConstraints[0].labelSelector");
    assert_null(answers);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- one node at a time, and all at once ---- */

static void random_cluster(struct cluster *c, uint64_t *random) {
    struct strbuf nodes = {0}, pods = {0};
    for (int name = 'a'; name <= 'z'; name++)
        if (unit_below(random, 3) > 0)
            strbuf_appendf(&nodes, "%c%s%s ", name, unit_below(random, 6) == 0 ? ",-zone" : "",
                           unit_below(random, 6) == 0 ? ",-node" : "");
    for (int name = 'a'; name <= 'z'; name++)
        if (unit_below(random, 3) == 0)
            strbuf_appendf(&pods, "%c:%u ", name, 1 + unit_below(random, 3));
    strbuf_append(&nodes, "a", 2);
    strbuf_append(&pods, "", 1);
    cluster_nodes(c, nodes.p);
    cluster_pods(c, pods.p);
    strbuf_done(&nodes);
    strbuf_done(&pods);
}

static void judge_alone(struct cluster *c, const struct pod *pod, struct str name,
                        struct filter_result *ret) {
    struct err err;
    if (engine_filter(&c->options, c->cache, pod, &(struct candidates){&name, 1}, &c->arena, ret,
                      &err) != 0)
        fail_msg("%s", err.text);
}

/* Many candidates are judged by a verdict for each domain, one alone is judged by itself, and
 * preemption asks about one node after the other. */
static void all_at_once_is_as_one_by_one(void **state) {
    static const char *const constraints[] = {
        "1/zone/foo",
        "1/node/foo",
        "2/zone/foo 1/node/foo",
        "1/node/foo 2/zone/foo 3/host/foo",
        "3/host/foo,minDomains=40",
    };
    static const struct str names[] = {
        {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"n", 1}, {"o", 1}, {"p", 1},
        {"q", 1}, {"x", 1}, {"y", 1}, {"z", 1}, {"?", 1}, {"a", 1}, {"f", 1}, {"g", 1},
        {"h", 1}, {"i", 1}, {"j", 1}, {"k", 1}, {"l", 1}, {"m", 1}, {"r", 1}, {"s", 1},
        {"t", 1}, {"u", 1}, {"v", 1}, {"w", 1}, {"q", 1},
    };
    enum {
        NAMES = sizeof names / sizeof names[0],
        KINDS = sizeof constraints / sizeof *constraints
    };
    struct cluster *c = *state;
    uint64_t random = unit_seed();
    random_cluster(c, &random);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct pod pod = cluster_pod(c, "foo", constraints[kind], "");
        struct preemption nobody[NAMES];
        struct filter_result all, alone;
        struct err err;
        for (uint32_t i = 0; i < NAMES; i++)
            nobody[i] = (struct preemption){.node = names[i]};
        const bool *fits_alone = preempt(c, &pod, nobody, NAMES);
        assert_int_equal(engine_filter(&c->options, c->cache, &pod,
                                       &(struct candidates){names, NAMES}, &c->arena, &all, &err),
                         0);
        for (uint32_t i = 0; i < NAMES; i++) {
            judge_alone(c, &pod, names[i], &alone);
            assert_int_equal(all.verdicts[i], alone.verdicts[0]);
            assert_true(
                str_eq(all.reason_texts[all.reasons[i]], alone.reason_texts[alone.reasons[0]]));
            assert_int_equal(fits_alone[i], all.verdicts[i] == VERDICT_PASS);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(enough_victims_make_room),
        TEST(a_lower_minimum_does_not_help),
        TEST(only_victims_on_the_node_count),
        TEST(victims_that_do_not_count_change_nothing),
        TEST(a_victim_named_twice_goes_once),
        TEST(the_state_is_whole_after_every_candidate),
        TEST(reserved_pods_are_victims_like_others),
        TEST(victims_may_be_known_by_name),
        TEST(nodes_that_can_never_be_used),
        TEST(without_constraints_everything_fits),
        TEST(ordered_spread_is_asked_too),
        TEST(fewer_domains_than_wanted_count_nothing),
        TEST(victims_on_nodes_that_do_not_count),
        TEST(victims_on_nodes_without_a_key),
        cmocka_unit_test(the_other_filters_are_whole_after_every_candidate),
        TEST(errors_come_through),
        TEST(all_at_once_is_as_one_by_one),
    };
    return CLUSTER_RUN_TESTS("preempt", tests);
}
