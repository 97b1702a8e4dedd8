/* Feasibility: which nodes a pod's affinity and tolerations allow, kept right as nodes change. */
#include "unit/cache/probe.h"

#include <errno.h>
#include <stdio.h>

enum {
    KNOWN = CANDIDATE_KNOWN,
    AFFINITY = CANDIDATE_KNOWN | CANDIDATE_AFFINITY,
    TAINTS = CANDIDATE_KNOWN | CANDIDATE_TAINTS,
    BOTH = CANDIDATE_KNOWN | CANDIDATE_AFFINITY | CANDIDATE_TAINTS,
};

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

static uint8_t flags(struct cluster *c, const struct pod *pod, const char *node) {
    return probe_flags(c->cache, pod, node);
}

static void a_plain_pod_is_kept_off_by_taints_only(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "", "");
    cluster_nodes(c, "a b,!");
    assert_int_equal(flags(c, &pod, "a"), BOTH);
    assert_int_equal(flags(c, &pod, "b"), AFFINITY);
    assert_int_equal(flags(c, &pod, "nowhere"), 0);
}

static void flags_follow_labels_and_taints(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "", "\"nodeSelector\":{\"disk\":\"ssd\"},");
    cluster_nodes(c, "a");
    assert_int_equal(flags(c, &pod, "a"), TAINTS);
    cluster_nodes(c, "a,+disk=ssd");
    assert_int_equal(flags(c, &pod, "a"), BOTH);
    cluster_nodes(c, "a,+disk=ssd,!");
    assert_int_equal(flags(c, &pod, "a"), AFFINITY);
    cluster_nodes(c, "a,!");
    assert_int_equal(flags(c, &pod, "a"), KNOWN);
    cluster_nodes(c, "a,+disk=hdd");
    assert_int_equal(flags(c, &pod, "a"), TAINTS);
    cluster_remove(c, &c->nodes[0]);
    assert_int_equal(flags(c, &pod, "a"), 0);
    cluster_nodes(c, "a,+disk=ssd");
    assert_int_equal(flags(c, &pod, "a"), BOTH);
}

/* A taint may change in one word only. */
static void every_part_of_a_taint_counts(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "",
                                 "\"tolerations\":[{\"key\":\"k\",\"value\":\"v\","
                                 "\"effect\":\"NoSchedule\"}],");
#define NODE(key, value, effect)                                                                   \
    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"taints\":[{\"key\":\"" key "\",\"value\":\"" value \
    "\",\"effect\":\"" effect "\"}]}}"
    static const struct {
        const char *json;
        uint8_t want;
    } steps[] = {
        {NODE("k", "v", "NoSchedule"), BOTH},
        {NODE("k", "w", "NoSchedule"), AFFINITY},
        {NODE("k", "v", "NoSchedule"), BOTH},
        {NODE("j", "v", "NoSchedule"), AFFINITY},
        {NODE("k", "v", "NoSchedule"), BOTH},
        {NODE("k", "v", "NoExecute"), AFFINITY},
        {NODE("k", "w", "PreferNoSchedule"), BOTH | CANDIDATE_AVOIDED},
        {NODE("k", "v", "PreferNoSchedule"), BOTH | CANDIDATE_AVOIDED},
        {NODE("kv", "", "NoSchedule"), AFFINITY},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        cluster_apply_json(c, OBJECT_NODE, steps[i].json);
        assert_int_equal(flags(c, &pod, "a"), steps[i].want);
    }
}

static void the_node_name_is_a_field(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(
        c, "", "",
        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
        "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
        "\"operator\":\"In\",\"values\":[\"b\"]}]}]}}},");
    cluster_nodes(c, "a b");
    assert_int_equal(flags(c, &pod, "a"), TAINTS);
    assert_int_equal(flags(c, &pod, "b"), BOTH);
}

static void equal_pods_share_one(void **state) {
    struct cluster *c = *state;
    static const char spec[] = "\"nodeSelector\":{\"a\":\"1\",\"b\":\"2\"},";
    struct pod one = cluster_pod(c, "", "", spec), two = cluster_pod(c, "x", "1/zone/foo", spec);
    (void)flags(c, &one, "a");
    (void)flags(c, &two, "a");
    assert_int_equal(cache_stats(c->cache).feasibilities, 1);
}

static void pods_that_differ_do_not(void **state) {
    struct cluster *c = *state;
    struct pod plain = cluster_pod(c, "", "", "");
    struct pod picky = cluster_pod(c, "", "", "\"nodeSelector\":{\"disk\":\"ssd\"},");
    struct pod tolerant =
        cluster_pod(c, "", "", "\"tolerations\":[{\"key\":\"gone\",\"operator\":\"Exists\"}],");
    cluster_nodes(c, "a,!");
    assert_int_equal(flags(c, &plain, "a"), AFFINITY);
    assert_int_equal(flags(c, &picky, "a"), KNOWN);
    assert_int_equal(flags(c, &tolerant, "a"), BOTH);
    assert_int_equal(cache_stats(c->cache).feasibilities, 3);
}

static void what_a_view_builds_is_kept(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "", "");
    struct cache_view view;
    const uint8_t *got;
    for (uint32_t i = 0; i < 2; i++) {
        cache_view_open(c->cache, &view);
        assert_int_equal(topology_feasibility(&view.nodes, &pod.affinity, pod.tolerations, &got),
                         0);
        assert_int_equal(topology_feasibility(&view.nodes, &pod.affinity, pod.tolerations, &got),
                         0);
        assert_int_equal(view.nodes.built, i == 0 ? 1 : 0);
        cache_view_close(&view);
    }
}

/* The request's memory is gone by the time nodes change. */
static void what_is_remembered_is_a_copy(void **state) {
    struct cluster *c = *state;
    struct cluster question;
    cluster_nodes(c, "a");
    cluster_open(&question);
    static const char spec[] =
        "\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"key\":\"gone\","
        "\"operator\":\"Exists\"}],\"affinity\":{\"nodeAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
        "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"zone1\"]}],"
        "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"a\"]}]},"
        "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"no such word\"}]}]}}},";
    struct pod pod = cluster_pod(&question, "", "", spec);
    assert_int_equal(flags(c, &pod, "a"), TAINTS);
    cluster_close(&question);
    cluster_nodes(c, "a,+disk=ssd,!");
    struct pod again = cluster_pod(c, "", "", spec);
    assert_int_equal(flags(c, &again, "a"), BOTH);
    assert_int_equal(cache_stats(c->cache).feasibilities, 1);
}

static void the_least_recently_used_makes_room(void **state) {
    (void)state;
    struct cluster c;
    struct cache_view view;
    const uint8_t *got;
    cluster_open_with(&c, (struct cache_options){.max_feasibilities = 2});
    struct pod pods[3] = {cluster_pod(&c, "", "", "\"nodeSelector\":{\"n\":\"0\"},"),
                          cluster_pod(&c, "", "", "\"nodeSelector\":{\"n\":\"1\"},"),
                          cluster_pod(&c, "", "", "\"nodeSelector\":{\"n\":\"2\"},")};
    (void)flags(&c, &pods[0], "a");
    (void)flags(&c, &pods[1], "a");
    (void)flags(&c, &pods[0], "a"); /* now pods[1]'s is the oldest */
    (void)flags(&c, &pods[2], "a");
    assert_int_equal(cache_stats(c.cache).feasibilities, 2);
    cache_view_open(c.cache, &view);
    static const uint32_t order[] = {0, 2, 1};
    for (uint32_t i = 0; i < 3; i++) {
        const struct pod *pod = &pods[order[i]];
        assert_int_equal(topology_feasibility(&view.nodes, &pod->affinity, pod->tolerations, &got),
                         0);
        assert_int_equal(view.nodes.built, i < 2 ? 0 : 1);
    }
    cache_view_close(&view);
    cluster_close(&c);
}

/* More than the limit in one view: none of them goes before the view is closed. */
static void what_a_view_uses_stays(void **state) {
    (void)state;
    struct cluster c;
    struct cache_view view;
    const uint8_t *got[3];
    cluster_open_with(&c, (struct cache_options){.max_feasibilities = 1});
    cluster_nodes(&c, "a,!,+n=1");
    struct pod pods[3] = {
        cluster_pod(&c, "", "", "\"nodeSelector\":{\"n\":\"0\"},"),
        cluster_pod(&c, "", "", "\"nodeSelector\":{\"n\":\"1\"},"),
        cluster_pod(&c, "", "", "\"tolerations\":[{\"key\":\"gone\",\"operator\":\"Exists\"}],")};
    cache_view_open(c.cache, &view);
    uint32_t slot = topology_find(&view.nodes, STR("a"));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            topology_feasibility(&view.nodes, &pods[i].affinity, pods[i].tolerations, &got[i]), 0);
    assert_int_equal(got[0][slot], KNOWN);
    assert_int_equal(got[1][slot], AFFINITY);
    assert_int_equal(got[2][slot], BOTH);
    cache_view_close(&view);
    assert_int_equal(cache_stats(c.cache).feasibilities, 1);
    cluster_close(&c);
}

static uint8_t common(struct cluster *c, const struct pod *pod) {
    struct feasibility_question question;
    struct cache_view view;
    const uint8_t *flags_of_all;
    uint8_t all;
    assert_int_equal(feasibility_question_init(&question, &pod->affinity, pod->tolerations), 0);
    cache_view_open(c->cache, &view);
    assert_int_equal(topology_feasible_common(&view.nodes, &question, &flags_of_all, &all), 0);
    cache_view_close(&view);
    return all;
}

/* What all known nodes have in common follows each of them, there and back. */
static void what_all_have_in_common_follows_each(void **state) {
    static const struct {
        const char *node; /* NULL: b goes */
        uint8_t want;
    } steps[] = {
        {"b,+disk=ssd", BOTH}, {"b", TAINTS},
        {"b,+disk=ssd", BOTH}, {"b,+disk=ssd,!", AFFINITY},
        {"b,!", KNOWN},        {"b,+disk=ssd,!", AFFINITY},
        {NULL, BOTH},          {"b,!", KNOWN},
        {NULL, BOTH},          {"b,+disk=ssd", BOTH},
    };
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "", "\"nodeSelector\":{\"disk\":\"ssd\"},");
    cluster_nodes(c, "a,+disk=ssd");
    assert_int_equal(common(c, &pod), BOTH);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i].node == NULL)
            cluster_remove(c, &c->nodes[1]);
        else
            cluster_nodes(c, steps[i].node);
        if (common(c, &pod) != steps[i].want)
            fail_msg("step %zu: %x", i, common(c, &pod));
    }
}

/* A pod may be seen before its node, whose slot is there then: it allows nothing. */
static void a_node_that_is_not_known_has_no_flags(void **state) {
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "", "");
    struct cache_view view;
    struct cache_pod found;
    const uint8_t *flags_of_all;
    cluster_nodes(c, "a");
    for (int round = 0; round < 2; round++) { /* built, and kept while the node goes */
        if (round == 0)
            cluster_pods(c, "ghost:1");
        else
            cluster_remove(c, &c->nodes[1]);
        assert_true(probe_pod(c->cache, &c->pods[0].object.pod.meta, &found));
        cache_view_open(c->cache, &view);
        assert_int_equal(
            topology_feasibility(&view.nodes, &pod.affinity, pod.tolerations, &flags_of_all), 0);
        assert_int_equal(flags_of_all[found.slot], 0);
        cache_view_close(&view);
        if (round == 0) {
            cluster_nodes(c, "ghost");
            assert_int_equal(flags(c, &pod, "ghost"), BOTH);
        }
    }
    assert_int_equal(common(c, &pod), BOTH);
}

/* Whoever may create pods names nodes that are not there: a question is no dearer for them. */
static void nodes_that_are_not_known_take_no_steps(void **state) {
    enum { GHOSTS = 10000, NODE_STEPS = 100 };
    struct cluster *c = *state;
    struct pod pod = cluster_pod(c, "", "", "\"nodeSelector\":{\"disk\":\"ssd\"},");
    struct steps steps = {.max = NODE_STEPS + GHOSTS / 128};
    struct topology_column column;
    struct topology_tree tree;
    struct cache_view view;
    const uint8_t *got;
    char ghost[100];
    for (int i = 0; i < GHOSTS; i++) {
        (void)snprintf(ghost, sizeof ghost,
                       "{\"metadata\":{\"namespace\":\"t\",\"name\":\"p%d\"},\"spec\":{"
                       "\"nodeName\":\"ghost%d\"}}",
                       i, i);
        cluster_apply_json(c, OBJECT_POD, ghost);
    }
    cluster_nodes(c, "a,+disk=ssd b");
    cache_view_open(c->cache, &view);
    view.nodes.steps = &steps;
    assert_int_equal(topology_feasibility(&view.nodes, &pod.affinity, pod.tolerations, &got), 0);
    assert_int_equal(got[topology_find(&view.nodes, STR("a"))], BOTH);
    assert_int_equal(got[topology_find(&view.nodes, STR("b"))], TAINTS);
    steps.used = 0;
    assert_int_equal(topology_column(&view.nodes, STR("disk"), &column), 0);
    assert_int_equal(topology_value(&view.nodes, &column, 0).n, 3);
    steps.used = 0;
    assert_int_equal(topology_tree(&view.nodes, &column, 1, &tree), 0);
    assert_int_equal(tree.count, 3); /* the root, ssd, and nothing */
    view.nodes.steps = NULL;
    cache_view_close(&view);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_plain_pod_is_kept_off_by_taints_only),
        TEST(flags_follow_labels_and_taints),
        TEST(every_part_of_a_taint_counts),
        TEST(the_node_name_is_a_field),
        TEST(equal_pods_share_one),
        TEST(pods_that_differ_do_not),
        TEST(what_a_view_builds_is_kept),
        TEST(what_is_remembered_is_a_copy),
        TEST(the_least_recently_used_makes_room),
        TEST(what_a_view_uses_stays),
        TEST(what_all_have_in_common_follows_each),
        TEST(a_node_that_is_not_known_has_no_flags),
        TEST(nodes_that_are_not_known_take_no_steps),
    };
    return cmocka_run_group_tests_name("feasibility", tests, NULL, NULL);
}
