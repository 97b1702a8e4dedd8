/* ResourceBinding and ClusterResourceBinding. Fields and defaults: upstream, karmada v1.18.1
 * pkg/apis/work/v1alpha2 and pkg/apis/policy/v1alpha1. */
#include "model/binding.h"

#include <errno.h>

#include "unit/model/decoding.h"

static struct binding decode(const char *json) {
    struct binding b;
    struct json_reader r = decoding_reader(json);
    binding_decode(&r, &b);
    decoding_good(&r);
    return b;
}

static struct cluster_placement placement(const char *json) {
    struct cluster_placement p;
    struct json_reader r = decoding_reader(json);
    cluster_placement_decode(&r, &p);
    decoding_good(&r);
    return p;
}

static void refused(const char *json, const char *words) {
    struct binding b;
    struct json_reader r = decoding_reader(json);
    binding_decode(&r, &b);
    decoding_refused(&r, words);
}

static void the_whole_of_one(void **state) {
    (void)state;
    const struct binding b = decode(
        "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
        "\"name\":\"web-deployment\",\"namespace\":\"shop\",\"generation\":7,\"annotations\":{"
        "\"policy.karmada.io/applied-placement\":\"{}\"}},\"spec\":{\"resource\":{\"apiVersion\":"
        "\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"shop\",\"name\":\"web\",\"uid\":\"u\"}"
        ",\"replicas\":9,\"clusters\":[{\"name\":\"m2\",\"replicas\":4},{\"name\":\"m1\"}],"
        "\"gracefulEvictionTasks\":[{\"fromCluster\":\"m3\"}],\"schedulerName\":\"own\","
        "\"rescheduleTriggeredAt\":\"1970-01-01T00:00:02Z\",\"suspension\":{\"scheduling\":true},"
        "\"placement\": {\"clusterAffinity\":{}} },\"status\":{\"lastScheduledTime\":"
        "\"1970-01-01T00:00:01Z\",\"schedulerObservingAffinityName\":\"g1\","
        "\"schedulerObservedGeneration\":6,\"conditions\":[ ]}}");
    assert_str(b.meta.name, "web-deployment");
    assert_str(b.meta.namespace, "shop");
    assert_false(b.cluster_wide);
    assert_int_equal(b.generation, 7);
    assert_str(b.applied_placement, "{}");
    assert_str(b.spec.resource_api, "apps/v1");
    assert_str(b.spec.resource_kind, "Deployment");
    assert_str(b.spec.resource_namespace, "shop");
    assert_str(b.spec.resource_name, "web");
    assert_str(b.spec.resource_uid, "u");
    assert_int_equal(b.spec.replicas, 9);
    assert_int_equal(b.spec.cluster_count, 2);
    assert_str(b.spec.clusters[0].name, "m2");
    assert_int_equal(b.spec.clusters[0].replicas, 4);
    assert_int_equal(b.spec.clusters[1].replicas, 0);
    assert_int_equal(b.spec.eviction_count, 1);
    assert_str(b.spec.evictions[0].from, "m3");
    assert_str(b.spec.scheduler, "own");
    assert_true(b.spec.has_reschedule && b.spec.suspended);
    assert_int_equal(b.spec.reschedule_ms, 2000);
    assert_true(b.spec.has_placement && b.spec.placement.has_affinity);
    assert_str(b.spec.placement_text, "{\"clusterAffinity\":{}}");
    assert_true(b.status.has_scheduled);
    assert_int_equal(b.status.scheduled_ms, 1000);
    assert_str(b.status.observed_affinity, "g1");
    assert_int_equal(b.status.observed_generation, 6);
    assert_str(b.status.conditions, "[ ]");
}

static void what_is_not_there(void **state) {
    (void)state;
    struct binding b =
        decode("{\"kind\":\"ClusterResourceBinding\",\"metadata\":{\"name\":\"r\","
               "\"namespace\":\"n\"},\"spec\":{\"placement\":null},\"status\":null}");
    assert_true(b.cluster_wide);
    assert_str(b.meta.namespace, "");
    assert_true(b.applied_placement.p == NULL);
    assert_int_equal(b.generation, 0);
    assert_false(b.spec.has_placement || b.spec.has_reschedule || b.spec.suspended);
    assert_true(b.spec.placement_text.p == NULL);
    assert_int_equal(b.spec.placement.replicas.division, DIVISION_NONE);
    assert_false(b.status.has_scheduled);
    assert_true(b.status.conditions.p == NULL);
    b = decode("{\"metadata\":{\"generation\":null,\"annotations\":{"
               "\"policy.karmada.io/applied-placement\":\"\"}},\"status\":{\"conditions\":null,"
               "\"lastScheduledTime\":null}}");
    assert_str(b.meta.namespace, "default");
    assert_true(b.applied_placement.p != NULL);
    assert_true(b.status.conditions.p == NULL);
    (void)decode("null");
}

static bool is_workload(const char *json) {
    const struct binding b = decode(json);
    return binding_is_workload(&b.spec);
}

static void a_workload(void **state) {
    (void)state;
    assert_false(is_workload("{\"spec\":{}}"));
    assert_true(is_workload("{\"spec\":{\"replicas\":1}}"));
    assert_true(is_workload("{\"spec\":{\"replicaRequirements\":{}}}"));
    assert_false(is_workload("{\"spec\":{\"replicaRequirements\":null}}"));
    assert_true(is_workload("{\"spec\":{\"components\":[{}]}}"));
    assert_false(is_workload("{\"spec\":{\"components\":[]}}"));
}

static void requirements(void **state) {
    (void)state;
    const struct binding b = decode(
        "{\"spec\":{\"replicaRequirements\":{\"namespace\":\"n\",\"priorityClassName\":\"high\","
        "\"resourceRequest\":{\"memory\":\"1Ki\",\"cpu\":1,\"a/b\":null,\"cpu\":\" 500m \"},"
        "\"nodeClaim\":{\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"key\":\"k\"}],"
        "\"hardNodeAffinity\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"z\","
        "\"operator\":\"Exists\"}]}]}}},\"components\":[{\"name\":\"jm\",\"replicas\":3,"
        "\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"2\"}}},{\"name\":\"tm\"}]}}");
    const struct replica_requirements *q = &b.spec.requirements;
    assert_true(q->given);
    assert_str(q->namespace, "n");
    assert_str(q->priority_class, "high");
    assert_int_equal(q->request_count, 3);
    assert_str(q->requests[0].name, "a/b");
    assert_true(q->requests[0].amount.nano == 0);
    assert_str(q->requests[1].name, "cpu");
    assert_true(q->requests[1].amount.nano == 500000000);
    assert_str(q->requests[1].text, "500m");
    assert_str(q->requests[2].name, "memory");
    assert_int_equal(q->requests[2].amount.format, QUANTITY_BINARY_SI);
    assert_int_equal(q->claim.node_selector.count, 1);
    assert_true(q->claim.required);
    assert_int_equal(q->claim.term_count, 1);
    assert_int_equal(q->claim.terms[0].expression_count, 1);
    assert_int_equal(q->tolerations.count, 1);
    assert_int_equal(b.spec.component_count, 2);
    assert_str(b.spec.components[0].name, "jm");
    assert_int_equal(b.spec.components[0].replicas, 3);
    assert_true(b.spec.components[0].requirements.requests[0].amount.nano == 2000000000);
    assert_false(b.spec.components[1].requirements.given);
}

/* ---- placement ---- */

static void spreads(void **state) {
    (void)state;
    const struct cluster_placement p = placement(
        "{\"spreadConstraints\":[{\"spreadByField\":\"provider\",\"minGroups\":1,\"maxGroups\":2},"
        "{\"spreadByField\":\"region\"},{\"spreadByField\":\"zone\"},{\"spreadByLabel\":\"l\"},"
        "{\"spreadByField\":\"cluster\",\"spreadByLabel\":\"l\"},{\"spreadByField\":\"\"},null]}");
    static const enum spread_field fields[] = {SPREAD_PROVIDER, SPREAD_REGION,  SPREAD_ZONE,
                                               SPREAD_LABEL,    SPREAD_CLUSTER, SPREAD_LABEL,
                                               SPREAD_LABEL};
    assert_int_equal(p.spread_count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(p.spread[i].field, fields[i]);
        assert_str(p.spread[i].label, i == 3 ? "l" : "");
        assert_int_equal(p.spread[i].min, i == 0 ? 1 : 0);
        assert_int_equal(p.spread[i].max, i == 0 ? 2 : 0);
    }
}

static enum division division(const char *json) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text, "{\"replicaScheduling\":%s}%c", json, 0);
    return placement(text.p).replicas.division;
}

static void divisions(void **state) {
    (void)state;
    assert_int_equal(division("null"), DIVISION_NONE);
    assert_int_equal(division("{}"), DIVISION_UNSUPPORTED); /* the CRD makes it Divided */
    assert_int_equal(division("{\"replicaSchedulingType\":\"Divided\"}"), DIVISION_UNSUPPORTED);
    assert_int_equal(division("{\"replicaSchedulingType\":\"Duplicated\",\"weightPreference\":{"
                              "\"dynamicWeight\":\"AvailableReplicas\"}}"),
                     DIVISION_DUPLICATED);
    assert_int_equal(division("{\"replicaDivisionPreference\":\"Aggregated\"}"),
                     DIVISION_AGGREGATED);
    assert_int_equal(division("{\"replicaDivisionPreference\":\"Weighted\"}"), DIVISION_STATIC);
    assert_int_equal(division("{\"replicaDivisionPreference\":\"Weighted\",\"weightPreference\":{}"
                              "}"),
                     DIVISION_STATIC);
    assert_int_equal(division("{\"replicaDivisionPreference\":\"Weighted\",\"weightPreference\":{"
                              "\"dynamicWeight\":\"AvailableReplicas\"}}"),
                     DIVISION_DYNAMIC);
}

static void weights(void **state) {
    (void)state;
    struct replica_scheduling s =
        placement("{\"replicaScheduling\":{\"replicaDivisionPreference\":\"Weighted\","
                  "\"weightPreference\":{\"staticWeightList\":[{\"weight\":3,\"targetCluster\":{"
                  "\"clusterNames\":[\"m1\"]}},{\"weight\":-1}]}}}")
            .replicas;
    assert_true(s.has_weights);
    assert_int_equal(s.weight_count, 2);
    assert_int_equal(s.weights[0].weight, 3);
    assert_str(s.weights[0].target.names[0], "m1");
    assert_int_equal(s.weights[1].weight, -1);
    assert_str(s.type, "Divided");
    assert_str(s.preference, "Weighted");
    s = placement("{\"replicaScheduling\":{\"weightPreference\":{}}}").replicas;
    assert_true(s.has_weights);
    s = placement("{\"replicaScheduling\":{\"weightPreference\":null}}").replicas;
    assert_false(s.has_weights);
}

static void affinities(void **state) {
    (void)state;
    const struct cluster_placement p = placement(
        "{\"clusterTolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],\"clusterAffinities\":["
        "{\"affinityName\":\"g1\",\"clusterNames\":[\"b\",\"a\",\"b\"],\"exclude\":[\"d\",\"c\"],"
        "\"overflowAffinities\":[{\"affinityName\":\"o1\",\"clusterNames\":[\"x\"]},{}]},"
        "{\"affinityName\":\"g2\",\"overflowAffinities\":[]},{\"overflowAffinities\":null}]}");
    assert_false(p.has_affinity);
    assert_int_equal(p.tolerations.count, 1);
    assert_int_equal(p.affinity_count, 3);
    const struct affinity_term *term = &p.affinities[0];
    assert_str(term->affinity.name, "g1");
    assert_int_equal(term->affinity.name_count, 2);
    assert_str(term->affinity.names[0], "a");
    assert_str(term->affinity.names[1], "b");
    assert_str(term->affinity.excluded[0], "c");
    assert_true(term->has_overflow);
    assert_int_equal(term->overflow_count, 2);
    assert_str(term->overflow[0].name, "o1");
    assert_str(term->overflow[0].names[0], "x");
    assert_true(p.affinities[1].has_overflow);
    assert_false(p.affinities[2].has_overflow);
    assert_false(placement("{\"clusterAffinity\":null}").has_affinity);
}

static void what_is_refused(void **state) {
    (void)state;
    refused("{\"spec\":{\"replicas\":-1}}", "doc.spec.replicas: -1");
    refused("{\"spec\":{\"replicas\":2147483648}}", "doc.spec.replicas");
    assert_int_equal(decode("{\"spec\":{\"replicas\":2147483647}}").spec.replicas, INT32_MAX);
    refused("{\"spec\":{\"clusters\":[{},{\"replicas\":-1}]}}", "doc.spec.clusters[1].replicas");
    refused("{\"spec\":{\"components\":[{\"replicas\":-1}]}}", "doc.spec.components[0].replicas");
    refused("{\"spec\":{\"placement\":{\"spreadConstraints\":[{\"minGroups\":-1}]}}}",
            "doc.spec.placement.spreadConstraints[0].minGroups");
    refused("{\"spec\":{\"placement\":{\"spreadConstraints\":[{\"maxGroups\":-1}]}}}",
            "spreadConstraints[0].maxGroups");
    refused("{\"spec\":{\"placement\":{\"spreadConstraints\":[{\"spreadByField\":\"zones\"}]}}}",
            "spreadByField: 'zones': did you mean 'zone'?");
    refused("{\"spec\":{\"placement\":{\"replicaScheduling\":{\"replicaSchedulingType\":"
            "\"Duplicate\"}}}}",
            "replicaSchedulingType: 'Duplicate': did you mean 'Duplicated'?");
    refused("{\"spec\":{\"placement\":{\"replicaScheduling\":{\"replicaDivisionPreference\":"
            "\"Even\"}}}}",
            "'Even' is not one of Aggregated, Weighted");
    refused("{\"spec\":{\"placement\":{\"replicaScheduling\":{\"weightPreference\":{"
            "\"dynamicWeight\":\"x\"}}}}}",
            "dynamicWeight");
    refused("{\"spec\":{\"rescheduleTriggeredAt\":\"today\"}}", "doc.spec.rescheduleTriggeredAt");
    refused("{\"spec\":{\"clusters\":{}}}", "doc.spec.clusters");
    refused("{\"spec\":{\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":true}}}}",
            "doc.spec.replicaRequirements.resourceRequest.cpu");
}

/* An unreadable quantity differs from what is no question. */
static void an_unreadable_quantity(void **state) {
    (void)state;
    struct binding b;
    struct err err;
    struct json_reader r = decoding_reader(
        "{\"spec\":{\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"1x\"}}}}");
    binding_decode(&r, &b);
    assert_int_equal(json_check(&r, &err), -EDOM);
    assert_contains(err.text, "doc.spec.replicaRequirements.resourceRequest.cpu: ");
    r = decoding_reader("{\"spec\":{\"replicas\":-1,\"replicaRequirements\":{\"resourceRequest\":{"
                        "\"cpu\":\"1x\"}}}}");
    binding_decode(&r, &b);
    assert_int_equal(json_check(&r, &err), -EINVAL);
}

/* ---- affinities match clusters ---- */

static bool matches(const char *json) {
    static const struct label labels[] = {{{"env", 3}, {"prod", 4}}, {{"tier", 4}, {"1", 1}}};
    static const struct str zones[] = {{"z2", 2}, {"z1", 2}};
    const struct cluster_traits cluster = {.name = STR("m1"),
                                           .provider = STR("P"),
                                           .zones = zones,
                                           .zone_count = 2,
                                           .labels = {labels, 2}};
    struct cluster_affinity affinity;
    struct steps steps = {0};
    struct json_reader r = decoding_reader(json);
    cluster_affinity_decode(&r, &affinity);
    decoding_good(&r);
    return cluster_affinity_matches(&affinity, &cluster, &steps);
}

static void by_names(void **state) {
    (void)state;
    assert_true(matches("{}"));
    assert_true(matches("{\"clusterNames\":[]}"));
    assert_true(matches("{\"clusterNames\":[\"m2\",\"m1\",\"m0\"]}"));
    assert_false(matches("{\"clusterNames\":[\"m2\",\"m\",\"m0\"]}"));
    assert_false(matches("{\"exclude\":[\"m2\",\"m1\"]}"));
    assert_true(matches("{\"exclude\":[\"m2\",\"m\"]}"));
    assert_false(matches("{\"clusterNames\":[\"m1\"],\"exclude\":[\"m1\"]}"));
}

static void by_labels(void **state) {
    (void)state;
    assert_true(matches("{\"labelSelector\":null}"));
    assert_true(matches("{\"labelSelector\":{}}"));
    assert_true(matches("{\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\",\"tier\":\"1\"}}}"));
    assert_false(matches("{\"labelSelector\":{\"matchLabels\":{\"env\":\"test\"}}}"));
    assert_false(matches("{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"env\",\"operator\":"
                         "\"NotIn\",\"values\":[\"prod\"]}]}}"));
    assert_false(matches("{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"env\",\"operator\":"
                         "\"Like\",\"values\":[\"prod\"]}]}}")); /* does not compile */
    assert_false(matches("{\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\"}},"
                         "\"clusterNames\":[\"m2\"]}"));
}

static bool field_matches(const char *key, const char *op, const char *values) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"%s\",\"operator\":\"%s\","
                   "\"values\":[%s]}]}}%c",
                   key, op, values, 0);
    return matches(text.p);
}

static void by_zones(void **state) {
    (void)state;
    assert_true(field_matches("zone", "In", "\"z9\",\"z1\",\"z0\""));
    assert_false(field_matches("zone", "In", "\"z9\",\"z\""));
    assert_false(field_matches("zone", "In", ""));
    assert_false(field_matches("zone", "NotIn", "\"z9\",\"z2\""));
    assert_true(field_matches("zone", "NotIn", "\"z9\""));
    assert_true(field_matches("zone", "NotIn", ""));
    assert_true(field_matches("zone", "Exists", ""));
    assert_true(field_matches("zone", "Exists", "\"a\"")); /* values are not looked at */
    assert_false(field_matches("zone", "DoesNotExist", ""));
    assert_false(field_matches("zone", "Gt", "\"1\""));
    assert_false(field_matches("zone", "in", "\"z1\""));
    assert_true(field_matches("zone", "In", "\"z1\",\"not a label value\""));
}

/* The cluster has a provider and no region. */
static void by_provider_and_region(void **state) {
    (void)state;
    assert_true(field_matches("provider", "In", "\"Q\",\"P\""));
    assert_false(field_matches("provider", "In", "\"Q\""));
    assert_true(field_matches("region", "NotIn", "\"R\""));
    assert_false(field_matches("region", "In", "\"R\",\"\""));
    assert_false(field_matches("region", "Exists", ""));
    assert_true(field_matches("region", "DoesNotExist", ""));
    assert_false(field_matches("cluster", "Exists", ""));
    assert_false(field_matches("provider", "Exists", "\"a\"")); /* does not compile */
    assert_false(field_matches("provider", "NotIn", "\"not a label value\""));
    assert_true(matches("{\"fieldSelector\":{}}"));
    assert_false(matches("{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"provider\","
                         "\"operator\":\"Exists\"},{\"key\":\"zone\",\"operator\":\"Like\"}]}}"));
    assert_false(
        matches("{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"provider\","
                "\"operator\":\"Exists\"},{\"key\":\"region\",\"operator\":\"Exists\"}]}}"));
}

/* Of a cluster without zones. */
static void without_zones(void **state) {
    (void)state;
    const struct cluster_traits cluster = {.name = STR("m1")};
    static const struct {
        enum selector_operator op;
        bool matches;
    } cases[] = {{SELECTOR_IN, false},
                 {SELECTOR_NOT_IN, true},
                 {SELECTOR_EXISTS, false},
                 {SELECTOR_DOES_NOT_EXIST, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct requirement zone = {.op = cases[i].op};
        const struct cluster_affinity affinity = {.zones = &zone, .zone_count = 1};
        struct steps steps = {0};
        assert_int_equal(cluster_affinity_matches(&affinity, &cluster, &steps), cases[i].matches);
    }
}

static void without_steps(void **state) {
    (void)state;
    const struct cluster_traits cluster = {.name = STR("m1")};
    const struct cluster_affinity any = {.invalid = false};
    struct steps steps = {.max = 2};
    assert_true(cluster_affinity_matches(&any, &cluster, &steps));
    assert_true(cluster_affinity_matches(&any, &cluster, &steps));
    assert_false(cluster_affinity_matches(&any, &cluster, &steps));
    assert_true(steps_spent(&steps));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(the_whole_of_one), DECODING_TEST(what_is_not_there),
        DECODING_TEST(a_workload),       DECODING_TEST(requirements),
        DECODING_TEST(spreads),          DECODING_TEST(divisions),
        DECODING_TEST(weights),          DECODING_TEST(affinities),
        DECODING_TEST(what_is_refused),  DECODING_TEST(an_unreadable_quantity),
        DECODING_TEST(by_names),         DECODING_TEST(by_labels),
        DECODING_TEST(by_zones),         DECODING_TEST(by_provider_and_region),
        DECODING_TEST(without_zones),    DECODING_TEST(without_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
