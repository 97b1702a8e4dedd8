/* What the nodes and pods of state files leave for a binding, as Karmada's estimator counts it. */
#include "whatif/member_nodes.h"

#include "unit/whatif/files.h"

#include <errno.h>

#define BY(group, kind, object)                                                                    \
    "{'apiVersion':'" group "','kind':'" kind "','metadata':{'name':'" object                      \
    "'},'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':'20'}}}"

#define REQUEST "'resourceRequest':{'cpu':'2'}"

/* Replicas with such requirements; -errno where the files cannot be read. */
static int64_t replicas_with(const char *state_text, const char *requirements, struct err *err) {
    const struct file_with state_file = file_with(state_text);
    const char *const paths[] = {state_file.path};
    struct binding binding;
    struct configuration c;
    struct json_reader r;
    struct arena arena;
    int64_t replicas = 0;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
                   "'name':'b'},'spec':{'resource':{'apiVersion':'apps/v1','kind':'Deployment',"
                   "'name':'w'},'replicas':1,'replicaRequirements':{%s}}}",
                   requirements); /* fits */
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    arena_init(&arena, 16 << 20);
    json_reader_init(&r, str_of(text), &arena, "binding");
    binding_read(&r, &binding);
    assert_int_equal(json_finish(&r, err), 0);
    configuration_init(&c);
    c.state.paths = paths;
    c.state.path_count = 1;
    struct member_nodes nodes;
    int code = member_nodes_read(&c, &arena, &nodes, err);
    if (code == 0)
        code = member_nodes_replicas(&nodes, &binding.spec, NULL, 0, &arena, &replicas, err);
    member_nodes_done(&nodes);
    c.state.paths = NULL;
    c.state.path_count = 0;
    configuration_done(&c);
    arena_done(&arena);
    (void)unlink(state_file.path);
    return code != 0 ? code : replicas;
}

static int64_t replicas_in(const char *state_text, struct err *err) {
    return replicas_with(state_text, REQUEST, err);
}

static void nodes_and_pods_of_the_core_group_count(void **state) {
    static const struct {
        const char *state;
        int64_t replicas;
    } cases[] = {
        {LIST(""), 0},
        {LIST(NODE("a", "x", "20")), 4},
        {LIST(NODE("a", "x", "3")), 3},
        {LIST(NODE("a", "x", "20") "," NODE("b", "y", "20")), 8},
        /* a pod of one cpu leaves room for three of two */
        {LIST(NODE("a", "x", "20") "," POD("p", "a", "", "")), 3},
        {LIST(POD("p", "a", "", "") "," NODE("a", "x", "20")), 3},
        {LIST(NODE("a", "x", "20") "," POD("p", "b", "", "")), 4},
        {LIST(NODE("a", "x", "20") "," POD("p", "a", "", "},'status':{'phase':'Succeeded'")), 4},
        /* things of the same kind that are none */
        {LIST(NODE("a", "x", "20") "," BY("example.com/v1", "Node", "c")), 4},
        {LIST(BY("v1", "ConfigMap", "c")), 0},
        {LIST(NODE("a", "x",
                   "20") ",{'apiVersion':'metrics.k8s.io/v1beta1','kind':'Pod','metadata':{'name':"
                         "'p','namespace':'shop'},'spec':{'nodeName':'a','containers':[{'name':'c',"
                         "'resources':{'requests':{'cpu':'7'}}}]}}"),
         4},
    };
    struct err err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t replicas = replicas_in(cases[i].state, &err);
        if (replicas != cases[i].replicas)
            fail_msg("case %zu: %lld: %s", i, (long long)replicas, err.text);
    }
}

/* A cordon is a taint beside the node's others; each is to be tolerated. */
static void cordons_and_taints_keep_replicas_off(void **state) {
#define TAINTED(name, spec)                                                                        \
    "{'apiVersion':'v1','kind':'Node','metadata':{'name':'" name "'},'spec':{" spec                \
    "},'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':'20'}}}"
#define TAINT(key, effect) "{'key':'" key "','effect':'" effect "'}"
#define TOLERATES(key) "{'key':'" key "','operator':'Exists'}"
#define CORDON "node.kubernetes.io/unschedulable"
    static const struct {
        const char *spec, *tolerations;
        int64_t replicas;
    } cases[] = {
        {TAINTED("a", ""), "", 4},
        {TAINTED("a", "'unschedulable':true"), "", 0},
        {TAINTED("a", "'unschedulable':true"), TOLERATES(CORDON), 4},
        {TAINTED("a", "'unschedulable':true"), TOLERATES("x"), 0},
        {TAINTED("a", "'taints':[" TAINT("x", "NoSchedule") "]"), TOLERATES(CORDON), 0},
        {TAINTED("a", "'unschedulable':true,'taints':[" TAINT("x", "NoSchedule") "]"),
         TOLERATES(CORDON), 0},
        {TAINTED("a", "'unschedulable':true,'taints':[" TAINT("x", "NoSchedule") "]"),
         TOLERATES("x"), 0},
        {TAINTED("a", "'unschedulable':true,'taints':[" TAINT("x", "NoSchedule") "]"),
         TOLERATES("x") "," TOLERATES(CORDON), 4},
        {TAINTED("a", "'unschedulable':true,'taints':[" TAINT("x", "NoSchedule") "," TAINT(
                          "y", "NoExecute") "]"),
         TOLERATES("x") "," TOLERATES(CORDON), 0},
        {TAINTED("a", "'unschedulable':true,'taints':[" TAINT("x", "PreferNoSchedule") "]"),
         TOLERATES(CORDON), 4},
    };
    struct err err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char list[1024], requirements[512];
        (void)snprintf(list, sizeof list, LIST("%s"), cases[i].spec); /* fits */
        (void)snprintf(requirements, sizeof requirements,
                       REQUEST ",'nodeClaim':{'tolerations':[%s]}", cases[i].tolerations);
        const int64_t replicas = replicas_with(list, requirements, &err);
        if (replicas != cases[i].replicas)
            fail_msg("case %zu: %lld: %s", i, (long long)replicas, err.text);
    }
}

static void bad_objects_are_named(void **state) {
    struct err err = {0};
    (void)state;
    assert_int_equal(
        replicas_in(LIST("{'apiVersion':'v1','kind':'Node','metadata':{'name':5}}"), &err),
        -EINVAL);
    assert_contains(err.text, "name");
    assert_int_equal(replicas_in("{", &err), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_pods_of_the_core_group_count),
        cmocka_unit_test(cordons_and_taints_keep_replicas_off),
        cmocka_unit_test(bad_objects_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
