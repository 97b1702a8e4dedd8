/*
 * Pods that are placed one after the other: which ones have to move when nodes go, which nodes go,
 * and what is said of those that are Pending.
 */
#include "whatif/placing.h"

#include "unit/whatif/files.h"

#include <errno.h>

#define ZONE "topology.kubernetes.io/zone"
#define BY_NODE                                                                                    \
    ",'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'a','uid':'a','controller':true}" \
    "]"
#define LEAVING ",'deletionTimestamp':'2026-01-02T03:04:05Z'"
/* What runs on a: "owned" and "bare" come back elsewhere; all others do not. */
/* clang-format off */
#define STATE(pods_of_b)                                                                           \
    LIST(NODE("a", "x", "20") ","                                                                  \
         NODE("b", "y", pods_of_b) ","                                                             \
         POD("owned", "a", OWNED("ReplicaSet", "r") ",'labels':{'app':'web'}", "") ","             \
         POD("daemon", "a", OWNED("DaemonSet", "d"), "") ","                                       \
         POD("static", "a", BY_NODE, "") ","                                                       \
         POD("done", "a", OWNED("Job", "j"), "},'status':{'phase':'Succeeded'") ","                \
         POD("going", "a", OWNED("ReplicaSet", "r") LEAVING, "") ","                               \
         POD("bare", "a", "", "") ","                                                              \
         POD("elsewhere", "b", OWNED("ReplicaSet", "r"), ""))
/* clang-format on */
#define WEB                                                                                        \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'web','namespace':'shop','uid':'u','"      \
    "labels':{'app':"                                                                              \
    "'web'}},'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}],"            \
    "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'" ZONE                               \
    "','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}}]}}"

struct fixture {
    struct arena arena;
    struct placing result;
    struct err err;
};

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.result = {.count = 0}};
    arena_init(&f.arena, 16 << 20);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    return 0;
}

/* `pod` is NULL where only pods that have to move are placed. */
static int run(struct fixture *f, const char *state_text, const char *pod, uint32_t replicas,
               const char *const *without, uint32_t without_count) {
    const struct file_with state_file = file_with(state_text);
    const struct file_with pod_file = file_with(pod != NULL ? pod : "");
    const char *const paths[] = {state_file.path};
    struct configuration c;
    struct simulation_state s;
    configuration_init(&c);
    c.state.paths = paths;
    c.state.path_count = 1;
    struct document document;
    int r = simulation_read(&c, NULL, &s, &f->err);
    if (r == 0 && pod != NULL)
        r = document_read_only(pod_file.path, &pod_documents, &f->arena, &document, &f->err);
    const struct placing_question q = {.pods = {.configuration = &c,
                                                .state = &s,
                                                .pod = pod != NULL ? &document : NULL,
                                                .filters = (uint32_t)FILTERS_ALL},
                                       .replicas = replicas,
                                       .without = without,
                                       .without_count = without_count};
    if (r == 0)
        r = placing_run(&q, &f->arena, &f->result, &f->err);
    simulation_state_done(&s);
    c.state.paths = NULL;
    c.state.path_count = 0;
    configuration_done(&c);
    (void)unlink(state_file.path);
    (void)unlink(pod_file.path);
    return r;
}

static void run_well(struct fixture *f, const char *state_text, const char *pod, uint32_t replicas,
                     const char *const *without, uint32_t without_count) {
    if (run(f, state_text, pod, replicas, without, without_count) != 0)
        fail_msg("%s", f->err.text);
}

static void assert_pod(const struct fixture *f, uint32_t i, const char *name, const char *from,
                       const char *node) {
    assert_true(i < f->result.count);
    assert_str(f->result.pods[i].name, name);
    assert_str(f->result.pods[i].from, from);
    assert_str(f->result.pods[i].node, node);
    assert_int_equal(str_empty(f->result.pods[i].reason), node[0] != '\0');
}

/* ---- who moves ---- */

static void pods_of_lost_nodes_move(void **state) {
    static const char *const zone[] = {ZONE "=x"}, *const both[] = {ZONE "=x", "name=a"};
    struct fixture *f = *state;
    for (uint32_t count = 1; count <= 2; count++) { /* a is lost once, by whichever label */
        run_well(f, STATE("20"), NULL, 0, count == 1 ? zone : both, count);
        assert_int_equal(f->result.lost_nodes, 1);
        assert_int_equal(f->result.count, 2);
        assert_pod(f, 0, "owned", "a", "b");
        assert_pod(f, 1, "bare", "a", "b");
        assert_int_equal(f->result.pending, 0);
        assert_str(f->result.cause, "");
        assert_int_equal(f->result.domains.count, 1); /* all pods, by zone */
        assert_str(f->result.domains.items[0].value, "y");
        assert_int_equal(f->result.domains.items[0].before, 1);
        assert_int_equal(f->result.domains.items[0].added, 2);
    }
}

/* Two nodes of two labels, in either order. */
static void each_without_counts(void **state) {
    static const char *const orders[][2] = {{"name=a", ZONE "=y"}, {ZONE "=y", "name=a"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        run_well(f, STATE("20"), NULL, 0, orders[i], 2);
        assert_int_equal(f->result.lost_nodes, 2);
        assert_int_equal(f->result.count, 3); /* "elsewhere", too */
        assert_int_equal(f->result.pending, 3);
        assert_int_equal(f->result.domains.count, 0);
    }
}

static void without_names_nodes_that_are_there(void **state) {
    static const struct {
        const char *without[2], *words;
    } cases[] = {
        {{"name=a", "name=c"}, "--without: no node has the label 'name=c'"},
        {{"name=c", "name=a"}, "--without: no node has the label 'name=c'"},
        {{"name=a", "other=a"}, "--without: no node has the label 'other=a'"},
        {{"name=a", "name"}, "--without wants KEY=VALUE, not 'name'"},
        {{"name=a", "name="}, "--without: no node has the label 'name='"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(run(f, STATE("20"), NULL, 0, cases[i].without, 2), -EINVAL);
        assert_string_equal(f->err.text, cases[i].words);
    }
}

/* The pod that is placed anew has left its place, and each counts for the next. */
static void each_counts_for_the_next(void **state) {
    static const char *const without[] = {"name=a"};
    struct fixture *f = *state;
    run_well(f, STATE("2"), NULL, 0, without, 1);
    assert_pod(f, 0, "owned", "a", "b");
    assert_pod(f, 1, "bare", "a", "");
    assert_int_equal(f->result.pending, 1);
    assert_str(f->result.pods[1].reason, "1 node: NodeResourcesFit: Too many pods");
}

/* ---- replicas ---- */

static void replicas_are_spread(void **state) {
    struct fixture *f = *state;
    run_well(f, STATE("20"), WEB, 3, NULL, 0); /* one of the constraint's pods is on a */
    assert_int_equal(f->result.lost_nodes, 0);
    assert_pod(f, 0, "web-replica-1", "", "b");
    assert_str(f->result.pods[1].name, "web-replica-2");
    assert_str(f->result.pods[2].name, "web-replica-3");
    assert_true(f->result.constrained);
    assert_int_equal(f->result.domains.count, 2);
    assert_str(f->result.domains.items[0].value, "x");
    assert_int_equal(f->result.domains.items[0].before, 1);
    assert_int_equal(f->result.domains.items[0].added, 1);
    assert_str(f->result.domains.items[1].value, "y");
    assert_int_equal(f->result.domains.items[1].before, 0);
    assert_int_equal(f->result.domains.items[1].added, 2);
}

/* With replicas the pods that moved are what was there before. */
static void moved_pods_are_not_added(void **state) {
    static const char *const without[] = {"name=a"};
    struct fixture *f = *state;
    run_well(f, STATE("20"), WEB, 1, without, 1);
    assert_int_equal(f->result.count, 3);
    assert_pod(f, 2, "web-replica-1", "", "b");
    assert_int_equal(f->result.domains.count, 1);
    assert_int_equal(f->result.domains.items[0].before, 1);
    assert_int_equal(f->result.domains.items[0].added, 1);
}

/* ---- why ---- */

/* b takes no more pods: maxSkew 1 lets a have as many as b and one. */
static void the_cause_is_the_constraint(void **state) {
    struct fixture *f = *state;
    run_well(f, STATE("1"), WEB, 2, NULL, 0);
    assert_int_equal(f->result.pending, 2);
    assert_contains(f->result.cause.p, "maxSkew 1: allowed: y");
}

#define MOVES(name, label, key, skew)                                                              \
    POD(name, "a", OWNED("ReplicaSet", name) ",'labels':{'app':'" label "'}",                      \
        ",'topologySpreadConstraints':[{'maxSkew':" skew ",'topologyKey':'" key                    \
        "','whenUnsatisfiable':'DoNotSchedule','minDomains':9,'labelSelector':{'matchLabels':{"    \
        "'app':'" label "'}}}]")

/* A replica that would be the second of its kind on b. */
#define BY_NAME                                                                                    \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'r','namespace':'shop','labels':{'app':"   \
    "'s'}},'spec':{'containers':[{'name':'c'}],'topologySpreadConstraints':[{'maxSkew':1,"         \
    "'topologyKey':'name','whenUnsatisfiable':'DoNotSchedule','minDomains':9,'labelSelector':{"    \
    "'matchLabels':{'app':'s'}}}]}}"

/* Of several pods that cannot be placed the first one's cause is told; where no constraint is in
 * its way, that of the first replica. */
static void the_first_cause_is_told(void **state) {
    static const char *const without[] = {"name=a"};
    /* clang-format off */
    /* each would be the second in b's domain, of nine at least with none */
    static const char two_of[] =
        LIST(NODE("a", "x", "20") "," NODE("b", "y", "20") ","
             POD("f", "b", ",'labels':{'app':'f'}", "") ","
             POD("s", "b", ",'labels':{'app':'s'}", "") ","
             MOVES("first", "f", ZONE, "1") "," MOVES("second", "s", "name", "1"));
    static const char second_of[] =
        LIST(NODE("a", "x", "20") "," NODE("b", "y", "20") ","
             POD("f", "b", ",'labels':{'app':'f'}", "") ","
             POD("s", "b", ",'labels':{'app':'s'}", "") ","
             POD("nowhere", "a", OWNED("ReplicaSet", "r"), ",'nodeSelector':{'name':'a'}") ","
             MOVES("second", "f", ZONE, "1"));
    static const char nowhere[] =
        LIST(NODE("a", "x", "20") "," NODE("b", "y", "20") "," NODE("c", "z", "0") ","
             POD("first", "a", OWNED("ReplicaSet", "r"), ",'nodeSelector':{'name':'a'}") ","
             POD("w", "b", ",'labels':{'app':'web'}", ""));
    /* clang-format on */
    struct fixture *f = *state;
    run_well(f, two_of, NULL, 0, without, 1);
    assert_int_equal(f->result.pending, 2);
    assert_contains(f->result.cause.p, "the constraint on " ZONE);
    run_well(f, two_of, BY_NAME, 1, without, 1); /* its own cause is another one */
    assert_int_equal(f->result.pending, 3);
    assert_contains(f->result.cause.p, "the constraint on " ZONE);
    run_well(f, second_of, NULL, 0, without, 1); /* the first one's: no constraint */
    assert_int_equal(f->result.pending, 2);
    assert_str(f->result.cause, "");
    run_well(f, second_of, BY_NAME, 1, without, 1);
    assert_int_equal(f->result.pending, 3);
    assert_contains(f->result.cause.p, "the constraint on name");
    run_well(f, nowhere, WEB, 2, without, 1);
    assert_int_equal(f->result.pending, 3);
    assert_contains(f->result.cause.p, "the constraint on " ZONE);
    assert_contains(f->result.cause.p, "allowed: z");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(pods_of_lost_nodes_move),
        TEST(each_without_counts),
        TEST(without_names_nodes_that_are_there),
        TEST(each_counts_for_the_next),
        TEST(replicas_are_spread),
        TEST(moved_pods_are_not_added),
        TEST(the_cause_is_the_constraint),
        TEST(the_first_cause_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
