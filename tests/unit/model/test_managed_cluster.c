/* ManagedClusters. Fields and their meaning: upstream's CRD and cluster/v1 types.go, and the map of
 * claims of the placement controller's predicates, where the last of equal names counts. Amounts:
 * apimachinery resource AsApproximateFloat64(). */
#include "model/ocm.h"

#include "unit/model/decoding.h"

static struct managed_cluster decode(const char *json) {
    struct managed_cluster c;
    struct json_reader r = decoding_reader(json);
    managed_cluster_decode(&r, &c);
    decoding_good(&r);
    return c;
}

static void refused(const char *json, const char *words) {
    struct managed_cluster c;
    struct json_reader r = decoding_reader(json);
    managed_cluster_decode(&r, &c);
    decoding_refused(&r, words);
}

static void labels_are(const struct labels *labels, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t i = 0; i < labels->count; i++)
        strbuf_appendf(&got, "%s%.*s=%.*s", i > 0 ? " " : "", STR_ARG(labels->items[i].key),
                       STR_ARG(labels->items[i].value));
    assert_str(strbuf_str(&got), wanted);
}

static void the_whole_of_one(void **state) {
    (void)state;
    struct managed_cluster c = decode(
        "{\"apiVersion\":\"cluster.open-cluster-management.io/v1\",\"kind\":\"ManagedCluster\","
        "\"metadata\":{\"name\":\"paris\",\"labels\":{\"region\":\"eu\",\"cloud\":\"Amazon\"}},"
        "\"spec\":{\"hubAcceptsClient\":true,\"leaseDurationSeconds\":60,\"taints\":["
        "{\"key\":\"cluster.open-cluster-management.io/unreachable\",\"effect\":\"NoSelect\","
        "\"timeAdded\":\"2026-11-01T10:00:00Z\"},"
        "{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"PreferNoSelect\",\"timeAdded\":null},"
        "{\"key\":\"new\",\"effect\":\"NoSelectIfNew\"}]},"
        "\"status\":{\"capacity\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"?\"},"
        "\"allocatable\":{\"memory\":\"1Ki\",\"cpu\":7500e-3},"
        "\"version\":{\"kubernetes\":\"v1.30.0\"},"
        "\"clusterClaims\":[{\"name\":\"id.k8s.io\",\"value\":\"7\"},"
        "{\"name\":\"zone\",\"value\":\"eu-1\"}]}}");
    assert_str(c.meta.name, "paris");
    assert_false(c.meta.terminating);
    assert_true(c.accepted);
    labels_are(&c.meta.labels, "cloud=Amazon region=eu");
    labels_are(&c.properties, "claim:id.k8s.io=7 claim:zone=eu-1 cloud=Amazon region=eu");
    assert_int_equal(c.taint_count, 3);
    assert_str(c.taints[0].taint.key, "cluster.open-cluster-management.io/unreachable");
    assert_str(c.taints[0].taint.effect, "NoSelect");
    assert_int_equal(c.taints[0].added_ms, 1793527200000);
    assert_str(c.taints[1].taint.value, "yes");
    assert_str(c.taints[1].taint.effect, "PreferNoSelect");
    assert_true(c.taints[1].added_ms == INT64_MIN);
    assert_str(c.taints[2].taint.effect, "NoSelectIfNew");
    assert_true(c.taints[2].added_ms == INT64_MIN);
    assert_true(c.cpu_capacity.given && c.cpu_capacity.value == 8);
    assert_true(c.memory_capacity.given && c.memory_capacity.value == 34359738368);
    assert_true(c.cpu_allocatable.given && c.cpu_allocatable.value == 7.5);
    assert_true(c.memory_allocatable.given && c.memory_allocatable.value == 1024);
}

static void what_is_not_there(void **state) {
    (void)state;
    struct managed_cluster c = decode("{\"metadata\":{\"name\":\"c\"}}");
    labels_are(&c.properties, "");
    assert_int_equal(c.taint_count, 0);
    assert_false(c.accepted);
    assert_false(c.cpu_allocatable.given || c.cpu_capacity.given);
    assert_false(c.memory_allocatable.given || c.memory_capacity.given);
    c = decode("{\"metadata\":{\"name\":\"c\",\"deletionTimestamp\":\"2026-11-01T10:00:00Z\"},"
               "\"spec\":null,\"status\":{\"clusterClaims\":null,\"allocatable\":null}}");
    labels_are(&c.properties, "");
    assert_true(c.meta.terminating);
}

static void claims_are_told_from_labels(void **state) {
    (void)state;
    struct managed_cluster c =
        decode("{\"status\":{\"clusterClaims\":[{\"name\":\"b\",\"value\":\"1\"},"
               "{\"name\":\"a\",\"value\":\"2\"},{\"name\":\"b\",\"value\":\"3\"}]},"
               "\"metadata\":{\"name\":\"c\",\"labels\":{\"a\":\"label\",\"z\":\"label\"}}}");
    labels_are(&c.properties, "a=label claim:a=2 claim:b=3 z=label");
    labels_are(&c.meta.labels, "a=label z=label");
    assert_false(label_key_valid(STR(CLAIM_PREFIX "a"))); /* no label can take its place */
}

static void what_an_api_server_refuses(void **state) {
    (void)state;
    refused("{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoSelect\"},"
            "{\"key\":\"b\",\"effect\":\"NoSelct\"}]}}",
            "doc.spec.taints[1].effect: 'NoSelct': did you mean 'NoSelect'?");
    refused("{\"spec\":{\"taints\":[{\"effect\":\"Drain\"}]}}",
            "'Drain' is not one of NoSelect, PreferNoSelect, NoSelectIfNew");
    refused("{\"spec\":{\"taints\":[{\"effect\":\"\"}]}}", "'' is not one of");
    refused("{\"spec\":{\"taints\":[{\"timeAdded\":\"yesterday\"}]}}",
            "doc.spec.taints[0].timeAdded: 'yesterday' is not a time");
    refused("{\"status\":{\"allocatable\":{\"cpu\":\"many\"}}}", "doc.status.allocatable.cpu: ");
    refused("{\"status\":{\"capacity\":{\"memory\":\"1Gb\"}}}", "doc.status.capacity.memory: ");
    refused("{\"status\":{\"clusterClaims\":[{\"name\":\"a\",\"value\":1}]}}",
            "doc.status.clusterClaims[0].value: expected a string");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(the_whole_of_one),
        DECODING_TEST(what_is_not_there),
        DECODING_TEST(claims_are_told_from_labels),
        DECODING_TEST(what_an_api_server_refuses),
    };
    return cmocka_run_group_tests_name("managed cluster", tests, NULL, NULL);
}
