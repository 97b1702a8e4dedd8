/*
 * The step `estimate`, by nodes and pods. Expectations: upstream's own tables (karmada
 * pkg/estimator/server server_test.go, plugins noderesource and resourcequota, v1.18.1), and the
 * fleet contract, 5 and 10.
 */
#include "base/limits.h"
#include "lines/lines.h"

#include "unit/unit.h"

/* JSON here has single quotes, for readers: the reader of JSON gets double ones. */
static void requote(struct strbuf *text) {
    for (size_t i = 0; i < text->n; i++)
        if (text->p[i] == '\'')
            text->p[i] = '"';
}

static bool ask(const char *members, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_LINE_ARENA);
    arena.steps.max = LIMIT_LINE_STEPS;
    strbuf_appendf(&text, "{'step':'estimate',%s}", members);
    requote(&text);
    return line_answer(strbuf_str(&text), &arena, out);
}

/* The answer's members but the id. */
static void answers(const char *members, const char *answer) {
    CLEANUP(strbuf_done) struct strbuf out = {0}, wanted = {0};
    strbuf_appendf(&wanted, "{'id':null,%s}", answer);
    requote(&wanted);
    const bool good = ask(members, &out);
    strbuf_append_char(&wanted, '\0');
    assert_str(strbuf_str(&out), wanted.p);
    assert_true(good);
}

static void refused(const char *members, const char *words) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    assert_false(ask(members, &out));
    if (memmem(out.p, out.n, words, strlen(words)) == NULL)
        fail_msg("'%.*s' does not contain '%s'", (int)out.n, out.p, words);
}

static void replicas_are(const char *members, int count) {
    CLEANUP(strbuf_done) struct strbuf out = {0}, wanted = {0};
    strbuf_appendf(&wanted, "'replicas':%d,", count);
    requote(&wanted);
    (void)ask(members, &out); /* a refusal has no such member */
    if (memmem(out.p, out.n, wanted.p, wanted.n) == NULL)
        fail_msg("%s: '%.*s' does not contain '%.*s'", members, (int)out.n, out.p, (int)wanted.n,
                 wanted.p);
}

static void sets_are(const char *members, int count) {
    CLEANUP(strbuf_done) struct strbuf out = {0}, wanted = {0};
    strbuf_appendf(&wanted, "'sets':%d,", count);
    requote(&wanted);
    (void)ask(members, &out); /* likewise */
    if (memmem(out.p, out.n, wanted.p, wanted.n) == NULL)
        fail_msg("%s: '%.*s' does not contain '%.*s'", members, (int)out.n, out.p, (int)wanted.n,
                 wanted.p);
}

#define NODE(name, labels, spec, amounts)                                                          \
    "{'metadata':{'name':'" name "','labels':{" labels "}},'spec':{" spec                          \
    "},'status':{'allocatable':{" amounts "}}}"
#define AMOUNTS(cpu, memory, pods) "'cpu':'" cpu "','memory':'" memory "','pods':'" pods "'"
#define POD(node, amounts)                                                                         \
    "{'metadata':{'name':'p'},'spec':{'nodeName':'" node                                           \
    "','containers':[{'resources':{'requests':{" amounts "}}}]}}"
#define COMPONENT(replicas, amounts)                                                               \
    "{'name':'c','replicas':" replicas ",'replicaRequirements':{'resourceRequest':{" amounts "}}}"
#define REQUEST(amounts) "'requirements':{'resourceRequest':{" amounts "}}"
#define CPU_MEMORY(cpu, memory) "'cpu':'" cpu "','memory':'" memory "'"

/* ---- replicas ---- */

#define TWO(a, b) a "," b
#define THREE(a, b, c) a "," b "," c
#define ALL_EIGHT(name, labels, spec, pods) NODE(name, labels, spec, AMOUNTS("8", "16Gi", pods))
#define PODS_OF_N1                                                                                 \
                                                                                                   \
    THREE(POD("n1", CPU_MEMORY("1", "3Gi")), POD("n1", CPU_MEMORY("3", "3Gi")),                    \
          POD("n1", CPU_MEMORY("2", "4Gi")))
#define PODS_OF_N2 TWO(POD("n2", CPU_MEMORY("4", "8Gi")), POD("n2", CPU_MEMORY("1", "3Gi")))
#define THREE_NODES(pods1, pods2, spec1, spec2)                                                    \
                                                                                                   \
    "'nodes':[" THREE(ALL_EIGHT("n1", "'a':'1'", spec1, pods1),                                    \
                      ALL_EIGHT("n2", "'a':'3'", spec2, pods2),                                    \
                      ALL_EIGHT("n3", "", "", "11")) "],'pods':[" TWO(PODS_OF_N1, PODS_OF_N2) "]"
#define PLAIN_NODES THREE_NODES("11", "11", "", "")
#define ASKED CPU_MEMORY("1", "2Gi")
#define CLAIM(claim) "'requirements':{'nodeClaim':{" claim "},'resourceRequest':{" ASKED "}}"
#define TERM(key, op, values)                                                                      \
    "'hardNodeAffinity':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" key                   \
    "','operator':'" op "','values':[" values "]}]}]}"
#define TAINT(key) "'taints':[{'key':'" key "','value':'v','effect':'NoSchedule'}]"

static void what_nodes_leave(void **state) {
    (void)state;
    replicas_are(PLAIN_NODES "," REQUEST(ASKED), 12);
    replicas_are(THREE_NODES("4", "3", "", "") "," REQUEST(ASKED), 10);
    replicas_are(PLAIN_NODES "," CLAIM("'nodeSelector':{'a':'3'}"), 2);
    replicas_are(PLAIN_NODES "," CLAIM(TERM("a", "Gt", "'0'")), 4);
    replicas_are(PLAIN_NODES "," CLAIM(TERM("a", "Gt", "'1'")), 2);
    replicas_are(PLAIN_NODES "," CLAIM("'hardNodeAffinity':{'nodeSelectorTerms':[]}"), 0);
    replicas_are(THREE_NODES("11", "11", TAINT("key1"), TAINT("key2")) "," CLAIM(
                     "'tolerations':[{'key':'key1','operator':'Exists'}]"),
                 10);
    replicas_are(THREE_NODES("11", "11", "'unschedulable':true", "") "," REQUEST(ASKED), 10);
    replicas_are(THREE_NODES("11", "11", "'unschedulable':true",
                             "") "," CLAIM("'tolerations':[{'key':'node.kubernetes.io/"
                                           "unschedulable','operator':'Exists'}]"),
                 12);
    /* without requirements the free pods of the nodes that may be used */
    replicas_are(PLAIN_NODES, 8 + 9 + 11);
    replicas_are(THREE_NODES("11", "11", TAINT("key1"), ""), 9 + 11);
    replicas_are("'nodes':[]", 0);
    replicas_are("'nodes':null," REQUEST(ASKED), 0);
}

static void which_pods_count(void **state) {
    (void)state;
#define ONE_NODE(amounts, pods) "'nodes':[" NODE("n1", "", "", amounts) "],'pods':[" pods "]"
#define EIGHT AMOUNTS("8", "16Gi", "10")
#define PHASE(phase)                                                                               \
    "{'spec':{'nodeName':'n1','containers':[{'resources':{'requests':{'cpu':'7'}}}]},"             \
    "'status':{'phase':'" phase "'}}"
#define ONE_CPU "," REQUEST("'cpu':'1'")
    replicas_are(ONE_NODE(EIGHT, "") ONE_CPU, 8);
    replicas_are(ONE_NODE(EIGHT, PHASE("Running")) ONE_CPU, 1);
    replicas_are(ONE_NODE(EIGHT, PHASE("Pending")) ONE_CPU, 1);
    replicas_are(ONE_NODE(EIGHT, PHASE("Succeeded")) ONE_CPU, 8);
    replicas_are(ONE_NODE(EIGHT, PHASE("Failed")) ONE_CPU, 8);
    replicas_are(ONE_NODE(EIGHT, POD("", "'cpu':'7'")) ONE_CPU, 8);
    replicas_are(ONE_NODE(EIGHT, POD("n2", "'cpu':'7'")) ONE_CPU, 8);
    /* more than there is */
    replicas_are(ONE_NODE(EIGHT, POD("n1", "'cpu':'9'")) ONE_CPU, 0);
    replicas_are(ONE_NODE(AMOUNTS("8", "1Gi", "1"), POD("n1", "") "," POD("n1", "")) ONE_CPU, 0);
    /* each container's requests are rounded; init containers one by one; overhead on top */
#define SPEC(spec) "{'spec':{'nodeName':'n1'," spec "}}"
#define CPUS(cpu) "{'resources':{'requests':{'cpu':'" cpu "'}}}"
#define CONTAINERS(containers) "'containers':[" containers "]"
#define INIT_CONTAINERS(containers) "'initContainers':[" containers "],"
    replicas_are(
        ONE_NODE(AMOUNTS("3m", "1Gi", "9"),
                 SPEC(CONTAINERS(TWO(CPUS("500u"), CPUS("500u"))))) "," REQUEST("'cpu':'1m'"),
        1);
    replicas_are(ONE_NODE(EIGHT, SPEC(INIT_CONTAINERS(TWO(CPUS("3"), CPUS("5"))) CONTAINERS(
                                     TWO(CPUS("1"), CPUS("2"))) ",'overhead':{'cpu':'1'}")) ONE_CPU,
                 2);
    replicas_are(ONE_NODE(EIGHT, SPEC(INIT_CONTAINERS(CPUS("2"))
                                          CONTAINERS(TWO(CPUS("1"), CPUS("2"))))) ONE_CPU,
                 5);
}

static void what_nodes_are_asked_for(void **state) {
    (void)state;
#define GPU_NODES                                                                                  \
                                                                                                   \
    "'nodes':[" THREE(                                                                             \
        NODE("n1", "", "", EIGHT ",'x.io/gpu':'4','hugepages-2Mi':'4Mi'"),                         \
        NODE("n2", "", "", EIGHT ",'a.io/z':'1','x.io/gpu':'7'"),                                  \
        NODE("n3", "", "", EIGHT)) "],'pods':[" POD("n2", "'x.io/gpu':'1','y.io/gpu':'5'") "]"
    replicas_are(GPU_NODES "," REQUEST("'x.io/gpu':'2'"), 2 + 3);
    replicas_are(GPU_NODES "," REQUEST("'x.io/gpu':'1','hugepages-2Mi':'2Mi'"), 2);
    replicas_are(GPU_NODES "," REQUEST("'a.io/z':'1','x.io/gpu':'1'"), 1);
    replicas_are(GPU_NODES "," REQUEST("'b.io/z':'1'"), 0);
    replicas_are(GPU_NODES "," REQUEST("'b.io/z':'0'"), 10 + 9 + 10);
    /* no node is asked for storage or pods */
    replicas_are(GPU_NODES "," REQUEST("'storage':'1Ti','pods':'9'"), 10 + 9 + 10);
    replicas_are(GPU_NODES "," REQUEST("'ephemeral-storage':'1'"), 0);
    /* of nodes of one name the last counts */
    replicas_are("'nodes':[" NODE("n", "", "", AMOUNTS("8", "1Gi", "9")) "," NODE(
                     "n", "", "", AMOUNTS("2", "1Gi", "9")) "]" ONE_CPU,
                 2);
    /* what is below 0, and as much as a number holds */
    replicas_are("'nodes':[" NODE("n", "", "", "'cpu':'-8','pods':'9'") "," NODE(
                     "m", "", "", "'cpu':'1','pods':'-9'") "]" ONE_CPU,
                 0);
    replicas_are("'nodes':[" NODE("n", "", "", "'x.io/y':'-8','pods':'9'") "," NODE(
                     "m", "", "", "'x.io/y':'3','pods':'9'") "]," REQUEST("'x.io/y':'1'"),
                 3);
#define HUGE_NODE(name) NODE(name, "", "", "'cpu':'9E','pods':'9223372036854775807'")
    replicas_are("'nodes':[" HUGE_NODE("n") "," HUGE_NODE("m") "]," REQUEST("'cpu':'1n'"),
                 INT32_MAX);
    replicas_are("'nodes':[" NODE("n", "", "", "'pods':'2147483646'") "]", INT32_MAX - 1);
    replicas_are("'nodes':[" NODE("n", "", "", "'pods':'2147483646'") "," NODE("m", "", "",
                                                                               "'pods':'1'") "]",
                 INT32_MAX);
}

/* ---- sets ---- */

static void what_nodes_leave_for_sets(void **state) {
    (void)state;
#define NODES(nodes) "'nodes':[" nodes "],'pods':[]"
#define BARE(name, cpu, memory) NODE(name, "", "", AMOUNTS(cpu, memory, "10"))
#define COMPONENTS(components) ",'components':[" components "]"
    sets_are(NODES(BARE("n", "4", "8Gi")) COMPONENTS(COMPONENT("1", CPU_MEMORY("1", "1Gi"))), 4);
    sets_are(NODES(BARE("n", "4", "8Gi")) COMPONENTS(COMPONENT("2", CPU_MEMORY("1", "1Gi"))), 2);
    sets_are(NODES(BARE("n", "10", "10Gi")) COMPONENTS(
                 COMPONENT("1", CPU_MEMORY("2", "2Gi")) "," COMPONENT("1", CPU_MEMORY("3", "3Gi"))),
             2);
    sets_are(NODES(BARE("n", "6", "6Gi") "," BARE("m", "6", "6Gi")) COMPONENTS(
                 COMPONENT("2", CPU_MEMORY("3", "3Gi")) "," COMPONENT("1", CPU_MEMORY("2", "2Gi"))),
             1);
    sets_are(NODES(BARE("n", "2", "2Gi")) COMPONENTS(COMPONENT("1", CPU_MEMORY("3", "1Gi"))), 0);
    sets_are(NODES(BARE("a", "1", "2Gi") "," BARE("b", "4", "8Gi") "," BARE("c", "8", "16Gi"))
                 COMPONENTS(COMPONENT("2", CPU_MEMORY("500m", "1Gi")) "," COMPONENT(
                     "1", CPU_MEMORY("2", "4Gi"))),
             4);
    /* in order of the line: what is placed first takes the room of the others */
    sets_are(NODES(BARE("a", "3", "9Gi") "," BARE("b", "2", "9Gi"))
                 COMPONENTS(COMPONENT("1", "'cpu':'2'") "," COMPONENT("1", "'cpu':'3'")),
             0);
    sets_are(NODES(BARE("b", "2", "9Gi") "," BARE("a", "3", "9Gi"))
                 COMPONENTS(COMPONENT("1", "'cpu':'2'") "," COMPONENT("1", "'cpu':'3'")),
             1);
    /* each component's own claim */
#define CLAIMED(replicas, selector)                                                                \
    "{'replicas':" replicas ",'replicaRequirements':{'nodeClaim':{'nodeSelector':{" selector       \
    "}},'resourceRequest':{'cpu':'1'}}}"
    sets_are(NODES(NODE("a", "'z':'w'", "", AMOUNTS("4", "8Gi", "9")) "," NODE(
                 "b", "", "", AMOUNTS("9", "8Gi", "9"))) COMPONENTS(CLAIMED("1", "'z':'w'")),
             4);
    sets_are(NODES(NODE("a", "'z':'w'", "",
                        AMOUNTS("4", "8Gi", "9")) "," NODE("b", "", "", AMOUNTS("9", "8Gi", "9")))
                 COMPONENTS(CLAIMED("1", "'z':'w'") "," CLAIMED("2", "")),
             2);
    sets_are(NODES(BARE("a", "4", "8Gi")) COMPONENTS(CLAIMED("1", "'z':'s'")), 0);
    /* no component, no replica, no node */
    sets_are(NODES(BARE("n", "4", "8Gi")) COMPONENTS(""), INT32_MAX);
    sets_are(NODES("") COMPONENTS(""), 0);
    sets_are(NODES(BARE("n", "4", "8Gi")) COMPONENTS(COMPONENT("0", "'cpu':'4'")), INT32_MAX);
    sets_are(NODES(BARE("n", "4", "8Gi"))
                 COMPONENTS(COMPONENT("0", "'cpu':'4'") "," COMPONENT("0", "'cpu':'5'")),
             0);
    sets_are(NODES(BARE("n", "4", "8Gi"))
                 COMPONENTS(COMPONENT("1", "'cpu':'1'") "," COMPONENT("0", "'cpu':'5'")),
             4);
    sets_are(NODES(BARE("n", "4", "8Gi")) COMPONENTS(COMPONENT("2147483647", "")), 0);
    sets_are(
        NODES(NODE("n", "", "", "'pods':'2147483647'")) COMPONENTS(COMPONENT("2147483647", "")), 1);
}

/* ---- assumed workloads ---- */

#define ASSUMED(namespace, components)                                                             \
    ",'assumedWorkloads':[{'namespace':'" namespace "','components':[" components "]}]"
#define PROTECTED ",'options':{'overcommitProtection':true}"

static void assumed_workloads(void **state) {
    (void)state;
#define FOUR NODES(BARE("n", "4", "9Gi"))
#define CPU(replicas, cpu) COMPONENT(replicas, "'cpu':'" cpu "'")
    sets_are(FOUR COMPONENTS(CPU("1", "1")) ASSUMED("", CPU("1", "1")) PROTECTED, 3);
    sets_are(FOUR COMPONENTS(CPU("1", "1")) ASSUMED("", CPU("1", "1")), 4); /* not by default */
    sets_are(FOUR COMPONENTS(CPU("1", "1")) ASSUMED("", CPU("1", "100")) PROTECTED, 4);
    sets_are(FOUR COMPONENTS(CPU("1", "1")) ASSUMED("", "") PROTECTED, 4);
    sets_are(NODES(BARE("n", "6", "9Gi")) COMPONENTS(CPU("1", "1"))
                 ASSUMED("", CPU("1", "1") "," CPU("1", "2")) PROTECTED,
             3);
    replicas_are(FOUR ONE_CPU ASSUMED("", CPU("1", "1")) PROTECTED, 3);
    replicas_are(FOUR ONE_CPU ASSUMED("", CPU("3", "1") "," CPU("1", "2")) PROTECTED, 1);
    replicas_are(FOUR ONE_CPU ASSUMED("", CPU("1", "1")), 4);
    sets_are(FOUR COMPONENTS(COMPONENT("0", "'cpu':'4'")) ASSUMED("", CPU("1", "1")) PROTECTED,
             0); /* nothing is asked for, and would not fit any more */
}

/* ---- quotas ---- */

#define QUOTA(name, namespace, scope, hard, used)                                                  \
    "{'metadata':{'name':'" name                                                                   \
    "','namespace':'" namespace "'},'spec':{" scope "},'status':{'hard':{" hard "},'used':{" used  \
                                "}}}"
#define IN_FOO                                                                                     \
    "'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In',"           \
    "'values':['foo']}]}"
#define FOO_HARD "'cpu':'1','memory':'4Mi','nvidia.com/gpu':'5'"
#define FOO_USED "'cpu':'200m','memory':'1Mi','nvidia.com/gpu':'2'"
#define QUOTAS(quotas) ",'quotas':[" quotas "]"
#define FOO QUOTAS(QUOTA("foo", "ns", IN_FOO, FOO_HARD, FOO_USED))
#define GATE ",'options':{'resourceQuota':true}"
#define BIG_NODE                                                                                   \
    "'nodes':[" NODE(                                                                              \
        "n", "", "",                                                                               \
        "'cpu':'100k','memory':'1Ti','nvidia.com/gpu':'1000','ephemeral-storage':'1Ti',"           \
        "'pods':'1000'") "]"
#define PRIORITY(class, amounts)                                                                   \
    ",'requirements':{'namespace':'ns','priorityClassName':'" class "','resourceRequest':"         \
                                                                    "{" amounts "}}"
#define REQUESTS_200M "'cpu':'200m'"

static void what_quotas_leave(void **state) {
    (void)state;
    replicas_are(BIG_NODE FOO GATE PRIORITY("bar", REQUESTS_200M), 1000);
    replicas_are(BIG_NODE FOO GATE PRIORITY("", REQUESTS_200M), 1000);
    replicas_are(BIG_NODE FOO PRIORITY("foo", REQUESTS_200M), 1000); /* not by default */
    replicas_are(BIG_NODE FOO GATE PRIORITY("foo", REQUESTS_200M), 4);
    replicas_are(BIG_NODE FOO GATE PRIORITY("foo", "'memory':'2Mi'"), 1);
    replicas_are(BIG_NODE FOO GATE PRIORITY("foo", "'nvidia.com/gpu':'1'"), 3);
    replicas_are(BIG_NODE FOO GATE PRIORITY("foo", "'ephemeral-storage':'1'"), 1000);
    replicas_are(BIG_NODE FOO GATE PRIORITY("foo", "'cpu':'2'"), 0);
    replicas_are(BIG_NODE FOO GATE ",'requirements':{'namespace':'other',"
                                   "'priorityClassName':'foo','resourceRequest':{'cpu':"
                                   "'200m'}}",
                 1000);
    replicas_are(BIG_NODE FOO GATE ",'requirements':{'priorityClassName':'foo',"
                                   "'resourceRequest':{'cpu':'200m'}}",
                 4); /* of all namespaces */
    replicas_are(BIG_NODE FOO GATE, 1000);
    replicas_are("'nodes':[]" FOO GATE PRIORITY("foo", REQUESTS_200M), 0);
    /* the least of several */
    replicas_are(BIG_NODE QUOTAS(QUOTA("a", "ns", "", "'cpu':'1'", "'cpu':'0'") "," QUOTA(
                     "b", "ns", "", "'cpu':'600m'",
                     "'cpu':'0'") "," QUOTA("c", "ns2", "", "'cpu':'1m'", "'cpu':'0'"))
                     GATE PRIORITY("", REQUESTS_200M),
                 3);
    /* used beyond its limit */
    replicas_are(BIG_NODE QUOTAS(QUOTA("a", "ns", "", "'cpu':'1'", "'cpu':'3'"))
                     GATE PRIORITY("", REQUESTS_200M),
                 0);
}

static void which_amounts_of_a_quota_count(void **state) {
    (void)state;
#define LIMITED(hard, used) BIG_NODE QUOTAS(QUOTA("q", "ns", "", hard, used)) GATE
    replicas_are(
        LIMITED("'requests.cpu':'500m'", "'requests.cpu':'100m'") PRIORITY("", REQUESTS_200M), 2);
    replicas_are(LIMITED("'requests.nvidia.com/gpu':'4'", "'requests.nvidia.com/gpu':'1'")
                     PRIORITY("", "'nvidia.com/gpu':'1'"),
                 3);
    replicas_are(LIMITED("'limits.cpu':'1m','pods':'1','ephemeral-storage':'1'",
                         "'limits.cpu':'0','pods':'0','ephemeral-storage':'0'")
                     PRIORITY("", REQUESTS_200M ",'ephemeral-storage':'2'"),
                 1000);
    replicas_are("'nodes':[" NODE("n", "", "", "'limits.x.io/a':'9','pods':'99'") "]" QUOTAS(
                     QUOTA("q", "ns", "", "'limits.x.io/a':'1'", "'limits.x.io/a':'0'"))
                     GATE PRIORITY("", "'limits.x.io/a':'1'"),
                 9);
    /* the prefixed one, whichever is less */
    replicas_are(LIMITED("'cpu':'200m','requests.cpu':'400m'", "'cpu':'0','requests.cpu':'0'")
                     PRIORITY("", REQUESTS_200M),
                 2);
    replicas_are(LIMITED("'z.io/a':'1','requests.z.io/a':'2'", "'z.io/a':'0','requests.z.io/a':'0'")
                     PRIORITY("", "'z.io/a':'1'"),
                 0); /* no node has it */
    /* both hard and used, or neither */
    replicas_are(LIMITED("'cpu':'200m'", "") PRIORITY("", REQUESTS_200M), 1000);
    replicas_are(LIMITED("", "'cpu':'200m'") PRIORITY("", REQUESTS_200M), 1000);
    replicas_are(
        LIMITED("'cpu':'200m','requests.cpu':'400m'", "'cpu':'0'") PRIORITY("", REQUESTS_200M), 1);
    /* of what is requested only what is more than nothing */
    replicas_are(LIMITED("'cpu':'0'", "'cpu':'0'") PRIORITY("", "'cpu':'0'"), 1000);
    replicas_are(LIMITED("'cpu':'0'", "'cpu':'0'") PRIORITY("", "'cpu':'1n'"), 0);
}

static void scopes_of_quotas(void **state) {
    (void)state;
#define SCOPE(op, values)                                                                          \
    "'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'" op            \
    "','values':[" values "]}]}"
#define SCOPED(scope) BIG_NODE QUOTAS(QUOTA("q", "ns", scope, "'cpu':'1'", "'cpu':'0'")) GATE
    const struct {
        const char *members;
        bool with_foo, without;
    } cases[] = {
        {SCOPED(""), true, true},
        {SCOPED("'scopes':['PriorityClass']"), true, false},
        {SCOPED("'scopes':['BestEffort']"), false, false},
        {SCOPED("'scopes':['NotTerminating','PriorityClass']"), true, false},
        {SCOPED("'scopes':['NotTerminating']," SCOPE("In", "'foo'")), true, false},
        {SCOPED(SCOPE("Exists", "")), true, false},
        {SCOPED(SCOPE("DoesNotExist", "")), false, true},
        {SCOPED(SCOPE("DoesNotExist", "'a'")), false, false},
        {SCOPED(SCOPE("In", "'bar','foo'")), true, false},
        {SCOPED(SCOPE("In", "'bar'")), false, false},
        {SCOPED(SCOPE("In", "")), false, false},
        {SCOPED(SCOPE("In", "'foo','/'")), false, false},
        {SCOPED(SCOPE("NotIn", "'foo'")), false, true},
        {SCOPED(SCOPE("NotIn", "'bar'")), true, true},
        {SCOPED(SCOPE("NotIn", "")), false, false},
        {SCOPED(SCOPE("Gt", "'foo'")), false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf with = {0}, without = {0};
        strbuf_appendf(&with, "%s%s%c", cases[i].members, PRIORITY("foo", REQUESTS_200M), '\0');
        strbuf_appendf(&without, "%s%s%c", cases[i].members, PRIORITY("", REQUESTS_200M), '\0');
        replicas_are(with.p, cases[i].with_foo ? 5 : 1000);
        replicas_are(without.p, cases[i].without ? 5 : 1000);
    }
}

static void what_quotas_leave_for_sets(void **state) {
    (void)state;
#define SET(class, replicas, amounts)                                                              \
    "{'replicas':" replicas                                                                        \
    ",'replicaRequirements':{'priorityClassName':'" class "','resourceRequest':{" amounts "}}}"
#define OF_NS(components) ",'namespace':'ns','components':[" components "]"
#define OPEN QUOTAS(QUOTA("q", "ns", "", FOO_HARD, FOO_USED)) GATE
    sets_are(BIG_NODE OPEN OF_NS(SET("", "1", "'cpu':'100m'")), 8);
    sets_are(BIG_NODE OPEN OF_NS(SET("", "1", CPU_MEMORY("100m", "500Ki"))), 6);
    sets_are(BIG_NODE OPEN OF_NS(SET("", "3", CPU_MEMORY("50m", "200Ki")) "," SET(
                 "", "2", CPU_MEMORY("100m", "500Ki"))),
             1);
    sets_are(BIG_NODE OPEN OF_NS(SET("", "1", "'nvidia.com/gpu':'2'")), 1);
    sets_are(BIG_NODE QUOTAS(QUOTA("q", "ns", "", "'cpu':'1'", "'cpu':'1'"))
                 GATE OF_NS(SET("", "1", "'cpu':'100m'")),
             0);
    sets_are(BIG_NODE OPEN ",'components':[" SET("", "1", "'cpu':'100m'") "]", 1000);
    sets_are(BIG_NODE OPEN OF_NS(""), INT32_MAX);
    sets_are(BIG_NODE OPEN OF_NS(SET("", "1", "'ephemeral-storage':'1'")), 1000);
    /* only components that the scopes select */
    sets_are(BIG_NODE FOO GATE OF_NS(SET("bar", "1", "'cpu':'100m'")), 1000);
    sets_are(BIG_NODE FOO GATE OF_NS(SET("", "1", "'cpu':'100m'")), 1000);
    sets_are(BIG_NODE FOO GATE OF_NS(
                 SET("bar", "1", "'cpu':'700m'") "," SET("foo", "1", "'cpu':'400m'")),
             2);
    sets_are(BIG_NODE QUOTAS(QUOTA("q", "ns", "", "'cpu':'2'", "'cpu':'0'") "," QUOTA(
                 "r", "ns", "", "'memory':'3Mi'", "'memory':'0'"))
                 GATE OF_NS(SET("", "1", CPU_MEMORY("500m", "1Mi"))),
             3);
}

static void what_is_assumed_of_quotas(void **state) {
    (void)state;
#define BOTH_GATES ",'options':{'resourceQuota':true,'overcommitProtection':true}"
#define FOO_BOTH FOO BOTH_GATES
#define OF_FOO PRIORITY("foo", REQUESTS_200M)
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns", SET("foo", "2", "'cpu':'200m'")), 2);
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns", SET("foo", "4", "'cpu':'200m'")), 0);
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns", SET("foo", "5", "'cpu':'200m'")), 0);
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns2", SET("foo", "2", "'cpu':'200m'")), 4);
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns", SET("bar", "2", "'cpu':'200m'")), 4);
    replicas_are(BIG_NODE FOO GATE OF_FOO ASSUMED("ns", SET("foo", "2", "'cpu':'200m'")), 4);
    /* a resource that is not asked for is enough, if it is not free */
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns", SET("foo", "3", "'memory':'1Mi'")), 4);
    replicas_are(BIG_NODE FOO_BOTH OF_FOO ASSUMED("ns", SET("foo", "4", "'memory':'1Mi'")), 0);
    sets_are(BIG_NODE FOO_BOTH OF_NS(SET("foo", "1", "'cpu':'200m'"))
                 ASSUMED("ns", SET("foo", "1", "'cpu':'400m'")),
             2);
    sets_are(BIG_NODE FOO_BOTH OF_NS(SET("foo", "1", "'cpu':'200m'"))
                 ASSUMED("ns2", SET("foo", "1", "'cpu':'400m'")),
             4);
    sets_are(BIG_NODE FOO_BOTH OF_NS(SET("foo", "1", "'cpu':'200m'"))
                 ASSUMED("ns", SET("foo", "1", "'cpu':'1'")),
             0);
    sets_are(BIG_NODE FOO_BOTH OF_NS(SET("bar", "1", "'cpu':'200m'"))
                 ASSUMED("ns", SET("foo", "1", "'cpu':'1'")),
             1000 - 1);
}

/* ---- lines ---- */

static void messages_on_the_wire(void **state) {
    (void)state;
    const char *request = "'wire':'0a0466616b65122412"
                          "0a0a0363707512030a0131120f0a066d656d6f727912050a033247691a036e73312200'";
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text, "%s,%s%c", PLAIN_NODES, request, '\0');
    answers(text.p, "'replicas':12,'wire':'080c'");
    strbuf_clear(&text);
    strbuf_appendf(&text, "%s,%s,'cluster':'fake'%c", PLAIN_NODES, request, '\0');
    answers(text.p, "'replicas':12,'wire':'080c'");
    strbuf_clear(&text);
    strbuf_appendf(&text, "%s,%s,'cluster':'member68'%c", PLAIN_NODES, request, '\0');
    answers(text.p, "'error':'cluster name does not match, got: fake, desire: member68'");
    answers("'nodes':[],'wire':''", "'replicas':0,'wire':''");
    answers("'nodes':[],'componentsWire':'0A0466616b65','wire':null", "'sets':0,'wire':''");
    refused("'nodes':[],'wire':'0'", "question.wire: an odd number of hex digits");
    refused("'nodes':[],'wire':'0g'", "question.wire: expected hex digits, found '0g'");
    refused("'nodes':[],'wire':'G0'", "question.wire: expected hex digits, found 'G0'");
    refused("'nodes':[],'wire':7", "question.wire");
    refused("'nodes':[],'wire':'ff'", "question.wire");
    refused("'nodes':[],'componentsWire':'ff'", "question.componentsWire");
}

static void bad_lines(void **state) {
    (void)state;
    refused("'requirements':{}", "question: cluster (an object) or nodes is required");
    refused("'cluster':'m1','requirements':{}", "question: cluster (an object) or nodes");
    refused("'nodes':[],'cluster':{}", "question.cluster: expected a name beside nodes");
    refused("'nodes':[],'requirements':{},'components':[]", "two questions");
    refused("'nodes':[],'wire':'','components':[]", "has its own requirements");
    refused("'nodes':[],'componentsWire':'','requirements':{}", "has its own requirements");
    refused("'nodes':[{}]", "question.nodes[0]: metadata.name is required");
    refused("'nodes':{}", "question.nodes");
    refused("'nodes':[],'components':[{'replicas':-1}]", "question.components[0].replicas");
    refused("'nodes':[],'quotas':[{'status':{'hard':{'cpu':'x'}}}]",
            "question.quotas[0].status.hard.cpu");
    refused("'nodes':[],'options':{'resourceQuota':1}", "question.options.resourceQuota");
    answers("'cluster':{'status':{'resourceSummary':{'allocatable':{'pods':'9'}}}},"
            "'requirements':null,'components':null",
            "'replicas':9,'sets':9");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nodes_leave),
        cmocka_unit_test(which_pods_count),
        cmocka_unit_test(what_nodes_are_asked_for),
        cmocka_unit_test(what_nodes_leave_for_sets),
        cmocka_unit_test(assumed_workloads),
        cmocka_unit_test(what_quotas_leave),
        cmocka_unit_test(which_amounts_of_a_quota_count),
        cmocka_unit_test(scopes_of_quotas),
        cmocka_unit_test(what_quotas_leave_for_sets),
        cmocka_unit_test(what_is_assumed_of_quotas),
        cmocka_unit_test(messages_on_the_wire),
        cmocka_unit_test(bad_lines),
    };
    return cmocka_run_group_tests_name("The step estimate", tests, NULL, NULL);
}
