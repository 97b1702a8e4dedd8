/*
 * kube-scheduler's filters. Each row is a node, what is on it, and a pod; the expectation is read
 * from upstream's plugins (v1.36.3), verdict and text. tests/e2e/kube/differential runs the plugins
 * themselves on random clusters.
 */
#include "unit/cluster_builder.h"

#include <stdio.h>

#define NODE(spec, status)                                                                         \
    "{\"metadata\":{\"name\":\"n\",\"labels\":{\"disk\":\"ssd\"}},"                                \
    "\"spec\":{" spec "},\"status\":{\"allocatable\":{" status "}}}"
#define BIG "\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"2\",\"example.com/gpu\":\"1\""
#define PLAIN NODE("", BIG)
#define REQUESTS(list) "\"containers\":[{\"resources\":{\"requests\":{" list "}}}],"
#define PORT(port) "\"containers\":[{\"ports\":[" port "]}],"
#define TERMS(terms)                                                                               \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"          \
    "{\"nodeSelectorTerms\":[" terms "]}}},"
#define NAMED(name)                                                                                \
    "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"" name "\"]}]" \
    "}"
#define DISK(value)                                                                                \
    "{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"In\",\"values\":[\"" value "\"]}]}"

#define PASSES VERDICT_PASS, "", ""
#define UNSCHEDULABLE_NODE VERDICT_UNRESOLVABLE, "NodeUnschedulable", "node(s) were unschedulable"
#define OTHER_NODE VERDICT_UNRESOLVABLE, "NodeName", "node(s) didn't match the requested node name"
#define TAINTED VERDICT_UNRESOLVABLE, "TaintToleration", "node(s) had untolerated taint(s)"
#define NO_MATCH                                                                                   \
    VERDICT_UNRESOLVABLE, "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"
#define TAKEN_AWAY                                                                                 \
    VERDICT_UNRESOLVABLE, "NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]"
#define CONFLICT VERDICT_UNRESOLVABLE, "NodeAffinity", "pod affinity terms conflict"
#define PORT_TAKEN                                                                                 \
    VERDICT_UNSCHEDULABLE, "NodePorts", "node(s) didn't have free ports for the requested pod ports"

static const struct row {
    const char *node, *on_it, *pod;
    enum verdict verdict;
    const char *filter, *reason;
} rows[] = {
    {PLAIN, NULL, "", PASSES},
    /* NodeUnschedulable */
    {NODE("\"unschedulable\":true", BIG), NULL, "", UNSCHEDULABLE_NODE},
    {NODE("\"unschedulable\":true", BIG), NULL,
     "\"tolerations\":[{\"key\":\"node.kubernetes.io/unschedulable\",\"operator\":\"Exists\"}],",
     PASSES},
    {NODE("\"unschedulable\":true", BIG), NULL,
     "\"tolerations\":[{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}],", UNSCHEDULABLE_NODE},
    /* NodeName */
    {PLAIN, NULL, "\"nodeName\":\"m\",", OTHER_NODE},
    {PLAIN, NULL, "\"nodeName\":\"n\",", PASSES},
    /* TaintToleration */
    {NODE("\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]", BIG), NULL, "", TAINTED},
    {NODE("\"taints\":[{\"key\":\"a\",\"effect\":\"PreferNoSchedule\"}]", BIG), NULL, "", PASSES},
    {NODE("\"taints\":[{\"key\":\"a\",\"effect\":\"NoExecute\"}]", BIG), NULL,
     "\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}],", PASSES},
    /* NodeAffinity, and what its PreFilter takes away before anything else is judged */
    {PLAIN, NULL, "\"nodeSelector\":{\"disk\":\"hdd\"},", NO_MATCH},
    {PLAIN, NULL, "\"nodeSelector\":{\"disk\":\"ssd\"},", PASSES},
    {PLAIN, NULL, TERMS(""), NO_MATCH},
    {PLAIN, NULL, TERMS(DISK("hdd") "," DISK("ssd")), PASSES},
    {PLAIN, NULL, TERMS(NAMED("n")), PASSES},
    {NODE("\"unschedulable\":true", BIG), NULL, TERMS(NAMED("m")), TAKEN_AWAY},
    {NODE("\"unschedulable\":true", BIG), NULL, TERMS(NAMED("n")), UNSCHEDULABLE_NODE},
    {PLAIN, NULL, TERMS(NAMED("m") "," DISK("ssd")), PASSES},
    {PLAIN, NULL, TERMS(NAMED("m") "," DISK("hdd")), NO_MATCH},
    {PLAIN, NULL,
     TERMS("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]},"
           "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"m\"]}]}"),
     CONFLICT},
    /* NodePorts */
    {PLAIN, PORT("{\"hostPort\":80}"), PORT("{\"hostPort\":80}"), PORT_TAKEN},
    {PLAIN, PORT("{\"hostPort\":80}"), PORT("{\"hostPort\":80,\"protocol\":\"UDP\"}"), PASSES},
    {PLAIN, PORT("{\"hostPort\":80,\"hostIP\":\"10.0.0.1\"}"),
     PORT("{\"hostPort\":80,\"hostIP\":\"10.0.0.2\"}"), PASSES},
    {PLAIN, PORT("{\"hostPort\":80,\"hostIP\":\"10.0.0.1\"}"), PORT("{\"hostPort\":80}"),
     PORT_TAKEN},
    {PLAIN, PORT("{\"hostPort\":80}"), PORT("{\"hostPort\":80,\"hostIP\":\"10.0.0.2\"}"),
     PORT_TAKEN},
    {PLAIN, PORT("{\"containerPort\":80}"), PORT("{\"hostPort\":80}"), PASSES},
    /* NodeResourcesFit: what others leave, and what the node has at all */
    {PLAIN, REQUESTS("\"cpu\":\"3\""), REQUESTS("\"cpu\":\"1\""), PASSES},
    {PLAIN, REQUESTS("\"cpu\":\"3\""), REQUESTS("\"cpu\":\"1001m\""), VERDICT_UNSCHEDULABLE,
     "NodeResourcesFit", "Insufficient cpu"},
    {PLAIN, NULL, REQUESTS("\"cpu\":\"5\""), VERDICT_UNRESOLVABLE, "NodeResourcesFit",
     "Insufficient cpu"},
    {PLAIN, REQUESTS("\"cpu\":\"3\",\"memory\":\"8Gi\",\"example.com/gpu\":1"),
     REQUESTS("\"example.com/gpu\":1,\"memory\":1,\"cpu\":\"2\""), VERDICT_UNSCHEDULABLE,
     "NodeResourcesFit", "Insufficient cpu, Insufficient memory, Insufficient example.com/gpu"},
    {PLAIN, REQUESTS("\"cpu\":\"3\""), REQUESTS("\"cpu\":\"2\",\"example.com/tpu\":1"),
     VERDICT_UNRESOLVABLE, "NodeResourcesFit", "Insufficient cpu, Insufficient example.com/tpu"},
    {PLAIN, NULL, REQUESTS("\"example.com/tpu\":0"), PASSES},
    {PLAIN, REQUESTS("\"cpu\":\"3\""), REQUESTS("\"cpu\":\"1000m\""), PASSES},
    {PLAIN, NULL, REQUESTS("\"cpu\":\"4\""), PASSES},
    {PLAIN, REQUESTS("\"cpu\":\"1m\""), REQUESTS("\"cpu\":\"4\""), VERDICT_UNSCHEDULABLE,
     "NodeResourcesFit", "Insufficient cpu"},
    {PLAIN, NULL, REQUESTS("\"cpu\":\"4001m\""), VERDICT_UNRESOLVABLE, "NodeResourcesFit",
     "Insufficient cpu"},
    /* more runs there than the node has: who asks for nothing of it does not mind */
    {PLAIN, REQUESTS("\"cpu\":\"5\""), REQUESTS("\"cpu\":\"0\",\"memory\":1"), PASSES},
    {PLAIN, REQUESTS("\"cpu\":\"5\""), REQUESTS("\"cpu\":\"1m\""), VERDICT_UNSCHEDULABLE,
     "NodeResourcesFit", "Insufficient cpu"},
    {NODE("", "\"cpu\":\"4\",\"pods\":\"1\""), "", REQUESTS("\"cpu\":\"1\""), VERDICT_UNSCHEDULABLE,
     "NodeResourcesFit", "Too many pods"},
    {NODE("", "\"cpu\":\"4\""), NULL, "", VERDICT_UNSCHEDULABLE, "NodeResourcesFit",
     "Too many pods"},
    /* a hand-written node that does not say what it has is not judged by it */
    {NODE("", ""), REQUESTS("\"cpu\":\"3\""), REQUESTS("\"cpu\":\"2\""), PASSES},
    /* the first in the order of kube-scheduler's plugins gives the reason */
    {NODE("\"unschedulable\":true,\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]", BIG),
     NULL, "\"nodeName\":\"m\"," REQUESTS("\"cpu\":\"9\""), UNSCHEDULABLE_NODE},
    {NODE("\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]", BIG), NULL,
     "\"nodeSelector\":{\"x\":\"y\"}," REQUESTS("\"cpu\":\"9\""), TAINTED},
    {PLAIN, PORT("{\"hostPort\":80}"),
     "\"containers\":[{\"ports\":[{\"hostPort\":80}],\"resources\":{\"requests\":{\"cpu\":9}}}],",
     PORT_TAKEN},
};

static void open_row(struct cluster *c, const struct row *row) {
    struct strbuf json = {0};
    cluster_open(c);
    cluster_apply_json(c, OBJECT_NODE, row->node);
    if (row->on_it == NULL)
        return;
    strbuf_appendf(&json, "{\"metadata\":{\"name\":\"other\"},\"spec\":{%s\"nodeName\":\"n\"}}",
                   row->on_it);
    strbuf_append_char(&json, '\0');
    cluster_apply_json(c, OBJECT_POD, json.p);
    strbuf_done(&json);
}

static struct filter_result filter(struct cluster *c, const char *spec) {
    struct str names[] = {STR("n")};
    struct candidates candidates = {names, 1};
    struct filter_result result;
    struct err err;
    struct pod pod = cluster_pod(c, "", "", spec);
    if (engine_filter(&c->options, c->cache, &pod, &candidates, &c->arena, &result, &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

static void verdicts_and_reasons_are_upstreams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cluster c;
        open_row(&c, &rows[i]);
        c.options.filters = FILTERS_ALL;
        struct filter_result result = filter(&c, rows[i].pod);
        print_message("# row %zu\n", i);
        assert_str(result.reason_texts[result.reasons[0]], rows[i].reason);
        assert_string_equal(result.reason_filters[result.reasons[0]], rows[i].filter);
        assert_int_equal(result.verdicts[0], rows[i].verdict);
        cluster_close(&c);
    }
}

/* Each by its own name alone: the reason is the same, and without it the node passes. */
static void one_filter_by_its_name(void **state) {
    (void)state;
    static const size_t count = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < count; i++) {
        struct cluster c;
        uint32_t bits = engine_filters_named(str_of(rows[i].filter));
        if (rows[i].verdict == VERDICT_PASS)
            continue;
        assert_true(bits != 0 && (bits & FILTERS_OF_EXTENDER) == 0);
        open_row(&c, &rows[i]);
        c.options.filters = bits;
        struct filter_result result = filter(&c, rows[i].pod);
        assert_str(result.reason_texts[result.reasons[0]], rows[i].reason);
        cluster_close(&c);
    }
    assert_int_equal(engine_filters_named(STR("PodTopologySpread")), FILTERS_OF_EXTENDER);
    assert_int_equal(engine_filters_named(STR("VolumeBinding")), FILTER_VOLUME_BINDING);
    assert_int_equal(engine_filters_named(STR("NodeVolumeLimits")), 0);
}

/* A node of which nothing is said has nothing, as upstream's NodeInfo has 0 of what a node does not
 * name. Where no node says anything, nobody could be placed: then resources are not judged, and
 * that is said. */
static void nodes_that_do_not_say_what_they_have(void **state) {
    (void)state;
    static const struct {
        const char *silent, *other, *pod;
        enum verdict verdict;
        const char *reason;
        bool unknown;
    } cases[] = {
        {"{}", PLAIN, REQUESTS("\"cpu\":1"), VERDICT_UNRESOLVABLE,
         "Too many pods, Insufficient cpu", false},
        {"{}", PLAIN, "", VERDICT_UNSCHEDULABLE, "Too many pods", false},
        {"{\"allocatable\":{}}", PLAIN, "", VERDICT_UNSCHEDULABLE, "Too many pods", false},
        {"{\"allocatable\":{\"cpu\":4,\"pods\":9}}", PLAIN, REQUESTS("\"memory\":1"),
         VERDICT_UNRESOLVABLE, "Insufficient memory", false},
        {"{\"allocatable\":{\"cpu\":4,\"pods\":9}}", PLAIN, REQUESTS("\"cpu\":4"), VERDICT_PASS, "",
         false},
        {"{\"allocatable\":{\"cpu\":4}}", NODE("", ""), "", VERDICT_UNSCHEDULABLE, "Too many pods",
         false},
        {"{}", NODE("", ""), REQUESTS("\"cpu\":1"), VERDICT_PASS, "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        char node[256];
        static const struct str name = {"silent", 6};
        struct filter_result result;
        open_row(&c, &(struct row){.node = cases[i].other});
        (void)snprintf(node, sizeof node, "{\"metadata\":{\"name\":\"silent\"},\"status\":%s}",
                       cases[i].silent); /* fits */
        cluster_apply_json(&c, OBJECT_NODE, node);
        c.options.filters = FILTERS_ALL;
        struct pod pod = cluster_pod(&c, "", "", cases[i].pod);
        assert_int_equal(engine_filter(&c.options, c.cache, &pod, &(struct candidates){&name, 1},
                                       &c.arena, &result, NULL),
                         0);
        assert_int_equal(result.verdicts[0], cases[i].verdict);
        assert_str(result.reason_texts[result.reasons[0]], cases[i].reason);
        assert_int_equal(result.unknown.resources, cases[i].unknown);
        c.options.filters = FILTERS_ALL & ~FILTER_NODE_RESOURCES_FIT;
        assert_int_equal(engine_filter(&c.options, c.cache, &pod, &(struct candidates){&name, 1},
                                       &c.arena, &result, NULL),
                         0);
        assert_false(result.unknown.resources);
        cluster_close(&c);
    }
}

/* Extended resources alone are ignored, by their whole name or by the part before the slash. */
static void ignored_resources(void **state) {
    (void)state;
    static const struct str names[] = {{"cpu", 3}, {"example.com/gpu", 15}},
                            groups[] = {{"other.com", 9}};
    static const struct {
        const char *requests;
        enum verdict verdict;
    } cases[] = {
        {REQUESTS("\"example.com/gpu\":9"), VERDICT_PASS},
        {REQUESTS("\"example.com/gpus\":9"), VERDICT_UNRESOLVABLE},
        {REQUESTS("\"other.com/x\":9,\"other.com/y\":9"), VERDICT_PASS},
        {REQUESTS("\"other.com.au/x\":9"), VERDICT_UNRESOLVABLE},
        {REQUESTS("\"cpu\":9"), VERDICT_UNRESOLVABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        open_row(&c, &(struct row){.node = PLAIN});
        c.options.filters = FILTERS_ALL;
        c.options.ignored_resources = (struct ignored_resources){names, groups, 2, 1};
        assert_int_equal(filter(&c, cases[i].requests).verdicts[0], cases[i].verdict);
        cluster_close(&c);
    }
}

static void what_is_not_judged_is_said(void **state) {
    (void)state;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    engine_put_not_judged(FILTERS_ALL, &(struct filter_unknown){.terms = 0}, &text);
    assert_str(strbuf_str(&text), "limits and capacity of volumes, devices");
    strbuf_clear(&text);
    const struct filter_unknown unknown = {
        .terms = 2, .resources = true, .configuration = STR("1 extender")};
    engine_put_not_judged(FILTERS_ALL, &unknown, &text);
    assert_str(strbuf_str(&text),
               "limits and capacity of volumes, devices, anti-affinity of 2 pods (too long), "
               "NodeResourcesFit (no node reports its allocatable resources), 1 extender");
}

static void an_extender_judges_spread_alone(void **state) {
    (void)state;
    struct cluster c;
    open_row(&c, &(struct row){.node = NODE("\"unschedulable\":true", BIG)});
    assert_int_equal(filter(&c, "\"nodeName\":\"m\"," REQUESTS("\"cpu\":9")).verdicts[0],
                     VERDICT_PASS);
    cluster_close(&c);
}

/* What preemption asks, were these filters on: does it fit once the other pod is gone? */
static void room_that_a_victim_makes(void **state) {
    (void)state;
    static const struct {
        const char *on_it, *pod;
        bool fits;
    } cases[] = {
        {REQUESTS("\"cpu\":3"), REQUESTS("\"cpu\":4"), true},
        {REQUESTS("\"cpu\":3"), REQUESTS("\"cpu\":5"), false},
        {PORT("{\"hostPort\":80}"), PORT("{\"hostPort\":80}"), true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cluster c;
        struct object_meta victim = {.name = STR("other"), .namespace = STR("default")};
        struct preemption preemption = {STR("n"), &victim, 1};
        struct err err;
        bool *fits;
        open_row(&c, &(struct row){.node = PLAIN, .on_it = cases[i].on_it});
        c.options.filters = FILTERS_ALL;
        struct pod pod = cluster_pod(&c, "", "", cases[i].pod);
        assert_int_equal(filter(&c, cases[i].pod).verdicts[0] == VERDICT_PASS, false);
        assert_int_equal(
            engine_preempt(&c.options, c.cache, &pod, &preemption, 1, &c.arena, &fits, &err), 0);
        assert_int_equal(fits[0], cases[i].fits);
        cluster_close(&c);
    }
}

/* What node number `i` of more_reasons_than_fit() lacks. */
static void put_lacking(struct strbuf *out, uint32_t i, uint32_t resources) {
    for (uint32_t bit = 0; bit < resources; bit++)
        if ((i >> bit & 1) == 0)
            strbuf_appendf(out, "%sInsufficient example.com/r%u", out->n > 0 ? ", " : "", bit);
}

/* More combinations of resources than there are reasons: verdicts stay right, and a reason names
 * what the node lacks or no resource. */
static void more_reasons_than_fit(void **state) {
    (void)state;
    enum { NODES = 1024, RESOURCES = 10 };
    struct cluster c;
    struct strbuf json = {0};
    static struct str names[NODES];
    struct candidates candidates = {names, NODES};
    struct filter_result result;
    struct err err;
    cluster_open(&c);
    for (uint32_t i = 0; i < NODES; i++) {
        strbuf_clear(&json);
        strbuf_appendf(&json, "{\"metadata\":{\"name\":\"n%u\"},\"status\":{\"allocatable\":{", i);
        for (uint32_t bit = 0; bit < RESOURCES; bit++)
            strbuf_appendf(&json, "\"example.com/r%u\":%u,", bit, i >> bit & 1);
        strbuf_append_str(&json, STR("\"pods\":1}}}"));
        strbuf_append_char(&json, '\0');
        cluster_apply_json(&c, OBJECT_NODE, json.p);
        strbuf_clear(&json);
        strbuf_appendf(&json, "n%u", i);
        names[i] = arena_str(&c.arena, strbuf_str(&json));
    }
    strbuf_clear(&json);
    strbuf_append_str(&json, STR("\"containers\":[{\"resources\":{\"requests\":{"));
    for (uint32_t bit = 0; bit < RESOURCES; bit++)
        strbuf_appendf(&json, "%s\"example.com/r%u\":1", bit > 0 ? "," : "", bit);
    strbuf_append_str(&json, STR("}}}],"));
    strbuf_append_char(&json, '\0');
    struct pod pod = cluster_pod(&c, "", "", json.p);
    c.options.filters = FILTERS_ALL;
    assert_int_equal(engine_filter(&c.options, c.cache, &pod, &candidates, &c.arena, &result, &err),
                     0);
    for (uint32_t i = 0; i < NODES; i++) {
        bool last = i == NODES - 1;
        assert_int_equal(result.verdicts[i], last ? VERDICT_PASS : VERDICT_UNRESOLVABLE);
        assert_string_equal(result.reason_filters[result.reasons[i]],
                            last ? "" : "NodeResourcesFit");
        strbuf_clear(&json);
        put_lacking(&json, i, RESOURCES);
        struct str reason = result.reason_texts[result.reasons[i]];
        assert_true(str_has_prefix(strbuf_str(&json), reason) ||
                    str_eq(reason, STR("Insufficient resources")));
    }
    strbuf_done(&json);
    cluster_close(&c);
}

/* The same text on two nodes: one is too small, of the other preemption may make enough. */
static void a_reason_belongs_to_one_verdict(void **state) {
    static const struct str names[] = {{"big", 3}, {"small", 5}, {"big", 3}};
    struct candidates candidates = {names, 3};
    struct filter_result result;
    struct cluster c;
    struct err err;
    (void)state;
    cluster_open(&c);
    c.options.filters = FILTERS_ALL;
    cluster_apply_json(
        &c, OBJECT_NODE,
        "{\"metadata\":{\"name\":\"big\"},\"status\":{\"allocatable\":{\"cpu\":\"4\","
        "\"pods\":\"9\"}}}");
    cluster_apply_json(
        &c, OBJECT_NODE,
        "{\"metadata\":{\"name\":\"small\"},\"status\":{\"allocatable\":{\"cpu\":\"1\","
        "\"pods\":\"9\"}}}");
    cluster_apply_json(&c, OBJECT_POD,
                       "{\"metadata\":{\"name\":\"other\"},\"spec\":{" REQUESTS(
                           "\"cpu\":\"3\"") "\"nodeName\":\"big\"}}");
    struct pod pod = cluster_pod(&c, "", "", REQUESTS("\"cpu\":\"2\""));
    assert_int_equal(engine_filter(&c.options, c.cache, &pod, &candidates, &c.arena, &result, &err),
                     0);
    assert_int_equal(result.verdicts[0], VERDICT_UNSCHEDULABLE);
    assert_int_equal(result.verdicts[1], VERDICT_UNRESOLVABLE);
    assert_int_equal(result.verdicts[2], VERDICT_UNSCHEDULABLE);
    assert_int_equal(result.reasons[0], result.reasons[2]);
    assert_int_not_equal(result.reasons[0], result.reasons[1]);
    for (int i = 0; i < 3; i++)
        assert_str(result.reason_texts[result.reasons[i]], "Insufficient cpu");
    cluster_close(&c);
}

/* The name of a resource may have 244 + 1 + 63 bytes (upstream: IsExtendedResourceName()): what a
 * reason has no room for is left out, and the node is refused all the same. */
static void resources_with_long_names(void **state) {
    (void)state;
    for (uint32_t length = 190; length <= 308; length++)
        for (int has = 0; has < 2; has++) {
            struct cluster c;
            struct strbuf name = {0}, node = {0}, other = {0}, pod = {0}, want = {0};
            for (uint32_t i = 0; i < length; i++)
                strbuf_append_char(&name, i + 64 == length ? '/' : 'a');
            strbuf_append_char(&name, '\0');
            strbuf_appendf(
                &node,
                "{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"pods\":\"9\","
                "\"%s\":\"%d\"}}}%c",
                name.p, has, '\0');
            strbuf_appendf(&other, REQUESTS("\"%s\":\"%d\"") "%c", name.p, has, '\0');
            strbuf_appendf(&pod, REQUESTS("\"%s\":\"1\"") "%c", name.p, '\0');
            strbuf_appendf(&want, "Insufficient %s", name.p);
            open_row(&c, &(struct row){.node = node.p, .on_it = other.p});
            c.options.filters = FILTERS_ALL;
            struct filter_result result = filter(&c, pod.p);
            struct str reason = result.reason_texts[result.reasons[0]];
            assert_int_equal(result.verdicts[0],
                             has > 0 ? VERDICT_UNSCHEDULABLE : VERDICT_UNRESOLVABLE);
            assert_string_equal(result.reason_filters[result.reasons[0]], "NodeResourcesFit");
            if (!str_eq(reason, STR("Insufficient resources")))
                assert_true(str_eq(reason, strbuf_str(&want)) && length < 240);
            else
                assert_true(length > 200);
            strbuf_done(&name);
            strbuf_done(&node);
            strbuf_done(&other);
            strbuf_done(&pod);
            strbuf_done(&want);
            cluster_close(&c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_reasons_are_upstreams),
        cmocka_unit_test(one_filter_by_its_name),
        cmocka_unit_test(nodes_that_do_not_say_what_they_have),
        cmocka_unit_test(ignored_resources),
        cmocka_unit_test(what_is_not_judged_is_said),
        cmocka_unit_test(an_extender_judges_spread_alone),
        cmocka_unit_test(room_that_a_victim_makes),
        cmocka_unit_test(a_reason_belongs_to_one_verdict),
        cmocka_unit_test(resources_with_long_names),
        cmocka_unit_test(more_reasons_than_fit),
    };
    return cluster_run_tests("filters", tests, sizeof tests / sizeof *tests);
}
