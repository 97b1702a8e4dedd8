/* Which clusters a binding may go to. Rules and reasons: upstream, karmada v1.18.1
 * pkg/scheduler/framework (plugins, types.go). */
#include "karmada/schedule.h"

#include <errno.h>

#include "unit/karmada/fleet.h"

/* Serves Deployments. */
#define SERVES                                                                                     \
    "\"status\":{\"apiEnablements\":[{\"groupVersion\":\"apps/v1\",\"resources\":[{\"kind\":"      \
    "\"Deployment\"}]}]}"
#define CLUSTER(name, spec) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" spec "}," SERVES "}"
#define DEPLOYMENT "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}"

static struct test_fleet fleet;
static struct karmada_filtered filtered;

/* The verdicts, each "Pass", or the plugin, a colon and the reason. */
static void filter(const char *const *wanted) {
    struct err err;
    if (karmada_filter(&fleet.question, &decoding_arena, &filtered, &err) != 0)
        fail_msg("%s", err.text);
    uint32_t count = 0;
    for (uint32_t i = 0; i < fleet.question.cluster_count; i++) {
        CLEANUP(strbuf_done) struct strbuf got = {0};
        const struct karmada_verdict *v = &filtered.verdicts[i];
        if (v->pass == CLUSTER_REFUSED)
            strbuf_appendf(&got, "%s:%.*s", karmada_plugin_names[v->plugin], STR_ARG(v->reason));
        else
            strbuf_appendf(&got, "%s", v->pass == CLUSTER_PASSES ? "Pass" : "Deleting");
        assert_str(strbuf_str(&got), wanted[i]);
        if (v->pass != CLUSTER_PASSES)
            continue;
        assert_true(count < filtered.count);
        assert_int_equal(filtered.clusters[count], i);
        assert_true(str_eq(filtered.candidates[count].cluster.name, fleet.clusters[i].meta.name));
        count++;
    }
    assert_int_equal(filtered.count, count);
}

static void fit_error(const char *wanted) {
    const struct str text =
        karmada_fit_error(&filtered, fleet.question.cluster_count, &decoding_arena);
    assert_str(text, wanted);
}

#define NO_API "APIEnablement:cluster(s) did not have the API resource"
#define NO_MATCH                                                                                   \
    "ClusterAffinity:cluster(s) did not match the placement cluster affinity constraint"

static void the_api(void **state) {
    (void)state;
    test_fleet_make("[" CLUSTER("m1", "") ",{\"metadata\":{\"name\":\"m2\"}},{\"metadata\":{"
                                          "\"name\":\"m3\"}}]",
                    "{" DEPLOYMENT ",\"clusters\":[{\"name\":\"m3\",\"replicas\":2},{\"name\":"
                    "\"m3\",\"replicas\":5},{\"name\":\"gone\"}]}",
                    "", &fleet);
    filter((const char *[]){"Pass", NO_API, "Pass"}); /* m3 has it today */
    assert_false(filtered.is_target[0]);
    assert_true(filtered.is_target[1]);
    assert_int_equal(filtered.candidates[0].previous, 0);
    assert_int_equal(filtered.candidates[1].previous, 2); /* the first entry counts */
    fleet.options.plugins &= ~(1u << PLUGIN_API_ENABLEMENT);
    filter((const char *[]){"Pass", "Pass", "Pass"});
}

#define TAINTS(taints) "\"taints\":[" taints "]"
#define TAINT(key, value, effect)                                                                  \
    "{\"key\":\"" key "\",\"value\":\"" value "\",\"effect\":\"" effect "\"}"
#define TAINTED(name, key, value, effect) CLUSTER(name, TAINTS(TAINT(key, value, effect)))

/* A JSON array of them, in decoding_arena. */
static const char *array_of(const char *const *items, size_t count) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (size_t i = 0; i < count; i++)
        strbuf_appendf(&text, "%s%s", i == 0 ? "[" : ",", items[i]);
    strbuf_append_char(&text, ']');
    return arena_cstr(&decoding_arena, strbuf_str(&text));
}
#define ARRAY_OF(items) array_of(items, sizeof(items) / sizeof *(items))

static const char *const tainted[] = {
    TAINTED("m1", "k", "v", "NoSchedule"),
    TAINTED("m2", "k", "", "NoExecute"),
    TAINTED("m3", "k", "", "PreferNoSchedule"),
    CLUSTER("m4", TAINTS(TAINT("ok", "", "NoSchedule") "," TAINT("k", "v", "NoSchedule"))),
    TAINTED("m5", "k", "v", "NoSchedule"),
    TAINTED("m6", "k", "w", "NoSchedule"),
};

static void taints(void **state) {
    (void)state;
    test_fleet_make(ARRAY_OF(tainted),
                    "{" DEPLOYMENT ",\"clusters\":[{\"name\":\"m5\"}],\"placement\":{"
                    "\"clusterTolerations\":[{\"key\":\"ok\",\"operator\":\"Exists\"}]}}",
                    "", &fleet);
    filter((const char *[]){
        "TaintToleration:cluster(s) had untolerated taint {k=v:NoSchedule}",
        "TaintToleration:cluster(s) had untolerated taint {k:NoExecute}", "Pass",
        "TaintToleration:cluster(s) had untolerated taint {k=v:NoSchedule}", "Pass",
        "TaintToleration:cluster(s) had untolerated taint {k=w:NoSchedule}"});
    fleet.options.plugins &= ~(1u << PLUGIN_TAINT_TOLERATION);
    filter((const char *[]){"Pass", "Pass", "Pass", "Pass", "Pass", "Pass"});
}

#define THREE "[" CLUSTER("m1", "") "," CLUSTER("m2", "") "," CLUSTER("m3", "") "]"

static void orders_are(int32_t a, int32_t b, int32_t c) {
    const int32_t wanted[] = {a, b, c};
    for (uint32_t i = 0; i < filtered.count; i++)
        assert_int_equal(filtered.candidates[i].overflow_order, wanted[filtered.clusters[i]]);
}

static void one_affinity(void **state) {
    (void)state;
    /* clusterAffinity comes before terms */
    test_fleet_make(THREE,
                    "{" DEPLOYMENT ",\"placement\":{\"clusterAffinity\":{\"clusterNames\":["
                    "\"m2\"]},\"clusterAffinities\":[{\"affinityName\":\"g1\","
                    "\"clusterNames\":[\"m1\"]}]}}",
                    "g1", &fleet);
    filter((const char *[]){NO_MATCH, "Pass", NO_MATCH});
    orders_are(0, 0, 0);
    assert_null(karmada_term(&fleet.spec.placement, STR("g1")));
    fleet.options.plugins &= ~(1u << PLUGIN_CLUSTER_AFFINITY);
    filter((const char *[]){"Pass", "Pass", "Pass"});
}

#define TERMS                                                                                      \
    "\"placement\":{\"clusterAffinities\":[{\"affinityName\":\"g1\",\"clusterNames\":[\"m1\"]},{"  \
    "\"affinityName\":\"g2\",\"clusterNames\":[\"m2\"],\"overflowAffinities\":[{\"clusterNames\":" \
    "[\"x\"]},{\"clusterNames\":[\"m3\",\"m2\"]}]}]}"

static void terms(void **state) {
    (void)state;
    test_fleet_make(THREE, "{" DEPLOYMENT ",\"replicas\":1," TERMS "}", "g1", &fleet);
    filter((const char *[]){"Pass", NO_MATCH, NO_MATCH});
    test_fleet_make(THREE, "{" DEPLOYMENT ",\"replicas\":1," TERMS "}", "g2", &fleet);
    filter((const char *[]){NO_MATCH, "Pass", "Pass"});
    orders_are(1000, 0, 2);
    /* what is no workload does not overflow */
    test_fleet_make(THREE, "{" DEPLOYMENT "," TERMS "}", "g2", &fleet);
    filter((const char *[]){NO_MATCH, "Pass", NO_MATCH});
    /* no such term: no filter, and nobody's order */
    test_fleet_make(THREE, "{" DEPLOYMENT ",\"replicas\":1," TERMS "}", "g3", &fleet);
    filter((const char *[]){"Pass", "Pass", "Pass"});
    orders_are(1000, 1000, 1000);
    test_fleet_make(THREE, "{" DEPLOYMENT ",\"placement\":{\"clusterAffinities\":[]}}", "", &fleet);
    filter((const char *[]){"Pass", "Pass", "Pass"});
    orders_are(0, 0, 0);
    test_fleet_make(THREE, "{" DEPLOYMENT ",\"replicas\":1," TERMS "}", "g2", &fleet);
    fleet.options.plugins &= ~(1u << PLUGIN_CLUSTER_AFFINITY);
    filter((const char *[]){"Pass", "Pass", "Pass"});
    orders_are(1000, 0, 2);
}

static const char *const somewhere[] = {
    CLUSTER("m1", "\"provider\":\"P\",\"region\":\"R\",\"zones\":[\"Z\"]"),
    CLUSTER("m2", "\"region\":\"R\",\"zones\":[\"Z\"]"),
    CLUSTER("m3", "\"provider\":\"P\",\"zones\":[\"Z\"]"),
    CLUSTER("m4", "\"provider\":\"P\",\"region\":\"R\""),
};

static void spread(void **state) {
    (void)state;
    test_fleet_make(ARRAY_OF(somewhere),
                    "{" DEPLOYMENT ",\"placement\":{\"spreadConstraints\":[{"
                    "\"spreadByField\":\"cluster\"},{\"spreadByField\":\"provider\"},{"
                    "\"spreadByField\":\"region\"},{\"spreadByField\":\"zone\"},{"
                    "\"spreadByLabel\":\"l\"}]}}",
                    "", &fleet);
    filter((const char *[]){"Pass", "SpreadConstraint:cluster(s) did not have provider property",
                            "SpreadConstraint:cluster(s) did not have region property",
                            "SpreadConstraint:cluster(s) did not have zones property"});
    fleet.options.missing = MISSING_DEFAULT;
    filter((const char *[]){"Pass", "Pass", "Pass", "Pass"});
    fleet.options = karmada_defaults;
    fleet.options.plugins &= ~(1u << PLUGIN_SPREAD_CONSTRAINT);
    filter((const char *[]){"Pass", "Pass", "Pass", "Pass"});
}

static void evictions_and_deletions(void **state) {
    (void)state;
    test_fleet_make("[" CLUSTER("m1", "") "," CLUSTER(
                        "m2", "") ",{\"metadata\":{\"name\":\"m3\","
                                  "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}]",
                    "{" DEPLOYMENT ",\"clusters\":[{\"name\":\"m2\"}],\"gracefulEvictionTasks\":[{"
                    "\"fromCluster\":\"m2\"},{\"fromCluster\":\"m2\"}]}",
                    "", &fleet);
    filter((const char *[]){"Pass", "ClusterEviction:cluster(s) is in the process of eviction",
                            "Deleting"});
    fleet.options.plugins &= ~(1u << PLUGIN_CLUSTER_EVICTION);
    filter((const char *[]){"Pass", "Pass", "Deleting"});
}

static void the_first_filter_gives_the_reason(void **state) {
    (void)state;
    test_fleet_make(
        "[{\"metadata\":{\"name\":\"m1\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":"
        "\"NoSchedule\"}]}}]",
        "{" DEPLOYMENT ",\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"m2\"]}"
        ",\"spreadConstraints\":[{\"spreadByField\":\"zone\"}]}}",
        "", &fleet);
    filter((const char *[]){NO_API});
    fleet.options.plugins &= ~(1u << PLUGIN_API_ENABLEMENT);
    filter((const char *[]){"TaintToleration:cluster(s) had untolerated taint {k:NoSchedule}"});
    fleet.options.plugins &= ~(1u << PLUGIN_TAINT_TOLERATION);
    filter((const char *[]){NO_MATCH});
    fleet.options.plugins &= ~(1u << PLUGIN_CLUSTER_AFFINITY);
    filter((const char *[]){"SpreadConstraint:cluster(s) did not have zones property"});
}

/* Reasons are sorted as texts: 10 comes before 2. */
#define PLAIN(name) "{\"metadata\":{\"name\":\"" name "\"}}"
static const char *const refused_ones[] = {
    PLAIN("a"),
    PLAIN("b"),
    PLAIN("c"),
    PLAIN("d"),
    PLAIN("e"),
    PLAIN("f"),
    PLAIN("g"),
    PLAIN("h"),
    PLAIN("i"),
    PLAIN("j"),
    TAINTED("k", "t", "", "NoSchedule"),
    TAINTED("l", "t", "", "NoSchedule"),
    TAINTED("m", "s", "", "NoSchedule"),
    TAINTED("n", "s", "", "NoSchedule"),
    "{\"metadata\":{\"name\":\"o\",\"deletionTimestamp\":\"x\"}}",
};

static void texts_of_fit_errors(void **state) {
    (void)state;
    test_fleet_make("[]", "{" DEPLOYMENT "}", "", &fleet);
    filter(NULL);
    fit_error("0/0 clusters are available: no cluster exists.");
    test_fleet_make("[{\"metadata\":{\"name\":\"m\",\"deletionTimestamp\":\"x\"}}]",
                    "{" DEPLOYMENT "}", "", &fleet);
    filter((const char *[]){"Deleting"});
    fit_error("0/1 clusters are available: no cluster exists.");
    test_fleet_make(ARRAY_OF(refused_ones), "{" DEPLOYMENT "}", "", &fleet);
    static const char *const t = "TaintToleration:cluster(s) had untolerated taint {t:NoSchedule}";
    static const char *const s = "TaintToleration:cluster(s) had untolerated taint {s:NoSchedule}";
    filter((const char *[]){NO_API, NO_API, NO_API, NO_API, NO_API, NO_API, NO_API, NO_API, NO_API,
                            NO_API, t, t, s, s, "Deleting"});
    fit_error("0/15 clusters are available: 10 cluster(s) did not have the API resource, 2 "
              "cluster(s) had untolerated taint {s:NoSchedule}, 2 cluster(s) had untolerated taint "
              "{t:NoSchedule}.");
}

static void without_steps(void **state) {
    (void)state;
    struct err err;
    test_fleet_make(THREE, "{" DEPLOYMENT ",\"placement\":{\"clusterAffinity\":{}}}", "", &fleet);
    filter((const char *[]){"Pass", "Pass", "Pass"});
    const uint64_t used = decoding_arena.steps.used;
    decoding_arena.steps = (struct steps){.used = 0};
    filter((const char *[]){"Pass", "Pass", "Pass"});
    const uint64_t enough = decoding_arena.steps.used;
    assert_true(used >= enough && enough > 0);
    for (uint64_t max = 1; max < enough; max++) {
        decoding_arena.steps = (struct steps){.max = max};
        assert_int_equal(karmada_filter(&fleet.question, &decoding_arena, &filtered, &err), -E2BIG);
    }
    decoding_arena.steps = (struct steps){.max = enough};
    filter((const char *[]){"Pass", "Pass", "Pass"});
    decoding_arena.steps = (struct steps){0};
}

/* ---- scores ---- */

static void scores(void **state) {
    (void)state;
    static const uint8_t data[] = {7, 101, 50};
    struct karmada_scores got;
    struct err err;
    test_fleet_make(THREE,
                    "{" DEPLOYMENT ",\"clusters\":[{\"name\":\"m3\"},{\"name\":\"m1\"}],"
                    "\"gracefulEvictionTasks\":[{\"fromCluster\":\"m1\"}]}",
                    "", &fleet);
    filter((const char *[]){"ClusterEviction:cluster(s) is in the process of eviction", "Pass",
                            "Pass"});
    filtered.candidates[0].allocatable = 2;
    filtered.candidates[1].allocatable = 3;
    assert_int_equal(karmada_score(&fleet.question, &filtered, &decoding_arena, &got, &err), 0);
    assert_int_equal(filtered.candidates[0].score, 0);
    assert_int_equal(filtered.candidates[1].score, 100);
    assert_int_equal(got.of[PLUGIN_CLUSTER_LOCALITY][1], 100);
    assert_null(got.of[PLUGIN_FREE_CAPACITY]);
    assert_null(got.of[PLUGIN_DATA_LOCALITY]);

    fleet.options.plugins |= 1u << PLUGIN_FREE_CAPACITY | 1u << PLUGIN_DATA_LOCALITY;
    assert_int_equal(karmada_score(&fleet.question, &filtered, &decoding_arena, &got, &err), 0);
    assert_int_equal(got.of[PLUGIN_FREE_CAPACITY][0], 66);
    assert_int_equal(got.of[PLUGIN_FREE_CAPACITY][1], 100);
    assert_int_equal(got.of[PLUGIN_DATA_LOCALITY][0], 0); /* nothing is known */
    assert_int_equal(filtered.candidates[1].score, 200);

    fleet.question.data = data;
    fleet.options.plugins &= ~(1u << PLUGIN_CLUSTER_LOCALITY);
    filtered.candidates[0].allocatable = filtered.candidates[1].allocatable = 0;
    assert_int_equal(karmada_score(&fleet.question, &filtered, &decoding_arena, &got, &err), 0);
    assert_null(got.of[PLUGIN_CLUSTER_LOCALITY]);
    assert_int_equal(got.of[PLUGIN_FREE_CAPACITY][1], 0);
    assert_int_equal(filtered.candidates[0].score, 100); /* of m2 */
    assert_int_equal(filtered.candidates[1].score, 50);  /* of m3 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(the_api),
        DECODING_TEST(taints),
        DECODING_TEST(one_affinity),
        DECODING_TEST(terms),
        DECODING_TEST(spread),
        DECODING_TEST(evictions_and_deletions),
        DECODING_TEST(the_first_filter_gives_the_reason),
        DECODING_TEST(texts_of_fit_errors),
        DECODING_TEST(without_steps),
        DECODING_TEST(scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
