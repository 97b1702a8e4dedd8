/* What a state has, from a List and from files, and which ones are refused. */
#include "clusters/state.h"

#include "base/file.h"
#include "fleet/karmada.h"
#include "unit/clusters/state.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define HUB_CLUSTER                                                                                \
    "{'apiVersion':'cluster.open-cluster-management.io/v1','kind':'ManagedCluster','metadata':{"   \
    "'name':'a'}}"
#define KARMADA_CLUSTER                                                                            \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'m'}}"
#define POLICY(name, key)                                                                          \
    "{'apiVersion':'evenkeel.io/v1alpha1','kind':'TopologyPolicy','metadata':{'name':'" name       \
    "'},'spec':{'placements':{'spread':[{'topologyKey':" key ",'topologyKeyType':'Label',"         \
    "'maxSkew':1,'whenUnsatisfiable':'DoNotSchedule'}]}}}"
#define OTHER "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'}}"
#define LIST(items) "{'apiVersion':'v1','kind':'List','items':[" items "]}"

/* Clusters of each kind, and policies. */
static void assert_has(const struct clusters_state *s, uint32_t hub, uint32_t karmada,
                       uint32_t policies) {
    struct fleet_view fleet;
    struct karmada_view members;
    uint32_t count = 0, found = 0;
    fleet_view_open(s->fleet, &fleet);
    found = topology_find(&fleet.clusters, STR("a")) != TOPOLOGY_NONE;
    fleet_view_close(&fleet);
    assert_int_equal(found, hub);
    karmada_view_open(s->karmada, &members);
    found = topology_find(&members.clusters, STR("m")) != TOPOLOGY_NONE;
    karmada_view_close(&members);
    assert_int_equal(found, karmada);
    struct policies *held = policies_hold(s->policies);
    (void)policies_items(held, &count);
    policies_release(held);
    assert_int_equal(count, policies);
}

static void a_list_has_objects_of_every_kind(void **state) {
    static const struct {
        const char *list;
        uint32_t hub, karmada, policies;
    } cases[] = {
        {LIST(""), 0, 0, 0},
        {LIST(OTHER), 0, 0, 0},
        {LIST(HUB_CLUSTER), 1, 0, 0},
        {LIST(KARMADA_CLUSTER), 0, 1, 0},
        {LIST(POLICY("p", "'zone'")), 0, 0, 1},
        {LIST(HUB_CLUSTER "," OTHER ", " KARMADA_CLUSTER
                          "," POLICY("p", "'zone'") ",\n" POLICY("q", "'zone'")),
         1, 1, 2},
        {HUB_CLUSTER, 1, 0, 0}, /* one object alone */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clusters_state s;
        read_state(cases[i].list, &s);
        assert_has(&s, cases[i].hub, cases[i].karmada, cases[i].policies);
        clusters_state_done(&s);
    }
}

/* What an API server would have refused is refused here, too. */
static void a_bad_list_is_refused(void **state) {
    static const struct {
        const char *list, *words;
    } cases[] = {
        {LIST(POLICY("p", "5")), "topologyKey"},
        {LIST(HUB_CLUSTER "," POLICY("p", "5") "," HUB_CLUSTER), "items[1]"},
        {LIST("{'apiVersion':'cluster.open-cluster-management.io/v1','kind':'ManagedCluster',"
              "'metadata':{'name':5}}"),
         "name"},
        {LIST("{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':"
              "'m'},'spec':{'zones':5}}"),
         "zones"},
        {LIST("[}"), "items[0]"},
        {"{'apiVersion':'v1','kind':'List','items':5}", "items"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clusters_state s;
        struct err err = {0};
        char *text = with_quotes(cases[i].list);
        assert_true(clusters_state_read(str_of(text), &s, &err) < 0);
        assert_memory_equal(err.text, "state: ", strlen("state: "));
        assert_contains(err.text, cases[i].words);
        clusters_state_done(&s);
        free(text);
    }
}

static void put(char ret_path[static 64], const char *text) {
    struct err err;
    char *bytes = with_quotes(text);
    (void)snprintf(ret_path, 64, "/tmp/evenkeel-test-%d-%zu.json", (int)getpid(), strlen(text));
    assert_int_equal(file_write_atomic(ret_path, str_of(bytes), 0600, &err), 0);
    free(bytes);
}

/* Policies come from files of their own, and from among the objects. */
static void files_are_read_as_a_list_is(void **state) {
    char objects[64], policies[64], bad[64];
    struct clusters_state s;
    struct err err = {0};
    (void)state;
    put(objects, LIST(HUB_CLUSTER "," KARMADA_CLUSTER "," POLICY("p", "'zone'")));
    put(policies, POLICY("in-a-file", "'zone'"));
    put(bad, LIST(HUB_CLUSTER "," POLICY("bad", "[]")));
    const char *const object_paths[] = {objects}, *const policy_paths[] = {policies},
                      *const bad_paths[] = {objects, bad};
    assert_int_equal(clusters_state_load(object_paths, 1, policy_paths, 1, &s, &err), 0);
    assert_has(&s, 1, 1, 2);
    clusters_state_done(&s);
    assert_int_equal(clusters_state_load(object_paths, 1, NULL, 0, &s, &err), 0);
    assert_has(&s, 1, 1, 1);
    clusters_state_done(&s);
    assert_int_equal(clusters_state_load(NULL, 0, policy_paths, 1, &s, &err), 0);
    assert_has(&s, 0, 0, 1);
    clusters_state_done(&s);
    assert_int_equal(clusters_state_load(bad_paths, 2, NULL, 0, &s, &err), -EINVAL);
    assert_contains(err.text, bad);
    clusters_state_done(&s);
    assert_true(clusters_state_load(object_paths, 1, bad_paths, 2, &s, &err) < 0);
    clusters_state_done(&s);
    (void)unlink(objects);
    (void)unlink(policies);
    (void)unlink(bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_objects_of_every_kind),
        cmocka_unit_test(a_bad_list_is_refused),
        cmocka_unit_test(files_are_read_as_a_list_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
