/* Karmada's Cluster. Fields: upstream, pkg/apis/cluster/v1alpha1 types.go; zone becomes zones only
 * where there are none: pkg/apis/cluster/mutation. */
#include "model/karmada.h"

#include "unit/model/decoding.h"

static struct karmada_cluster decode(const char *json) {
    struct karmada_cluster c;
    struct json_reader r = decoding_reader(json);
    karmada_cluster_decode(&r, &c);
    decoding_good(&r);
    return c;
}

static void refused(const char *json, const char *words) {
    struct karmada_cluster c;
    struct json_reader r = decoding_reader(json);
    karmada_cluster_decode(&r, &c);
    decoding_refused(&r, words);
}

static void properties_are(const struct karmada_cluster *c, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t i = 0; i < c->properties.count; i++)
        strbuf_appendf(&got, "%s%.*s=%.*s", i > 0 ? " " : "", STR_ARG(c->properties.items[i].key),
                       STR_ARG(c->properties.items[i].value));
    assert_str(strbuf_str(&got), wanted);
}

static void the_whole_of_one(void **state) {
    (void)state;
    struct karmada_cluster c = decode(
        "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"
        "\"name\":\"m1\",\"labels\":{\"spec\":\"1\",\"spec.a\":\"2\",\"speca\":\"3\",\"team\":"
        "\"4\"}},\"spec\":{\"syncMode\":\"Push\",\"provider\":\"P1\",\"region\":\"R1\",\"zone\":"
        "\"old\",\"zones\":[\"Z2\",\"Z1\"],\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\","
        "\"timeAdded\":\"2026-01-01T00:00:00Z\"}]},\"status\":{\"kubernetesVersion\":\"v1.30\","
        "\"resourceSummary\":{\"allocatable\":{\"memory\":\"1Ki\",\"cpu\":\"1500m\"},"
        "\"allocated\":{\"cpu\":2,\"pods\":\"3\"},\"allocating\":{\"cpu\":null},"
        "\"allocatableModelings\":[{\"grade\":0,\"count\":2}]}}}");
    assert_str(c.meta.name, "m1");
    assert_str(c.provider, "P1");
    assert_str(c.region, "R1");
    assert_int_equal(c.zone_count, 2);
    assert_str(c.zones[0], "Z2");
    properties_are(&c, "spec=1 spec.a=2 spec:provider=P1 spec:region=R1 spec:zone=Z2,Z1 speca=3 "
                       "team=4");
    assert_int_equal(c.taint_count, 1);
    assert_str(c.taints[0].effect, "NoSchedule");
    assert_int_equal(c.resource_count, 3);
    assert_str(c.resources[0].name, "cpu");
    assert_true(c.resources[0].nano[KARMADA_ALLOCATABLE] == 1500000000);
    assert_true(c.resources[0].nano[KARMADA_ALLOCATED] == 2000000000);
    assert_true(c.resources[0].nano[KARMADA_ALLOCATING] == 0);
    assert_str(c.resources[1].name, "memory");
    assert_true(c.resources[1].nano[KARMADA_ALLOCATABLE] == (__int128)1024 * 1000000000);
    assert_str(c.resources[2].name, "pods");
    assert_true(c.resources[2].nano[KARMADA_ALLOCATED] == 3000000000);
    assert_false(label_key_valid(STR(FIELD_PREFIX "zone"))); /* no label can take its place */
}

static void zones(void **state) {
    (void)state;
    struct karmada_cluster c = decode("{\"metadata\":{\"name\":\"m\"}}");
    assert_int_equal(c.zone_count + c.resource_count + c.taint_count + c.properties.count, 0);
    c = decode("{\"spec\":{\"zone\":\"z\",\"zones\":null,\"provider\":\"\"},\"status\":null}");
    assert_int_equal(c.zone_count, 1);
    assert_str(c.zones[0], "z");
    properties_are(&c, "spec:zone=z");
    c = decode("{\"spec\":{\"zones\":[],\"zone\":\"z\"}}");
    properties_are(&c, "spec:zone=z");
    c = decode("{\"spec\":{\"zones\":[\"a\"],\"zone\":\"z\"}}");
    properties_are(&c, "spec:zone=a");
    c = decode("{\"spec\":{\"zones\":[\"a\",\"\",\"c\"]}}");
    properties_are(&c, "spec:zone=a,,c");
    c = decode("{\"spec\":{\"zones\":null,\"zone\":\"\"}}");
    assert_int_equal(c.zone_count, 0);
}

/* What is left of each resource, and which amounts are given. */
static void what_is_free(void **state) {
    (void)state;
    struct karmada_cluster c = decode(
        "{\"status\":{\"resourceSummary\":{\"allocatable\":{\"cpu\":\"2\",\"m\":\"0\",\"pods\":"
        "\"10\"},"
        "\"allocated\":{\"cpu\":\"1999500u\",\"m\":\"-1Ki\",\"pods\":\"2500m\"},\"allocating\":{"
        "\"m\":\"3\",\"n\":\"1\",\"pods\":\"1\"}}}}");
    assert_true(c.has_summary);
    assert_int_equal(c.resource_count, 4);
    assert_int_equal(c.resources[0].free, 1); /* half a thousandth, rounded up */
    assert_int_equal(c.resources[0].given, 1 << KARMADA_ALLOCATABLE | 1 << KARMADA_ALLOCATED);
    assert_int_equal(c.resources[0].format, QUANTITY_DECIMAL_SI);
    assert_int_equal(c.resources[1].free, 1021);
    assert_int_equal(c.resources[1].format, QUANTITY_BINARY_SI);
    assert_int_equal(c.resources[2].free, -1);
    assert_int_equal(c.resources[2].given, 1 << KARMADA_ALLOCATING);
    assert_int_equal(c.free_pods, 6); /* 10 - 3 - 1 */
    assert_false(decode("{\"status\":{\"resourceSummary\":null}}").has_summary);
    assert_false(decode("{}").has_summary);
    assert_int_equal(
        decode("{\"status\":{\"resourceSummary\":{\"allocated\":{\"pods\":\"1\"}}}}").free_pods, 0);
}

static void resource_models(void **state) {
    (void)state;
    struct karmada_cluster c = decode(
        "{\"status\":{\"resourceSummary\":{\"allocatableModelings\":[{\"grade\":1,\"count\":2},"
        "{\"grade\":5,\"count\":7},{\"count\":3},{\"grade\":1,\"count\":4}]}},\"spec\":{"
        "\"resourceModels\":[{\"grade\":1,\"ranges\":[]},{\"ranges\":[{\"name\":\"memory\",\"min\":"
        "\"1Ki\"},{\"name\":\"cpu\",\"min\":\"1500m\",\"max\":\"2\"},{\"name\":\"storage\"},{"
        "\"name\":"
        "\"memory\",\"min\":\"2Ki\"}]},{\"grade\":1,\"ranges\":null}]}}");
    const struct karmada_models *models = &c.models;
    assert_int_equal(models->count, 3);
    assert_int_equal(models->by_grade[0], 1);
    assert_int_equal(models->by_grade[1], 0);
    assert_int_equal(models->by_grade[2], 2);
    assert_int_equal(models->items[0].nodes, 0); /* the later one of grade 1 has them */
    assert_int_equal(models->items[1].nodes, 3);
    assert_int_equal(models->items[2].nodes, 6);
    const struct karmada_model *model = &models->items[1];
    assert_int_equal(model->range_count, 3);
    assert_str(model->ranges[0].name, "cpu");
    assert_int_equal(model->ranges[0].amount, 1500);
    assert_true(model->ranges[0].scheduled);
    assert_str(model->ranges[1].name, "memory");
    assert_int_equal(model->ranges[1].amount, 2048);
    assert_false(model->ranges[2].scheduled);
    assert_int_equal(models->modeling_count, 4);
    assert_int_equal(models->modelings[1].count, 7);
    assert_false(models->negative);
    assert_true(
        decode("{\"status\":{\"resourceSummary\":{\"allocatableModelings\":[{\"count\":-1}]}}}")
            .models.negative);
    refused("{\"spec\":{\"resourceModels\":[{\"grade\":-1}]}}", "doc.spec.resourceModels[0].grade");
    refused("{\"spec\":{\"resourceModels\":[{\"ranges\":[{\"min\":\"x\"}]}]}}",
            "doc.spec.resourceModels[0].ranges[0].min");
    refused("{\"status\":{\"resourceSummary\":{\"allocatableModelings\":[{\"count\":\"1\"}]}}}",
            "allocatableModelings[0].count");
}

static void what_cannot_be_read(void **state) {
    (void)state;
    refused("{\"spec\":{\"zones\":\"z\"}}", "doc.spec.zones: expected an array");
    refused("{\"spec\":{\"provider\":1}}", "doc.spec.provider: expected a string");
    refused("{\"status\":{\"resourceSummary\":{\"allocated\":{\"cpu\":\"x\"}}}}",
            "doc.status.resourceSummary.allocated.cpu: cannot parse quantity 'x'");
}

/* upstream: Cluster.APIEnablement(), schema.FromAPIVersionAndKind() */
static void apis(void **state) {
    (void)state;
    struct karmada_cluster c = decode(
        "{\"status\":{\"apiEnablements\":[{\"groupVersion\":\"apps/v1\",\"resources\":[{\"name\":"
        "\"deployments\",\"kind\":\"Deployment\"},{\"kind\":\"DaemonSet\"},{\"kind\":"
        "\"Deployment\"}]}"
        ",{\"resources\":[{\"kind\":\"Pod\"}],\"groupVersion\":\"v1\"},{\"groupVersion\":\"a/v1\"},"
        "{\"resources\":[{\"kind\":\"Odd\"},null]},null]}}");
    assert_int_equal(c.api_count, 5);
    assert_true(karmada_cluster_serves(&c, karmada_api_of(STR("apps/v1"), STR("Deployment"))));
    assert_true(karmada_cluster_serves(&c, karmada_api_of(STR("apps/v1"), STR("DaemonSet"))));
    assert_true(karmada_cluster_serves(&c, karmada_api_of_object(STR("v1"), STR("Pod"))));
    assert_true(karmada_cluster_serves(&c, karmada_api_of_object(STR("/v1"), STR("Pod"))));
    assert_true(karmada_cluster_serves(&c, karmada_api_of_object(STR("a/b/c"), STR("Odd"))));
    assert_true(karmada_cluster_serves(&c, karmada_api_of_object(STR("/"), STR("Odd"))));
    assert_false(karmada_cluster_serves(&c, karmada_api_of_object(STR("v1"), STR("Odd"))));
    assert_false(karmada_cluster_serves(&c, karmada_api_of_object(STR("v1"), STR("Deployment"))));
    assert_false(karmada_cluster_serves(&c, karmada_api_of_object(STR("apps/v1"), STR("Pod"))));
    assert_false(
        karmada_cluster_serves(&c, karmada_api_of_object(STR("apps/v2"), STR("DaemonSet"))));
    assert_false(karmada_cluster_serves(&c, karmada_api_of_object(STR("a/v1"), STR(""))));
    c = decode("{\"status\":{\"apiEnablements\":null}}");
    assert_int_equal(c.api_count, 0);
    assert_false(karmada_cluster_serves(&c, karmada_api_of(STR(""), STR(""))));
    refused("{\"status\":{\"apiEnablements\":[{\"groupVersion\":1}]}}",
            "doc.status.apiEnablements[0].groupVersion");
    refused("{\"status\":{\"apiEnablements\":[{\"resources\":[{\"kind\":1}]}]}}",
            "doc.status.apiEnablements[0].resources[0].kind");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(the_whole_of_one),
        DECODING_TEST(zones),
        DECODING_TEST(apis),
        DECODING_TEST(what_is_free),
        DECODING_TEST(resource_models),
        DECODING_TEST(what_cannot_be_read),
    };
    return cmocka_run_group_tests_name("Karmada's Cluster", tests, NULL, NULL);
}
