/* Lists of candidates: nodes and clusters, from files. (From a watch: the informer's tests, and
 * those of the fleet.) */
#include "candidates/list.h"

#include "base/file.h"
#include "fleet/fleet.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/evenkeel-list-XXXXXX.yaml";
static struct arena arena;

static void load(struct candidate_list *l, const char *text, const char *wrong) {
    const char *paths[] = {path};
    struct err err = {0};
    assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
    int r = candidate_list_load(l, paths, 1, &err);
    if (wrong == NULL && r != 0)
        fail_msg("%s", err.text);
    if (wrong != NULL) {
        assert_int_not_equal(r, 0);
        assert_contains(err.text, wrong);
    }
}

/* "NAME KEY=VALUE,... TAINT ...; ..." */
static void has(const struct candidate_list *l, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    struct listed_candidate *items;
    uint32_t count;
    arena_reset(&arena);
    assert_int_equal(candidate_list_describe(l, &arena, &items, &count), 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *c = &items[i].candidate;
        strbuf_appendf(&got, "%s%.*s", i > 0 ? "; " : "", STR_ARG(c->name));
        for (uint32_t k = 0; k < c->labels.count; k++)
            strbuf_appendf(&got, "%s%.*s=%.*s", k > 0 ? "," : " ", STR_ARG(c->labels.items[k].key),
                           STR_ARG(c->labels.items[k].value));
        for (uint32_t k = 0; k < c->taint_count; k++)
            strbuf_appendf(&got, " %.*s=%.*s:%.*s", STR_ARG(c->taints[k].key),
                           STR_ARG(c->taints[k].value), STR_ARG(c->taints[k].effect));
    }
    assert_str(strbuf_str(&got), wanted);
}

static struct candidate_list *open_list(enum candidate_row row) {
    struct candidate_list *l = NULL;
    assert_int_equal(candidate_list_new(&candidate_kinds[row], &l, NULL), 0);
    return l;
}

#define MANAGED "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"

static void nodes(void **state) {
    struct candidate_list *l = open_list(CANDIDATE_NODES);
    uint64_t without;
    (void)state;
    (void)candidate_list_informer(l, &without);
    assert_int_equal(without, 0);
    has(l, "");
    load(l,
         "kind: Node\nmetadata: {name: b, labels: {z: '1', a: x}}\n"
         "spec: {taints: [{key: k, value: v, effect: NoSchedule}, {key: l, effect: NoExecute}]}\n"
         "---\nkind: Node\nmetadata: {name: a}\n---\n" MANAGED "metadata: {name: c}\n"
         "---\napiVersion: other.io/v1\nkind: Node\nmetadata: {name: no}\n",
         NULL);
    has(l, "a; b a=x,z=1 k=v:NoSchedule l=:NoExecute");
    load(l, "kind: Node\nmetadata: {name: d}\n---\nkind: Node\nmetadata: 7\n", path);
    has(l, "a; b a=x,z=1 k=v:NoSchedule l=:NoExecute"); /* nothing of a bad file */
    candidate_list_free(l);
}

static void clusters(void **state) {
    struct candidate_list *l = open_list(CANDIDATE_CLUSTERS);
    uint64_t without;
    (void)state;
    (void)candidate_list_informer(l, &without);
    assert_false(without >> FLEET_CLUSTERS & 1);
    assert_true(without >> FLEET_PLACEMENTS & 1);
    load(l,
         MANAGED "metadata: {name: b, labels: {region: eu}}\n"
                 "spec: {taints: [{key: k, value: v, effect: NoSelect}]}\n"
                 "status: {clusterClaims: [{name: zone, value: z}]}\n---\n" MANAGED
                 "metadata: {name: a}\n---\nkind: Node\nmetadata: {name: n}\n",
         NULL);
    has(l, "a; b claim:zone=z,region=eu k=v:NoSelect");
    candidate_list_free(l);
}

/* Of one name, Open Cluster Management's comes first. */
static void clusters_of_karmada(void **state) {
    struct candidate_list *l = open_list(CANDIDATE_CLUSTERS);
    struct listed_candidate *items;
    uint32_t count;
    (void)state;
    load(l,
         "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: b}\n"
         "spec: {region: r, taints: [{key: k, effect: NoExecute}]}\n---\n" MANAGED
         "metadata: {name: b}\n---\n" MANAGED "metadata: {name: c}\n",
         NULL);
    has(l, "b; b spec:region=r k=:NoExecute; c");
    assert_int_equal(candidate_list_describe(l, &arena, &items, &count), 0);
    assert_int_equal(items[0].kind, KIND_MANAGED_CLUSTER);
    assert_int_equal(items[1].kind, KIND_KARMADA_CLUSTER);
    load(l, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: 7}\n", path);
    has(l, "b; b spec:region=r k=:NoExecute; c");
    candidate_list_free(l);
}

/* What a decision names is not known by that. */
static void only_what_is_known(void **state) {
    struct candidate_list *l = open_list(CANDIDATE_CLUSTERS);
    (void)state;
    load(l,
         MANAGED "metadata: {name: a}\n---\n"
                 "apiVersion: cluster.open-cluster-management.io/v1beta1\n"
                 "kind: PlacementDecision\nmetadata: {name: d}\n"
                 "status: {decisions: [{clusterName: gone}]}\n",
         NULL);
    has(l, "a");
    candidate_list_free(l);
    candidate_list_free(NULL);
}

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    assert_return_code(mkstemps(path, 5), 0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes),
        cmocka_unit_test(clusters),
        cmocka_unit_test(clusters_of_karmada),
        cmocka_unit_test(only_what_is_known),
    };
    return cmocka_run_group_tests_name("lists of candidates", tests, setup, teardown);
}
