/*
 * The scores of kube-scheduler's own plugins, on two nodes: n1, where a pod runs, and n2. What is
 * expected is worked out by hand from upstream's formulas (v1.36.3); tests/e2e/kube/differential
 * runs the plugins themselves.
 */
#include "unit/cluster_builder.h"

#include <errno.h>

#define NODE(name, cpu, more)                                                                      \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"node\":\"" name "\"}},\"spec\":{" more     \
    "\"unschedulable\":false},\"status\":{\"allocatable\":{\"cpu\":\"" cpu                         \
    "\",\"memory\":\"8Gi\",\"pods\":\"9\"}"
#define IMAGE ",\"images\":[{\"names\":[\"web:latest\",\"web:1\"],\"sizeBytes\":548405248}]}}"
#define AVOIDED "\"taints\":[{\"key\":\"old\",\"effect\":\"PreferNoSchedule\"}],"
#define REQUESTS "\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}"
#define CONTAINERS(list) "\"containers\":[" list "],"
#define PREFERS(kind, key, weight)                                                                 \
    "\"" kind "\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":" weight       \
    ",\"podAffinityTerm\":{\"topologyKey\":\"" key                                                 \
    "\",\"labelSelector\":{\"matchLabels\":{\"app\":\"db\"}}}}]}"
#define PREFERS_NODE(name, weight)                                                                 \
    "{\"weight\":" weight                                                                          \
    ",\"preference\":{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"In\",\"values\":"     \
    "[\"" name "\"]}]}}"

enum { SILENT = -1 }; /* the plugin has nothing to say about the pod */

static const struct row {
    const char *plugin, *spec;
    int64_t n1, n2;
} rows[] = {
    /* of n1 half is left of both; of n2 half of cpu and three quarters of memory */
    {"NodeResourcesFit", CONTAINERS("{" REQUESTS "}"), 50, 62},
    /* 100m and 200Mi for a container that requests nothing: 72.5 % and 72.6 %, 95 % and 97.6 % */
    {"NodeResourcesFit", CONTAINERS("{}"), 72, 96},
    {"NodeResourcesFit", CONTAINERS("{},{}"), 70, 92},
    /* n1 stays even; n2 becomes uneven by an eighth */
    {"NodeResourcesBalancedAllocation", CONTAINERS("{" REQUESTS "}"), 75, 68},
    {"NodeResourcesBalancedAllocation", CONTAINERS("{}"), SILENT, SILENT},
    /* more cpu than the node has counts as all of it, and no memory: from 100 to 62, and to 50 */
    {"NodeResourcesBalancedAllocation",
     CONTAINERS("{\"resources\":{\"requests\":{\"cpu\":\"10\"}}}"), 56, 50},
    /* an eighth, and a quarter */
    {"NodeResourcesBalancedAllocation",
     CONTAINERS("{\"resources\":{\"requests\":{\"memory\":\"2Gi\"}}}"), 68, 68},
    {"TaintToleration", "", 100, 0},
    {"TaintToleration", "\"tolerations\":[{\"operator\":\"Exists\"}],", 100, 100},
    {"NodeAffinity", "", SILENT, SILENT},
    {"NodeAffinity",
     "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
     "[" PREFERS_NODE("n1", "10") "," PREFERS_NODE("n2", "30") "]}},",
     33, 100},
    /* upstream: NewPreferredSchedulingTerms() leaves out what weighs nothing, whatever it says */
    {"NodeAffinity",
     "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
     "[{\"weight\":0,\"preference\":{\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"Near\"}"
     "]}},"
     "" PREFERS_NODE("n2", "30") "]}},",
     0, 100},
    /* the same image in two containers counts twice: 523 between 23 and 2000 */
    {"ImageLocality", CONTAINERS("{\"image\":\"web\"},{\"image\":\"web\"}"), 25, 0},
    /* 523 MiB on one node of two, between 23 and 1000 for each container */
    {"ImageLocality", CONTAINERS("{\"image\":\"web\"}"), 24, 0},
    {"ImageLocality", CONTAINERS("{\"image\":\"web:1\"},{\"image\":\"other\"}"), 12, 0},
    {"ImageLocality", CONTAINERS("{\"image\":\"web:2\"}"), 0, 0},
    /* a db runs on n1 */
    {"InterPodAffinity", "", SILENT, SILENT},
    {"InterPodAffinity", "\"affinity\":{" PREFERS("podAffinity", "node", "5") "},", 100, 0},
    {"InterPodAffinity", "\"affinity\":{" PREFERS("podAntiAffinity", "node", "5") "},", 0, 100},
    {"InterPodAffinity", "\"affinity\":{" PREFERS("podAffinity", "none", "5") "},", SILENT, SILENT},
};

static void open_nodes(struct cluster *c, const char *affinity_of_running) {
    struct strbuf json = {0};
    cluster_open(c);
    cluster_apply_json(c, OBJECT_NODE, NODE("n1", "4", "") IMAGE);
    cluster_apply_json(c, OBJECT_NODE, NODE("n2", "2", AVOIDED) "}}");
    strbuf_appendf(&json,
                   "{\"metadata\":{\"name\":\"db\",\"labels\":{\"app\":\"db\"}},\"spec\":{%s"
                   "\"nodeName\":\"n1\"," CONTAINERS("{" REQUESTS "}") "\"hostname\":\"\"}}",
                   affinity_of_running);
    struct object object; /* as a watch decodes it */
    struct err err;
    if (object_decode(arena_str(&c->arena, strbuf_str(&json)), OBJECT_POD, POD_RUNNING, &c->arena,
                      &object, &err) != 0)
        fail_msg("%s", err.text);
    cluster_apply(c, &object);
    strbuf_done(&json);
    c->options.in_tree = true;
}

static struct score_result score(struct cluster *c, const char *spec) {
    struct str names[] = {STR("n1"), STR("n2")};
    struct candidates candidates = {names, 2};
    struct score_result result;
    struct object object;
    struct err err;
    struct strbuf json = {0};
    strbuf_appendf(&json,
                   "{\"metadata\":{\"name\":\"incoming\",\"namespace\":\"default\",\"labels\":"
                   "{\"app\":\"web\"}},\"spec\":{%s\"hostname\":\"\"}}",
                   spec);
    struct str text = arena_str(&c->arena, strbuf_str(&json));
    strbuf_done(&json);
    if (object_decode(text, OBJECT_POD, POD_SCORED, &c->arena, &object, &err) != 0 ||
        engine_score(&c->options, c->cache, &object.pod, &candidates, &c->arena, &result, &err) !=
            0)
        fail_msg("%s", err.text);
    return result;
}

static int64_t score_by(const struct score_result *result, const char *plugin, uint32_t node) {
    for (uint32_t p = 0; p < result->in_tree_count; p++)
        if (strcmp(result->in_tree[p].plugin, plugin) == 0)
            return result->in_tree[p].scores[node];
    return SILENT;
}

static void scores_are_upstreams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cluster c;
        open_nodes(&c, "");
        struct score_result result = score(&c, rows[i].spec);
        print_message("# row %zu, %s\n", i, rows[i].plugin);
        assert_int_equal(score_by(&result, rows[i].plugin, 0), rows[i].n1);
        assert_int_equal(score_by(&result, rows[i].plugin, 1), rows[i].n2);
        cluster_close(&c);
    }
}

/* upstream: plugins/nodeaffinity Score() adds those of the profile to the pod's own, before they
 * are normalized; the required part of addedAffinity is a filter's. */
static void preferences_of_the_profile(void **state) {
#define PREFERRED(list) "{\"preferredDuringSchedulingIgnoredDuringExecution\":[" list "]}"
    static const struct {
        const char *added, *spec;
        int64_t n1, n2;
    } cases[] = {
        {PREFERRED(PREFERS_NODE("n1", "10")), "", 100, 0},
        {PREFERRED(PREFERS_NODE("n1", "10")),
         "\"affinity\":{\"nodeAffinity\":" PREFERRED(PREFERS_NODE("n2", "40")) "},", 25, 100},
        {PREFERRED(PREFERS_NODE("n1", "10") "," PREFERS_NODE("n1", "30")),
         "\"affinity\":{\"nodeAffinity\":" PREFERRED(PREFERS_NODE("n2", "40")) "},", 100, 100},
        {PREFERRED(PREFERS_NODE("n1", "0")), "", 0, 0},
        {PREFERRED(""), "", SILENT, SILENT},
        {"{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
         "\"matchExpressions\":[{\"key\":\"node\",\"operator\":\"Exists\"}]}]}}",
         "", SILENT, SILENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        struct node_affinity added = {.required = false};
        struct json_reader r;
        open_nodes(&c, "");
        json_reader_init(&r, str_of(cases[i].added), &c.arena, "addedAffinity");
        added_affinity_decode(&r, &added);
        assert_int_equal(json_finish(&r, NULL), 0);
        c.options.added_affinity = &added;
        struct score_result result = score(&c, cases[i].spec);
        print_message("# case %zu\n", i);
        assert_int_equal(score_by(&result, "NodeAffinity", 0), cases[i].n1);
        assert_int_equal(score_by(&result, "NodeAffinity", 1), cases[i].n2);
        cluster_close(&c);
    }
}

/* kube-scheduler does not start with these. */
static void an_added_preference_that_does_not_parse(void **state) {
    struct node_affinity added = {.required = false};
    struct json_reader r;
    struct arena arena;
    struct err err;
    (void)state;
    arena_init(&arena, 1 << 16);
    json_reader_init(&r,
                     STR("{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"
                         "\"preference\":{\"matchExpressions\":[{\"key\":\"node\",\"operator\":"
                         "\"Near\"}]}}]}"),
                     &arena, "addedAffinity");
    added_affinity_decode(&r, &added);
    assert_int_equal(json_finish(&r, &err), -EINVAL);
    assert_non_null(strstr(err.text, "addedAffinity: it has a term that does not parse"));
    arena_done(&arena);
}

/* What pods that run prefer or require counts for a pod that they mean. */
static void those_that_run_have_preferences(void **state) {
    (void)state;
    static const struct {
        const char *affinity;
        int64_t n1;
    } cases[] = {
        {PREFERS("podAffinity", "node", "5"), 0},
        {"\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":5,"
         "\"podAffinityTerm\":{\"topologyKey\":\"node\",\"labelSelector\":{}}}]}",
         100},
        {"\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":["
         "{\"topologyKey\":\"node\",\"labelSelector\":{}}]}",
         100},
        {"\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":5,"
         "\"podAffinityTerm\":{\"topologyKey\":\"node\",\"labelSelector\":{}}}]}",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        struct strbuf text = {0};
        strbuf_appendf(&text, "\"affinity\":{%s},", cases[i].affinity);
        strbuf_append_char(&text, '\0');
        open_nodes(&c, text.p);
        struct score_result result = score(&c, "");
        assert_int_equal(score_by(&result, "InterPodAffinity", 0), i == 0 ? SILENT : cases[i].n1);
        assert_int_equal(score_by(&result, "InterPodAffinity", 1),
                         i == 0 ? SILENT : 100 - cases[i].n1);
        strbuf_done(&text);
        cluster_close(&c);
    }
}

/* The weights of the default profile: 3 for taints, 2 for labels, 1 for resources and images. */
static void the_total_is_the_weighted_sum(void **state) {
    (void)state;
    struct cluster c;
    open_nodes(&c, "");
    struct score_result result =
        score(&c, CONTAINERS("{\"image\":\"web\"," REQUESTS
                             "}") "\"affinity\":{\"nodeAffinity\":{"
                                  "\"preferredDuringSchedulingIgnoredDuringExecution\":"
                                  "[" PREFERS_NODE("n1", "10") "," PREFERS_NODE("n2", "30") "]}},");
    assert_int_equal(result.totals[0], 3 * 100 + 2 * 33 + 50 + 75 + 24);
    assert_int_equal(result.totals[1], 3 * 0 + 2 * 100 + 62 + 68 + 0);
    c.options.in_tree = false;
    assert_null(score(&c, "").totals);
    cluster_close(&c);
}

/* An image counts by the nodes that have it now. */
static void images_come_and_go(void **state) {
    (void)state;
    struct cluster c;
    open_nodes(&c, "");
    cluster_apply_json(&c, OBJECT_NODE, NODE("n2", "2", "") IMAGE);
    struct score_result result = score(&c, CONTAINERS("{\"image\":\"web\"}"));
    assert_int_equal(score_by(&result, "ImageLocality", 0), 51); /* 523 of 23 to 1000 */
    assert_int_equal(score_by(&result, "ImageLocality", 1), 51);
    cluster_apply_json(&c, OBJECT_NODE, NODE("n1", "4", "") "}}");
    result = score(&c, CONTAINERS("{\"image\":\"web\"}"));
    assert_int_equal(score_by(&result, "ImageLocality", 0), 0);
    assert_int_equal(score_by(&result, "ImageLocality", 1), 24);
    struct object gone = {.kind = OBJECT_NODE, .meta = {.name = STR("n2")}};
    cluster_remove(&c, &gone);
    result = score(&c, CONTAINERS("{\"image\":\"web\"}"));
    assert_int_equal(score_by(&result, "ImageLocality", 1), 0);
    cluster_close(&c);
}

/* upstream: imagelocality calculatePriority(): from 23 MiB, which give nothing, to 1000 for each
 * container, beyond which no image gives more. */
static void an_images_size_counts_between_two_bounds(void **state) {
    static const struct {
        uint64_t mib;
        int64_t score;
    } cases[] = {{22, 0}, {23, 0}, {33, 1}, {999, 99}, {1000, 100}, {1001, 100}, {4000, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        struct strbuf node = {0};
        open_nodes(&c, "");
        for (int n = 1; n <= 2; n++) {
            strbuf_clear(&node);
            strbuf_appendf(&node,
                           "{\"metadata\":{\"name\":\"n%d\"},\"status\":{\"images\":[{\"names\":["
                           "\"big:latest\"],"
                           "\"sizeBytes\":%llu}]}}%c",
                           n, (unsigned long long)cases[i].mib << 20, '\0');
            cluster_apply_json(&c, OBJECT_NODE, node.p);
        }
        strbuf_done(&node);
        struct score_result result = score(&c, CONTAINERS("{\"image\":\"big\"}"));
        assert_int_equal(score_by(&result, "ImageLocality", 0), cases[i].score);
        assert_int_equal(score_by(&result, "ImageLocality", 1), cases[i].score);
        cluster_close(&c);
    }
}

/* upstream: leastResourceScorer() and balancedResourceScorer() leave out what a node does not have:
 * 6 of 8 Gi are left on both, and of the first that is all there is to say. */
static void resources_that_a_node_does_not_have(void **state) {
    struct cluster c;
    (void)state;
    open_nodes(&c, "");
    cluster_apply_json(
        &c, OBJECT_NODE,
        "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"allocatable\":{\"pods\":\"9\"}}}");
    cluster_apply_json(
        &c, OBJECT_NODE,
        "{\"metadata\":{\"name\":\"n2\"},\"status\":{\"allocatable\":{\"memory\":\"8Gi\","
        "\"pods\":\"9\"}}}");
    struct score_result result = score(&c, CONTAINERS("{" REQUESTS "}"));
    assert_int_equal(score_by(&result, "NodeResourcesFit", 0), 0);
    assert_int_equal(score_by(&result, "NodeResourcesFit", 1), 75);
    assert_int_equal(score_by(&result, "NodeResourcesBalancedAllocation", 0), 75);
    assert_int_equal(score_by(&result, "NodeResourcesBalancedAllocation", 1), 75);
    cluster_close(&c);
}

/* Who asks for some filters asks for those plugins' scores only. */
static void plugins_that_are_asked(void **state) {
    static const struct {
        uint32_t filters;
        const char *plugin; /* the only one; NULL: all that have something to say */
    } cases[] = {
        {0, NULL},
        {FILTERS_ALL, NULL},
        {FILTER_NODE_RESOURCES_FIT, "NodeResourcesFit"},
        {FILTER_TAINT_TOLERATION, "TaintToleration"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        open_nodes(&c, "");
        c.options.filters = cases[i].filters;
        struct score_result result = score(&c, CONTAINERS("{\"image\":\"web\"," REQUESTS "}"));
        if (cases[i].plugin == NULL) {
            assert_int_equal(result.in_tree_count, 4);
            assert_int_equal(score_by(&result, "ImageLocality", 0), 24);
        } else {
            assert_int_equal(result.in_tree_count, 1);
            assert_string_equal(result.in_tree[0].plugin, cases[i].plugin);
        }
        cluster_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_upstreams),
        cmocka_unit_test(preferences_of_the_profile),
        cmocka_unit_test(an_added_preference_that_does_not_parse),
        cmocka_unit_test(those_that_run_have_preferences),
        cmocka_unit_test(the_total_is_the_weighted_sum),
        cmocka_unit_test(images_come_and_go),
        cmocka_unit_test(an_images_size_counts_between_two_bounds),
        cmocka_unit_test(resources_that_a_node_does_not_have),
        cmocka_unit_test(plugins_that_are_asked),
    };
    return cmocka_run_group_tests_name("scores of kube-scheduler", tests, NULL, NULL);
}
