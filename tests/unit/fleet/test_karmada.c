/* Karmada's clusters, from files. */
#include "fleet/karmada.h"

#include "base/file.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

#define CLUSTER "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"

static char path[] = "/tmp/evenkeel-karmada-XXXXXX.yaml";

static void load(struct informer *i, const char *text, const char *wrong) {
    const char *paths[] = {path};
    struct err err = {0};
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    int r = informer_load(i, paths, 1, &err);
    if (wrong == NULL && r != 0)
        fail_msg("%s", err.text);
    if (wrong != NULL) {
        assert_int_not_equal(r, 0);
        assert_contains(err.text, wrong);
    }
}

static void from_files(void **state) {
    struct informer *i = NULL;
    struct karmada_view v;
    struct topology_column column;
    (void)state;
    assert_int_equal(informer_new(&karmada_store, NULL, &i, NULL), 0);
    load(i,
         CLUSTER "metadata: {name: m1, labels: {team: a}}\n"
                 "spec: {provider: P1, region: R1, zones: [Z2, Z1], taints: [{key: k, effect: "
                 "NoExecute}]}\n"
                 "status: {resourceSummary: {allocatable: {cpu: '8', memory: 1Gi}, allocated: "
                 "{cpu: 500m}}}\n---\n" CLUSTER "metadata: {name: m2}\n---\n"
                 "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: no}\n",
         NULL);
    karmada_view_open(i, &v);
    assert_int_equal(topology_stats(v.clusters.topology).candidates, 2);
    const uint32_t slot = topology_find(&v.clusters, STR("m1"));
    const struct karmada_cluster *m = karmada_member(&v, slot);
    assert_int_equal(m->zone_count, 2);
    assert_str(m->zones[0], "Z2");
    assert_str(m->zones[1], "Z1");
    assert_int_equal(m->resource_count, 2);
    assert_str(m->resources[0].name, "cpu");
    assert_true(m->resources[0].nano[KARMADA_ALLOCATABLE] == 8000000000);
    assert_true(m->resources[0].nano[KARMADA_ALLOCATED] == 500000000);
    assert_str(m->resources[1].name, "memory");
    assert_int_equal(topology_column(&v.clusters, STR(FIELD_PREFIX "region"), &column), 0);
    assert_str(topology_value(&v.clusters, &column, column.domain_of[slot]), "R1");
    const struct karmada_cluster *none = karmada_member(&v, topology_find(&v.clusters, STR("m2")));
    assert_int_equal(none->zone_count + none->resource_count, 0);
    karmada_view_close(&v);
    karmada_view_open(i, &v);
    assert_int_equal(topology_column(&v.clusters, STR(FIELD_PREFIX "region"), &column), 0);
    assert_int_equal(v.clusters.built, 0); /* kept */
    karmada_view_close(&v);
    load(i, CLUSTER "metadata: {name: m3}\nspec: {zones: 7}\n", "spec.zones: expected an array");
    karmada_view_open(i, &v);
    assert_int_not_equal(topology_find(&v.clusters, STR("m1")), TOPOLOGY_NONE);
    karmada_view_close(&v);
    load(i, CLUSTER "metadata: {name: m3}\n", NULL);
    karmada_view_open(i, &v);
    assert_int_equal(topology_find(&v.clusters, STR("m1")), TOPOLOGY_NONE);
    const struct karmada_cluster *const *all;
    uint32_t count;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 1u << 20);
    assert_int_equal(karmada_view_clusters(&v, &arena, &all, &count), 0);
    assert_int_equal(count, 1);
    assert_str(all[0]->meta.name, "m3");
    karmada_view_close(&v);
    informer_free(i);
}

/* Objects that change and go, as a watch says it; the metric counts them. */
static void one_by_one(void **state) {
    const struct informer_kind *row = &karmada_store.kinds[0];
    struct karmada_cluster cluster = {.meta = {.name = STR("m")},
                                      .zones = (const struct str[]){STR("a"), STR("b")},
                                      .zone_count = 2};
    const struct informer_object object = {.meta = cluster.meta, .decoded = &cluster};
    void *contents = NULL;
    (void)state;
    assert_int_equal(karmada_store.open(&contents, NULL), 0);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    assert_int_equal(row->apply(contents, &object, NULL), 0);
    cluster.zone_count = 1;
    assert_int_equal(row->apply(contents, &object, NULL), 0);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS);
    assert_int_equal(row->count(contents), 1);
    assert_int_equal(row->remove(contents, &object, NULL), 0);
    assert_int_equal(row->remove(contents, &object, NULL), 0);
    assert_int_equal(row->count(contents), 0);
    assert_int_equal(row->apply(contents, &object, NULL), 0);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS); /* not listed: gone */
    assert_int_equal(row->count(contents), 0);
    karmada_store.close(contents);
    karmada_store.close(NULL);
}

static void give(void *contents, struct str name, uint32_t zones) {
    struct karmada_cluster cluster = {.meta = {.name = name},
                                      .zones = (const struct str[]){STR("a"), STR("b")},
                                      .zone_count = zones};
    const struct informer_object object = {.meta = cluster.meta, .decoded = &cluster};
    assert_int_equal(karmada_store.kinds[0].apply(contents, &object, NULL), 0);
}

/* What was known before a listing without end stays, and nothing else. */
static void a_listing_without_end(void **state) {
    void *contents = NULL;
    (void)state;
    assert_int_equal(karmada_store.open(&contents, NULL), 0);
    assert_int_equal(karmada_store.kept_bytes(contents), 0);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    give(contents, STR("m"), 1);
    give(contents, STR("gone"), 1);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    give(contents, STR("m"), 1);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS);
    const uint64_t before = karmada_store.kept_bytes(contents);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    give(contents, STR("new"), 2); /* in the slot of the one that is gone */
    give(contents, STR("m"), 2);
    assert_int_equal(karmada_store.kinds[0].count(contents), 2);
    assert_true(karmada_store.kept_bytes(contents) > before + 2 * sizeof(struct str));
    informer_list(&karmada_store, contents, 0, LISTING_FAILS);
    assert_int_equal(karmada_store.kinds[0].count(contents), 1);
    give(contents, STR("m"), 1);
    assert_int_equal(karmada_store.kept_bytes(contents), before);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS);
    assert_int_equal(karmada_store.kinds[0].count(contents), 0);
    karmada_store.close(contents);
}

/* All that a listing does not show is gone at its end, and all that one without end has brought. */
static void a_listing_takes_all_that_it_should(void **state) {
    void *contents = NULL;
    (void)state;
    assert_int_equal(karmada_store.open(&contents, NULL), 0);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    give(contents, STR("a"), 1);
    give(contents, STR("b"), 1);
    give(contents, STR("c"), 1);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS);
    assert_int_equal(karmada_store.kinds[0].count(contents), 3);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    give(contents, STR("b"), 1);
    informer_list(&karmada_store, contents, 0, LISTING_ENDS);
    assert_int_equal(karmada_store.kinds[0].count(contents), 1);
    informer_list(&karmada_store, contents, 0, LISTING_BEGINS);
    give(contents, STR("d"), 1);
    give(contents, STR("e"), 1);
    give(contents, STR("f"), 1);
    informer_list(&karmada_store, contents, 0, LISTING_FAILS);
    assert_int_equal(karmada_store.kinds[0].count(contents), 1);
    karmada_store.close(contents);
}

static int setup(void **state) {
    (void)state;
    assert_return_code(mkstemps(path, 5), 0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_files),
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(a_listing_without_end),
        cmocka_unit_test(a_listing_takes_all_that_it_should),
    };
    return cmocka_run_group_tests_name("Karmada's clusters", tests, setup, teardown);
}
