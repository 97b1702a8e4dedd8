/*
 * What policies would do in a cluster: which pods count for which workload, where they are while
 * those of another are placed, and how often each is counted.
 */
#include "whatif/policy_check.h"

#include "unit/str_contains.h"
#include "unit/whatif/files.h"

#define ZONE "topology.kubernetes.io/zone"
#define LABELLED(app)                                                                              \
    ",'labels':{'app':'" app "','pod-template-hash':'h'}" OWNED("ReplicaSet", app "-h")
#define WEB(name, node) POD(name, node, LABELLED("web"), "")
#define DB(name, node) POD(name, node, LABELLED("db"), "")
#define SHOP                                                                                       \
    "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'shop','labels':{'team':'a'}}}"
#define POLICY(name, spec)                                                                         \
    "{'apiVersion':'evenkeel.io/v1alpha1','kind':'TopologyPolicy','metadata':{'name':'" name       \
    "'},'spec':{" spec "}}"
#define SPREAD(more)                                                                               \
    "'spread':[{'topologyKey':'" ZONE "','whenUnsatisfiable':'DoNotSchedule'" more "}]"

struct fixture {
    struct arena arena;
    struct policy_check result;
    struct err err;
};

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.result = {.policy_count = 0}};
    arena_init(&f.arena, 16 << 20);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    return 0;
}

static int run(struct fixture *f, const char *state_text, const char *policies) {
    const struct file_with state_file = file_with(state_text), policy_file = file_with(policies);
    const char *const paths[] = {state_file.path}, *const policy_paths[] = {policy_file.path};
    struct configuration c;
    configuration_init(&c);
    c.state.paths = paths;
    c.state.path_count = 1;
    const int r = policy_check_run(&c, policy_paths, 1, &f->arena, &f->result, &f->err);
    c.state.paths = NULL;
    c.state.path_count = 0;
    configuration_done(&c);
    (void)unlink(state_file.path);
    (void)unlink(policy_file.path);
    return r;
}

static void run_well(struct fixture *f, const char *state_text, const char *policies) {
    if (run(f, state_text, policies) != 0)
        fail_msg("%s", f->err.text);
}

static const struct checked_workload *workload(const struct fixture *f, uint32_t i,
                                               const char *name) {
    assert_true(i < f->result.workload_count);
    assert_str(f->result.workloads[i].name, name);
    return &f->result.workloads[i];
}

/* clang-format off */
#define NODES(pods_of_each) NODE("a", "x", pods_of_each) "," NODE("b", "y", pods_of_each) "," SHOP
/* clang-format on */

/* Those that run: not the finished, nor those that are being deleted. */
static void living_pods_count(void **state) {
    /* clang-format off */
    static const char living[] =
        LIST(NODES("20") "," WEB("w1", "a") "," WEB("w2", "b") ","
             POD("w3", "a", LABELLED("web") ",'deletionTimestamp':'2026-01-02T03:04:05Z'", "") ","
             POD("w4", "a", LABELLED("web"), "},'status':{'phase':'Failed'") ","
             POD("gone", "a", LABELLED("gone") ",'deletionTimestamp':'2026-01-02T03:04:05Z'", ""));
    /* clang-format on */
    struct fixture *f = *state;
    run_well(f, living, POLICY("p", "'pods':{" SPREAD("") "}"));
    assert_int_equal(f->result.workload_count, 1);
    assert_int_equal(workload(f, 0, "web")->pods, 2);
    assert_int_equal(workload(f, 0, "web")->placed, 2);
    assert_int_equal(workload(f, 0, "web")->pending_with, 0);
    assert_str(workload(f, 0, "web")->kind, "Deployment");
    assert_str(workload(f, 0, "web")->namespace, "shop");
    assert_true(f->result.soundness == POLICY_SOUND);
}

/* Whatever parts of a policy a workload has, it is one workload of that policy. */
static void a_workload_counts_once(void **state) {
    static const char pods[] = LIST(NODES("20") "," WEB("w1", "a") "," WEB("w2", "b"));
    struct fixture *f = *state;
    run_well(f, pods, POLICY("p", "'pods':{" SPREAD("") ",'locality':{'mode':'Preferred'}}"));
    assert_int_equal(f->result.policy_count, 1);
    assert_str(workload(f, 0, "web")->spread_policy, "p");
    assert_str(workload(f, 0, "web")->locality_policy, "p");
    assert_int_equal(f->result.policies[0].workloads, 1);
    assert_int_equal(f->result.policies[0].pods, 2);
    assert_int_equal(f->result.policies[0].injected, 1);
    run_well(f, pods,
             LIST(POLICY("p", "'pods':{" SPREAD("") "}") "," POLICY(
                 "q", "'pods':{'locality':{'mode':'Preferred'}}")));
    assert_int_equal(f->result.policy_count, 2); /* one part of each */
    assert_int_equal(f->result.policies[0].workloads, 1);
    assert_int_equal(f->result.policies[1].workloads, 1);
    assert_int_equal(f->result.policies[0].injected + f->result.policies[1].injected, 1);
}

/* A workload's own pods make room for it; those of others do not, before it or behind it. */
static void pods_of_others_stay(void **state) {
    /* four places for five pods, of which one is on a node that is full */
    /* clang-format off */
    static const char full[] =
        LIST(NODES("2") "," WEB("w1", "a") "," WEB("w2", "b") "," WEB("w3", "b") ","
             DB("d1", "a") "," DB("d2", "b"));
    /* clang-format on */
    struct fixture *f = *state;
    run_well(f, full, POLICY("p", "'pods':{" SPREAD("") "}"));
    assert_int_equal(f->result.workload_count, 2);
    assert_int_equal(workload(f, 0, "db")->placed, 2);
    assert_int_equal(workload(f, 0, "db")->pending_without, 1); /* w1 to w3 leave one place */
    assert_int_equal(workload(f, 0, "db")->pending_with, 1);
    assert_int_equal(workload(f, 1, "web")->placed, 3);
    assert_int_equal(workload(f, 1, "web")->pending_without, 1);
    assert_int_equal(workload(f, 1, "web")->pending_with, 1);
    assert_false(workload(f, 1, "web")->harmed);
    assert_int_equal(f->result.policies[0].harmed, 0);
}

/* Three domains at least, and there are two: each takes one pod. */
static void whoever_would_be_pending_is_harmed(void **state) {
    static const char pods[] = LIST(NODES("20") "," WEB("w1", "a") "," WEB("w2", "b") "," WEB(
        "w3", "a") "," POD("single", "a", ",'labels':{'app':'s'}", ""));
    struct fixture *f = *state;
    run_well(f, pods,
             POLICY("p", "'match':{'objectSelector':{'matchLabels':{'app':'web'}}},'pods':{" SPREAD(
                             ",'maxSkew':1,'minDomains':3") "}"));
    assert_int_equal(f->result.others, 1);
    assert_int_equal(workload(f, 0, "web")->pending_without, 0);
    assert_int_equal(workload(f, 0, "web")->pending_with, 1);
    assert_str_contains(workload(f, 0, "web")->reason, "2 nodes: ");
    assert_true(workload(f, 0, "web")->harmed);
    assert_int_equal(f->result.policies[0].harmed, 1);
    assert_false(f->result.soundness == POLICY_SOUND);
    assert_int_equal(workload(f, 0, "web")->constraint_count, 1);
    assert_str(workload(f, 0, "web")->constraints[0].topology_key, ZONE);
}

/* The policy can do what it asks for; it is the pods that suffer. b takes one of four. */
static void harm_alone_is_not_sound(void **state) {
    /* clang-format off */
    static const char pods[] =
        LIST(NODE("a", "x", "20") "," NODE("b", "y", "1") "," SHOP ","
             WEB("w1", "a") "," WEB("w2", "a") "," WEB("w3", "a") "," WEB("w4", "a"));
    /* clang-format on */
    struct fixture *f = *state;
    run_well(f, pods, POLICY("p", "'pods':{" SPREAD("") "}"));
    assert_true(f->result.policies[0].verdict.reasons[POLICY_EFFECTIVE] == POLICY_NODES_SUIT);
    assert_int_equal(workload(f, 0, "web")->pending_without, 0);
    assert_int_equal(workload(f, 0, "web")->pending_with, 1); /* 2 and 1: one more is 3 and 1 */
    assert_int_equal(f->result.policies[0].harmed, 1);
    assert_false(f->result.soundness == POLICY_SOUND);
}

/* What only prefers keeps nobody from a node. */
static void preferences_are_not_placed(void **state) {
    static const char pods[] = LIST(NODES("20") "," WEB("w1", "a"));
    struct fixture *f = *state;
    run_well(f, pods,
             POLICY("p", "'pods':{'spread':[{'topologyKey':'" ZONE
                         "','whenUnsatisfiable':'ScheduleAnyway'}]}"));
    assert_int_equal(workload(f, 0, "web")->placed, 0);
    assert_int_equal(f->result.policies[0].softened, 0);
    assert_int_equal(f->result.policies[0].injected, 1);
}

/* The files' policies are judged, and with a name of the cluster's they take its place. */
static void the_cluster_has_policies_too(void **state) {
    static const char pods[] = LIST(NODES("20") "," WEB("w1", "a") "," POLICY(
        "mine", "'priority':5,'pods':{" SPREAD(
                    "") "}") "," POLICY("p", "'priority':9,'pods':{" SPREAD("") "}"));
    struct fixture *f = *state;
    run_well(f, pods, POLICY("p", "'priority':1,'pods':{" SPREAD("") "}"));
    assert_int_equal(f->result.policy_count, 1);
    assert_int_equal(f->result.policies[0].priority, 1);
    assert_int_equal(f->result.workload_count, 0); /* "mine" comes first */
    assert_int_equal(f->result.others, 1);
    run_well(f, pods, POLICY("p", "'priority':7,'mode':'Audit','pods':{" SPREAD("") "}"));
    assert_int_equal(f->result.workload_count, 1); /* as if it were enforced */
    assert_int_equal(f->result.policies[0].workloads, 1);
    assert_true(f->result.policies[0].mode == POLICY_AUDIT);
}

static void what_cannot_be_checked_is_refused(void **state) {
    static const struct {
        const char *state, *policies, *words;
    } cases[] = {
        {LIST(NODES("20")), LIST(""), "there is no TopologyPolicy in the files to check"},
        {LIST(SHOP), POLICY("p", "'pods':{" SPREAD("") "}"), "the cluster has no nodes"},
        {LIST(NODE("a", "x", "20") "," WEB("w1", "a")),
         POLICY("p", "'match':{'namespaceSelector':{'matchLabels':{'team':'a'}}},'pods':{" SPREAD(
                         "") "}"),
         "namespace 'shop' is not among the objects"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(run(f, cases[i].state, cases[i].policies) < 0);
        assert_contains(f->err.text, cases[i].words);
    }
    /* Placements need no nodes, but clusters */
    run_well(f, LIST(SHOP),
             POLICY("p", "'placements':{'spread':[{'topologyKey':'zone',"
                         "'topologyKeyType':'Label','maxSkew':1,"
                         "'whenUnsatisfiable':'DoNotSchedule'}]}"));
    assert_true(is_for_placements_only(&f->result.policies[0]));
    assert_true(f->result.soundness == POLICY_SOUND_UNKNOWN);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(living_pods_count),
        TEST(a_workload_counts_once),
        TEST(pods_of_others_stay),
        TEST(whoever_would_be_pending_is_harmed),
        TEST(harm_alone_is_not_sound),
        TEST(preferences_are_not_placed),
        TEST(the_cluster_has_policies_too),
        TEST(what_cannot_be_checked_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
