/* The annotation with the applied placement. upstream, karmada v1.18.1: pkg/scheduler helper.go
 * placementChanged() and its tests; the order of members: pkg/apis/policy/v1alpha1
 * propagation_types.go. */
#include "karmada/applied.h"

#include <errno.h>

#include "unit/model/decoding.h"

static void marshals(const char *placement, const char *wanted) {
    struct str got;
    struct err err;
    if (karmada_placement_marshal(str_of(placement), &decoding_arena, &got, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(got, wanted);
}

static void stored_as(const char *placement, const char *wanted) {
    struct str got;
    struct err err;
    if (karmada_placement_store(str_of(placement), &decoding_arena, &got, &err) != 0)
        fail_msg("%s", err.text);
    assert_str(got, wanted);
}

/* upstream: SetDefaultSpreadConstraints(), SetReplicaDivisionPreferenceWeighted() */
static void defaults_of_the_webhook(void **state) {
    (void)state;
    stored_as(
        "{\"spreadConstraints\":[{\"maxGroups\":2},{\"spreadByLabel\":\"a\",\"minGroups\":null},{"
        "\"spreadByField\":\"\",\"minGroups\":3}]}",
        "{\"spreadConstraints\":[{\"spreadByField\":\"cluster\",\"maxGroups\":2,\"minGroups\":1},{"
        "\"spreadByLabel\":\"a\",\"minGroups\":1},{\"spreadByField\":\"cluster\",\"minGroups\":3}]"
        "}");
    stored_as("{\"replicaScheduling\":{}}",
              "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","
              "\"replicaDivisionPreference\":\"Weighted\"}}");
    stored_as("{\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\"}}",
              "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\"}}");
    stored_as("{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","
              "\"replicaDivisionPreference\":\"Aggregated\"}}",
              "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","
              "\"replicaDivisionPreference\":\"Aggregated\"}}");
}

static bool changed(const char *placement, const char *applied, const char *observed) {
    bool ret;
    struct err err;
    if (karmada_placement_changed(str_of(placement), str_of(applied), str_of(observed),
                                  &decoding_arena, &ret, &err) != 0)
        fail_msg("%s", err.text);
    return ret;
}

static void as_go_writes_it(void **state) {
    (void)state;
    marshals("{}", "{}");
    marshals("{\"replicaScheduling\":{}}",
             "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}}");
    marshals("{ \"spreadConstraints\": [{\"minGroups\":1,\"maxGroups\":0,\"spreadByField\":"
             "\"region\",\"x\":1}], \"clusterAffinity\": {\"exclude\":[\"b\",\"a\"],"
             "\"clusterNames\":[],\"labelSelector\":{\"matchLabels\":{\"z\":\"1\",\"a\":\"2\"},"
             "\"matchExpressions\":[{\"values\":[\"v\"],\"operator\":\"In\",\"key\":\"k\"},{"
             "\"key\":\"e\",\"operator\":\"Exists\"}]},\"fieldSelector\":{}}, \"future\": [1]}",
             "{\"clusterAffinity\":{\"labelSelector\":{\"matchLabels\":{\"a\":\"2\",\"z\":\"1\"},"
             "\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"v\"]},{"
             "\"key\":\"e\",\"operator\":\"Exists\"}]},\"fieldSelector\":{},\"exclude\":[\"b\","
             "\"a\"]},\"spreadConstraints\":[{\"spreadByField\":\"region\",\"minGroups\":1}]}");
    marshals("{\"clusterTolerations\":[{\"tolerationSeconds\":0,\"key\":\"k\"},{\"effect\":"
             "\"NoExecute\",\"tolerationSeconds\":null,\"operator\":\"Exists\",\"value\":\"\"}]}",
             "{\"clusterTolerations\":[{\"key\":\"k\",\"tolerationSeconds\":0},{\"operator\":"
             "\"Exists\",\"effect\":\"NoExecute\"}]}");
    marshals("{\"clusterAffinities\":[{\"overflowAffinities\":[{\"clusterNames\":[\"c\"],"
             "\"affinityName\":\"o\"}],\"clusterNames\":[\"m\"],\"affinityName\":\"g\"},{}],"
             "\"clusterTolerations\":[],\"workloadAffinity\":{\"antiAffinity\":{"
             "\"groupByLabelKey\":\"l\"}}}",
             "{\"clusterAffinities\":[{\"affinityName\":\"g\",\"clusterNames\":[\"m\"],"
             "\"overflowAffinities\":[{\"affinityName\":\"o\",\"clusterNames\":[\"c\"]}]},{"
             "\"affinityName\":\"\"}],\"workloadAffinity\":{\"antiAffinity\":{\"groupByLabelKey\":"
             "\"l\"}}}");
    marshals(
        "{\"replicaScheduling\":{\"weightPreference\":{\"staticWeightList\":[{\"weight\":2},"
        "{\"targetCluster\":{\"clusterNames\":[\"m\"]}}],\"dynamicWeight\":\"\"},"
        "\"replicaDivisionPreference\":\"Weighted\",\"replicaSchedulingType\":\"Duplicated\"}}",
        "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\","
        "\"replicaDivisionPreference\":\"Weighted\",\"weightPreference\":{"
        "\"staticWeightList\":[{\"targetCluster\":{},\"weight\":2},{\"targetCluster\":{"
        "\"clusterNames\":[\"m\"]},\"weight\":0}]}}}");
}

static void what_is_no_placement(void **state) {
    (void)state;
    struct str got;
    struct err err;
    assert_int_equal(
        karmada_placement_marshal(STR("{\"clusterAffinities\":[{\"affinityName\":1}]}"),
                                  &decoding_arena, &got, &err),
        -EINVAL);
    assert_contains(err.text, "spec.placement");
    decoding_arena.steps = (struct steps){.used = 0, .max = 1};
    assert_int_equal(
        karmada_placement_marshal(STR("{\"clusterAffinity\":{}}"), &decoding_arena, &got, &err),
        -E2BIG);
    decoding_arena.steps = (struct steps){0};
}

static void what_changes_a_placement(void **state) {
    (void)state;
    assert_true(changed("{}", "", ""));
    assert_false(changed("{}", "{}", ""));
    assert_false(changed("{\"clusterAffinity\":{}}", "no JSON", ""));
    assert_false(changed("{\"clusterAffinity\":{}}", "{\"clusterAffinity\":[]}", ""));
    assert_false(changed("{\"clusterAffinity\":{\"clusterNames\":[\"a\"]}}",
                         "{ \"clusterAffinity\" : {\"clusterNames\":[\"a\"],\"exclude\":null}}",
                         ""));
    assert_true(changed("{\"clusterAffinity\":{\"clusterNames\":[\"a\"]}}",
                        "{\"clusterAffinity\":{\"clusterNames\":[\"b\"]}}", ""));
    assert_true(changed("{\"clusterAffinity\":{}}", "{}", ""));
    /* Go: an empty list is not nil */
    assert_true(
        changed("{\"clusterAffinity\":{\"clusterNames\":[]}}", "{\"clusterAffinity\":{}}", ""));
    assert_true(changed("{\"clusterAffinity\":{\"labelSelector\":{\"matchLabels\":{}}}}",
                        "{\"clusterAffinity\":{\"labelSelector\":{}}}", ""));
    assert_true(changed("{\"clusterTolerations\":[]}", "{}", ""));
    assert_true(changed("{\"clusterTolerations\":[{\"key\":\"a\"}]}",
                        "{\"clusterTolerations\":[{\"key\":\"b\"}]}", ""));
    assert_true(changed("{\"spreadConstraints\":[{\"maxGroups\":1}]}",
                        "{\"spreadConstraints\":[{\"maxGroups\":2}]}", ""));
    assert_false(
        changed("{\"spreadConstraints\":[{\"maxGroups\":0}]}", "{\"spreadConstraints\":[{}]}", ""));
    assert_true(changed("{\"replicaScheduling\":{\"replicaSchedulingType\":\"Duplicated\"}}",
                        "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}}", ""));
    /* the CRD's default is in the object that is compared */
    assert_false(changed("{\"replicaScheduling\":{}}",
                         "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}}", ""));
    assert_true(changed("{\"replicaScheduling\":{}}", "{\"replicaScheduling\":{}}", ""));
}

#define TERMS(a, b)                                                                                \
    "{\"clusterAffinities\":[{\"affinityName\":\"g1\",\"clusterNames\":[\"" a "\"]},{"             \
    "\"affinityName\":\"g2\",\"clusterNames\":[\"" b "\"]}]}"

/* Only the term in force counts. */
static void terms(void **state) {
    (void)state;
    assert_false(changed(TERMS("a", "b"), TERMS("a", "b"), ""));
    /* none in force: not even one without a name */
    assert_true(
        changed("{\"clusterAffinities\":[{\"affinityName\":\"\"}]}",
                "{\"clusterAffinities\":[{\"affinityName\":\"\"},{\"affinityName\":\"g\"}]}", ""));
    assert_true(changed(TERMS("a", "b"), TERMS("a", "c"), ""));
    assert_false(changed(TERMS("a", "b"), TERMS("a", "c"), "g1"));
    assert_true(changed(TERMS("a", "b"), TERMS("a", "c"), "g2"));
    assert_true(changed(TERMS("a", "b"), TERMS("a", "c"), "g3"));
    assert_true(changed(TERMS("a", "b"), "{}", "g1"));
    assert_true(changed("{}", TERMS("a", "b"), "g1"));
    /* and what is no affinity decides before */
    assert_true(changed("{\"clusterTolerations\":[],\"clusterAffinities\":[{\"affinityName\":"
                        "\"g1\"}]}",
                        "{\"clusterAffinities\":[{\"affinityName\":\"g1\"}]}", "g1"));
    assert_true(changed("{\"workloadAffinity\":{}}", "{}", ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(as_go_writes_it),
        DECODING_TEST(defaults_of_the_webhook),
        DECODING_TEST(what_is_no_placement),
        DECODING_TEST(what_changes_a_placement),
        DECODING_TEST(terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
