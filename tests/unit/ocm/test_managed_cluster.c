/* ManagedClusters as candidates. Fields and their meaning: upstream, cluster/v1
 * types_managedcluster.go, and the claims' map of placement's predicates, where the last of equal
 * names counts. */
#include "ocm/managed_cluster.h"

#include "candidates/kinds.h"
#include "unit/unit.h"

static struct arena arena;

static struct candidate decode(const char *json) {
    struct candidate c;
    struct json_reader r;
    struct err err;
    arena_reset(&arena);
    json_reader_init(&r, str_of(json), &arena, "ManagedCluster");
    managed_cluster_decode(&r, &c);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
    return c;
}

static void labels_are(const struct candidate *c, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t i = 0; i < c->labels.count; i++)
        strbuf_appendf(&got, "%s%.*s=%.*s", i > 0 ? " " : "", STR_ARG(c->labels.items[i].key),
                       STR_ARG(c->labels.items[i].value));
    assert_str(strbuf_str(&got), wanted);
}

static void the_whole_of_one(void **state) {
    (void)state;
    struct candidate c = decode(
        "{\"apiVersion\":\"cluster.open-cluster-management.io/v1\",\"kind\":\"ManagedCluster\","
        "\"metadata\":{\"name\":\"paris\",\"labels\":{\"region\":\"eu\",\"cloud\":\"Amazon\"}},"
        "\"spec\":{\"hubAcceptsClient\":true,\"leaseDurationSeconds\":60,\"taints\":["
        "{\"key\":\"cluster.open-cluster-management.io/unreachable\",\"effect\":\"NoSelect\","
        "\"timeAdded\":\"2026-11-01T10:00:00Z\"},"
        "{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"PreferNoSelect\"}]},"
        "\"status\":{\"capacity\":{\"cpu\":\"8\"},\"version\":{\"kubernetes\":\"v1.30.0\"},"
        "\"clusterClaims\":[{\"name\":\"id.k8s.io\",\"value\":\"7\"},"
        "{\"name\":\"zone\",\"value\":\"eu-1\"}]}}");
    assert_str(c.name, "paris");
    labels_are(&c, "claim:id.k8s.io=7 claim:zone=eu-1 cloud=Amazon region=eu");
    assert_int_equal(c.taint_count, 2);
    assert_str(c.taints[0].key, "cluster.open-cluster-management.io/unreachable");
    assert_str(c.taints[0].effect, "NoSelect");
    assert_str(c.taints[1].value, "yes");
}

static void claims_are_told_from_labels(void **state) {
    (void)state;
    struct candidate c =
        decode("{\"status\":{\"clusterClaims\":[{\"name\":\"b\",\"value\":\"1\"},"
               "{\"name\":\"a\",\"value\":\"2\"},{\"name\":\"b\",\"value\":\"3\"}]},"
               "\"metadata\":{\"name\":\"c\",\"labels\":{\"a\":\"label\",\"z\":\"label\"}}}");
    labels_are(&c, "a=label claim:a=2 claim:b=3 z=label");
    assert_false(label_key_valid(STR(CLAIM_PREFIX "a"))); /* no label can take its place */
    c = decode("{\"metadata\":{\"name\":\"c\"}}");
    labels_are(&c, "");
    assert_int_equal(c.taint_count, 0);
    c = decode("{\"metadata\":{\"name\":\"c\"},\"spec\":null,\"status\":{\"clusterClaims\":null}}");
    labels_are(&c, "");
}

static void its_row_is_there(void **state) {
    (void)state;
    const struct candidate_kind *row = &candidate_kinds[CANDIDATE_MANAGED_CLUSTERS];
    assert_ptr_equal(watched_kind_find(object_type_of(STR("cluster.open-cluster-management.io/v1"),
                                                      STR("ManagedCluster"))),
                     &watched_kinds[row->row]);
    assert_false(row->cached);
}

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_of_one),
        cmocka_unit_test(claims_are_told_from_labels),
        cmocka_unit_test(its_row_is_there),
    };
    return cmocka_run_group_tests_name("managed cluster", tests, setup, teardown);
}
