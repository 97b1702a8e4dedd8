/* A fleet from files and from a watch of a fake API server, and its views. */
#include "fleet/fleet.h"

#include "base/file.h"
#include "base/metrics.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"
#include "unit/kube/watch/stream.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

#define GROUP "apiVersion: cluster.open-cluster-management.io/"

/* The known clusters with their region, in the order of slots. */
static void has(struct fleet *f, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct fleet_view v;
    fleet_view_open(f, &v);
    const struct topology *t = v.clusters.topology;
    for (uint32_t slot = 0; slot < topology_slots(t); slot++) {
        struct str region = STR("-");
        if (!topology_is_known(t, slot))
            continue;
        (void)topology_label(t, slot, STR("region"), &region); /* or "-" */
        strbuf_appendf(&got, "%s%.*s=%.*s", got.n > 0 ? " " : "", STR_ARG(topology_name(t, slot)),
                       STR_ARG(region));
    }
    fleet_view_close(&v);
    assert_str(strbuf_str(&got), wanted);
}

/* ---- files ---- */

static char path[] = "/tmp/evenkeel-fleet-XXXXXX.yaml";

static void load(struct fleet *f, const char *text, const char *wrong) {
    struct err err = {0};
    const char *paths[] = {path};
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    int r = informer_load(fleet_informer(f), paths, 1, &err);
    if (wrong == NULL && r != 0)
        fail_msg("%s", err.text);
    if (wrong != NULL) {
        assert_int_not_equal(r, 0);
        assert_contains(err.text, wrong);
    }
}

static struct fleet *open_fleet(void) {
    struct fleet *f = NULL;
    assert_int_equal(fleet_new(&f, NULL), 0);
    return f;
}

static const char whole[] = GROUP
    "v1\nkind: ManagedCluster\nmetadata: {name: a, labels: {region: eu}}\n---\n" GROUP
    "v1beta2\nkind: ManagedClusterSet\nmetadata: {name: s}\n---\n" GROUP
    "v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: t, namespace: ns}\n---\n" GROUP
    "v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: s, namespace: ns}\n---\n" GROUP
    "v1beta1\nkind: Placement\nmetadata: {name: p, namespace: ns}\nspec: {numberOfClusters: 1}\n"
    "---\n" GROUP "v1beta1\nkind: PlacementDecision\nmetadata:\n  name: d\n  namespace: ns\n"
    "  labels: {cluster.open-cluster-management.io/placement: p}\n"
    "status: {decisions: [{clusterName: a, reason: ''}, {clusterName: gone, reason: "
    "''}]}\n---\n" GROUP "v1alpha1\nkind: AddOnPlacementScore\nmetadata: {name: r, namespace: a}\n"
    "status: {scores: [{name: x, value: -5}]}\n---\n"
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns, labels: {team: t}}\n---\n"
    "apiVersion: other.io/v1\nkind: Placement\nmetadata: 7\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n";

static void all_kinds_from_files(void **state) {
    struct fleet *f = open_fleet();
    struct fleet_view v;
    struct label_set_ref labels;
    uint32_t count;
    (void)state;
    load(f, whole, NULL);
    has(f, "a=eu");
    fleet_view_open(f, &v);
    const uint32_t slot = topology_find(&v.clusters, STR("a"));
    assert_non_null(fleet_set_find(&v, STR("s")));
    const struct str *bound = fleet_bindings(&v, STR("ns"), &count);
    assert_int_equal(count, 2);
    assert_str(bound[0], "s");
    assert_str(bound[1], "t");
    assert_true(fleet_placement_json(&v, STR("ns"), STR("p")).n > 0);
    const struct fleet_decision *d = fleet_decisions(&v, STR("ns"), STR("p"));
    assert_int_equal(d->slot_count, 1);
    assert_int_equal(d->stranger_count, 1);
    assert_int_equal(d->slots[0], slot);
    assert_null(d->next);
    assert_int_equal(fleet_strangers(&v, &count)[d->strangers[0].id], 1);
    assert_str(d->strangers[0].name, "gone");
    assert_int_equal(
        fleet_score_of(fleet_scores_find(&v, STR("r")), slot, fleet_score_name(&v, STR("x"))).value,
        -5);
    assert_true(fleet_namespace(&v, STR("ns"), &labels));
    fleet_view_close(&v);
    const struct fleet_stats stats = fleet_stats(f);
    assert_int_equal(stats.clusters + stats.sets + stats.placements + stats.decisions, 4);
    assert_int_equal(stats.bindings, 2);
    assert_int_equal(stats.scores + stats.namespaces, 2);
    fleet_free(f);
}

static void files_say_all_there_is(void **state) {
    struct fleet *f = open_fleet();
    (void)state;
    has(f, "");
    load(f, whole, NULL);
    load(f, GROUP "v1\nkind: ManagedCluster\nmetadata: {name: b, labels: {region: us}}\n", NULL);
    has(f, "b=us");
    assert_int_equal(fleet_stats(f).records, 0);
    load(f, "{\"kind\":\"List\",\"items\":[]}", NULL);
    has(f, "");
    fleet_free(f);
}

static void nothing_of_a_bad_file(void **state) {
    struct fleet *f = open_fleet();
    (void)state;
    load(f, whole, NULL);
    load(f,
         GROUP "v1\nkind: ManagedCluster\nmetadata: {name: b}\n---\n"
               "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"
               "metadata: {name: p}\nspec:\n  spreadPolicy:\n    spreadConstraints:\n"
               "    - {topologyKey: zone, topologyKeyType: Lable}\n",
         "spec.spreadPolicy.spreadConstraints[0].topologyKeyType: 'Lable': did you mean 'Label'?");
    has(f, "a=eu");
    load(f, GROUP "v1\nkind: ManagedCluster\nmetadata: {labels: {}}\n", "no metadata.name");
    load(f,
         "{\"apiVersion\":\"cluster.open-cluster-management.io/v1\",\"kind\":\"ManagedCluster\","
         "\"metadata\":{\"name\":7}}",
         "metadata.name: expected a string, found a number, at byte 97");
    load(f, GROUP "v1beta1\nkind: Placement\nmetadata: {name: p}\nspec: {numberOfClusters: -1}\n",
         path);
    has(f, "a=eu");
    assert_int_equal(fleet_stats(f).placements, 1);
    fleet_free(f);
}

/* ---- views ---- */

/* A column that one view has built is there for the next, unless the files were read again. */
static void what_a_view_builds_is_kept(void **state) {
    struct fleet *f = open_fleet();
    struct fleet_view v;
    struct topology_column column;
    (void)state;
    load(f, whole, NULL);
    fleet_view_open(f, &v);
    assert_int_equal(topology_column(&v.clusters, STR("region"), &column), 0);
    assert_int_equal(v.clusters.built, 1);
    fleet_view_close(&v);
    fleet_view_open(f, &v);
    assert_int_equal(topology_column(&v.clusters, STR("region"), &column), 0);
    assert_int_equal(v.clusters.built, 0);
    fleet_view_close(&v);
    load(f, whole, NULL);
    fleet_view_open(f, &v);
    assert_int_equal(topology_column(&v.clusters, STR("region"), &column), 0);
    assert_int_equal(v.clusters.built, 1);
    fleet_view_close(&v);
    fleet_free(f);
}

/* ---- a watch ---- */

#define PATH "/apis/cluster.open-cluster-management.io/v1/managedclusters?*"
#define CLUSTER(name, version, region)                                                             \
    "{\"apiVersion\":\"cluster.open-cluster-management.io/v1\",\"kind\":\"ManagedCluster\","       \
    "\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version                           \
    "\",\"labels\":{\"region\":\"" region "\"}},\"spec\":{\"hubAcceptsClient\":true}}"
#define BAD                                                                                        \
    "{\"metadata\":{\"name\":\"bad\",\"resourceVersion\":\"9\"},\"spec\":{\"taints\":[{"           \
    "\"effect\":\"NoSchedule\"}]}}"

/* Only clusters are watched; one that cannot be read costs nothing but itself. */
static void a_watch_of_clusters(void **state) {
    struct api api;
    struct api_call call = {0};
    struct kube_client *client = NULL;
    struct fleet *f = open_fleet();
    (void)state;
    api_init(&api);
    const struct kube_access access = {.server = api.url, .source = "the test"};
    const char metric[] = "evenkeel_candidates{resource=\"managedclusters\"}";
    assert_int_equal(kube_client_new(&access, NULL, &client, NULL), 0);
    const struct informer_watch watch = {.client = client, .seed = 1, .without = FLEET_NOT_WATCHED};
    assert_int_equal(informer_watch(fleet_informer(f), &watch, NULL), 0);
    assert_false(informer_synced(fleet_informer(f)));
    api_expect(&api, &call, "GET", PATH);
    assert_true(api_say(&call, STREAM EVENT("ADDED", CLUSTER("a", "1", "eu")) EVENT("ADDED", BAD)
                                   EVENT("ADDED", CLUSTER("b", "2", "us")) MARKER("3")));
    assert_true(informer_wait(fleet_informer(f), 5000));
    has(f, "a=eu b=us");
    metric_becomes(metric, 2);
    assert_true(api_say(&call, EVENT("MODIFIED", CLUSTER("b", "4", "af"))
                                   EVENT("DELETED", CLUSTER("a", "5", "eu"))));
    metric_becomes(metric, 1); /* the last event */
    has(f, "b=af");
    informer_stop(fleet_informer(f));
    kube_client_free(client);
    fleet_free(f);
    api_call_done(&call);
    api_done(&api);
    metrics_reset();
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
        cmocka_unit_test(all_kinds_from_files),  cmocka_unit_test(files_say_all_there_is),
        cmocka_unit_test(nothing_of_a_bad_file), cmocka_unit_test(what_a_view_builds_is_kept),
        cmocka_unit_test(a_watch_of_clusters),
    };
    return cmocka_run_group_tests_name("fleet", tests, setup, teardown);
}
