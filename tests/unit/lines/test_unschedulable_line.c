/*
 * The step `unschedulable`. Expectations: karmada pkg/estimator/server/replica replica_test.go and
 * pkg/util/lifted deployment_test.go (v1.18.1), and the fleet contract, 5 and 10.
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

static void answers(const char *members, const char *answer, bool good) {
    CLEANUP(strbuf_done) struct strbuf text = {0}, out = {0}, wanted = {0};
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_LINE_ARENA);
    arena.steps.max = LIMIT_LINE_STEPS;
    strbuf_appendf(&text, "{'step':'unschedulable',%s}", members);
    strbuf_appendf(&wanted, "%s", answer);
    requote(&text);
    assert_int_equal(line_answer(strbuf_str(&text), &arena, &out), good);
    if (good)
        requote(&wanted);
    if (memmem(out.p, out.n, wanted.p, wanted.n) == NULL)
        fail_msg("%s: '%.*s' does not contain '%s'", members, (int)out.n, out.p, answer);
}

/* member1, apps/v1 Deployment default/nginx */
#define NGINX                                                                                      \
    "0a076d656d6265723112250a07617070732f7631120a4465706c6f796d656e741a0764656661756c7422056e676"  \
    "96e78"
#define FIVE_MINUTES NGINX "1880f092cbdd08"
#define MINUS_ONE NGINX "18ffffffffffffffffff01"

#define TEMPLATE(hash, image)                                                                      \
    "'template':{'metadata':{'creationTimestamp':null,'labels':{" hash                             \
    "'app':'nginx'}},'spec':{'containers':[{'name':'c','image':'" image "','resources':{}}]}}"
#define DEPLOYMENT(template)                                                                       \
    "'deployments':[{'metadata':{'name':'nginx','namespace':'default','uid':'d1'},'spec':{"        \
    "'selector':{'matchLabels':{'app':'nginx'}}," template "}}]"
#define OWNER(kind, uid)                                                                           \
    "'ownerReferences':[{'kind':'" kind "','name':'x','uid':'" uid "','controller':true}]"
#define SET_OF(name, uid, created, namespace, label, owner, template)                              \
    "{'metadata':{'name':'" name "','uid':'" uid "','creationTimestamp':" created                  \
    ",'namespace':'" namespace "','labels':{'app':'" label "'}," owner "},'spec':{" template "}}"
#define SET(name, uid, created, image)                                                             \
    SET_OF(name, uid, created, "default", "nginx", OWNER("Deployment", "d1"),                      \
           TEMPLATE("'pod-template-hash':'" uid "',", image))
#define ONE_SET "'replicaSets':[" SET("rs1", "r1", "'2026-01-01T00:00:00Z'", "i") "]"
#define POD_OF(namespace, label, uid, status, reason, since)                                       \
    "{'metadata':{'name':'p','namespace':'" namespace "','labels':{'app':'" label "'}," OWNER(     \
        "ReplicaSet", uid) "},'status':{'conditions':[{'type':'Ready','status':'True'},{"          \
                           "'type':'PodScheduled','status':'" status "','reason':'" reason         \
                           "','lastTransitionTime':" since "}]}}"
#define POD(since) POD_OF("default", "nginx", "r1", "False", "Unschedulable", since)
#define NOW ",'now':'2026-01-01T01:00:00Z'"
#define ASK(pods, wire)                                                                            \
    DEPLOYMENT(TEMPLATE("", "i")) "," ONE_SET ",'pods':[" pods "]" NOW ",'wire':'" wire "'"
#define COUNT(n, hex) "{'id':null,'unschedulable':" n ",'wire':'" hex "'}"

static void pods_without_a_node(void **state) {
    (void)state;
    answers(ASK("", FIVE_MINUTES), COUNT("0", ""), true);
    answers(ASK(POD("'2026-01-01T00:50:00Z'"), FIVE_MINUTES), COUNT("1", "0801"), true);
    answers(ASK(POD("'2026-01-01T00:58:00Z'"), FIVE_MINUTES), COUNT("0", ""), true);
    answers(ASK(POD("'2026-01-01T00:50:00Z'") "," POD("'2026-01-01T00:10:00Z'"), FIVE_MINUTES),
            COUNT("2", "0802"), true);
    /* at the threshold, and a second before */
    answers(ASK(POD("'2026-01-01T00:55:00Z'"), FIVE_MINUTES), COUNT("0", ""), true);
    answers(ASK(POD("'2026-01-01T00:54:59Z'"), FIVE_MINUTES), COUNT("1", "0801"), true);
    /* a threshold below 0 is none */
    answers(ASK(POD("'2026-01-01T00:59:59Z'"), MINUS_ONE), COUNT("1", "0801"), true);
    answers(ASK(POD("'2026-01-01T01:00:00Z'"), MINUS_ONE), COUNT("0", ""), true);
    answers(ASK(POD("'2026-01-01T00:59:59Z'"), NGINX), COUNT("1", "0801"), true);
    answers(ASK(POD("null"), FIVE_MINUTES), COUNT("1", "0801"), true);
}

static void which_pods_count(void **state) {
    (void)state;
#define OLD "'2026-01-01T00:10:00Z'"
    answers(ASK(POD_OF("default", "nginx", "r1", "True", "Unschedulable", OLD), FIVE_MINUTES),
            COUNT("0", ""), true);
    answers(ASK(POD_OF("default", "nginx", "r1", "False", "SchedulingGated", OLD), FIVE_MINUTES),
            COUNT("0", ""), true);
    answers(ASK(POD_OF("other", "nginx", "r1", "False", "Unschedulable", OLD), FIVE_MINUTES),
            COUNT("0", ""), true);
    answers(ASK(POD_OF("default", "other", "r1", "False", "Unschedulable", OLD), FIVE_MINUTES),
            COUNT("0", ""), true);
    answers(ASK(POD_OF("default", "nginx", "r2", "False", "Unschedulable", OLD), FIVE_MINUTES),
            COUNT("0", ""), true);
}

#define SETS(sets)                                                                                 \
    DEPLOYMENT(TEMPLATE("", "i"))                                                                  \
    ",'replicaSets':[" sets "],'pods':[" POD(OLD) "]" NOW ",'wire':'" FIVE_MINUTES "'"
#define EARLY "'2026-01-01T00:00:00Z'"
#define LATE "'2026-01-01T00:00:01Z'"

static void which_replica_set_counts(void **state) {
    (void)state;
    const char *one = COUNT("1", "0801"), *none = COUNT("0", "");
    answers(SETS(""), none, true);
    answers(SETS(SET("rs1", "r1", EARLY, "j")), none, true);
    answers(SETS(SET("rs0", "r0", EARLY, "j") "," SET("rs1", "r1", LATE, "i")), one, true);
    /* the oldest with the template, then by name */
    answers(SETS(SET("rs0", "r0", LATE, "i") "," SET("rs1", "r1", EARLY, "i")), one, true);
    answers(SETS(SET("rs0", "r0", EARLY, "i") "," SET("rs1", "r1", LATE, "i")), none, true);
    answers(SETS(SET("rs2", "r2", EARLY, "i") "," SET("rs1", "r1", EARLY, "i")), one, true);
    answers(SETS(SET("rs0", "r0", EARLY, "i") "," SET("rs1", "r1", EARLY, "i")), none, true);
    answers(SETS(SET("rs2", "r2", EARLY, "i") "," SET("rs1", "r1", "null", "i")), one, true);
    /* of the Deployment */
#define OTHER_SET(namespace, label, owner)                                                         \
    SET_OF("rs1", "r1", EARLY, namespace, label, owner, TEMPLATE("", "i"))
    answers(SETS(OTHER_SET("default", "nginx", OWNER("Deployment", "d1"))), one, true);
    answers(SETS(OTHER_SET("other", "nginx", OWNER("Deployment", "d1"))), none, true);
    answers(SETS(OTHER_SET("default", "other", OWNER("Deployment", "d1"))), none, true);
    answers(SETS(OTHER_SET("default", "nginx", OWNER("Deployment", "d2"))), none, true);
    answers(SETS(OTHER_SET("default", "nginx", "'ownerReferences':[]")), none, true);
    /* nobody's, though neither has a uid */
    answers("'deployments':[{'metadata':{'name':'nginx','namespace':'default'},'spec':{'selector':"
            "{}}}],'replicaSets':[{'metadata':{'uid':'r1','namespace':'default'}}],'pods':[" POD(
                OLD) "]" NOW ",'wire':'" FIVE_MINUTES "'",
            none, true);
}

/* The same template in other words, and others. */
static void templates(void **state) {
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"{'metadata':{'labels':{'app':'nginx'}}}",
         "{'metadata':{'labels':{'app':'nginx',"
         "'pod-template-hash':'7'}}}",
         true},
        {"{'spec':{'a':'1','b':'2'}}", "{'spec':{'b':'2','a':'1'}}", true},
        {"{'spec':{'a':'1','b':'2'}}", "{'spec':{'a':'2','b':'1'}}", false},
        {"{'spec':{'a':null,'c':[],'nodeSelector':{}}}", "{'spec':{}}", true},
        {"{'spec':{'c':['x','y']}}", "{'spec':{'c':['y','x']}}", false},
        {"{'spec':{'c':['x',null]}}", "{'spec':{'c':['x']}}", false},
        {"{'spec':{'emptyDir':{}}}", "{'spec':{}}", false},
        {"{'spec':{'c':[{}]}}", "{'spec':{'c':[]}}", false},
        {"{'spec':{'a':1}}", "{'spec':{'a':'1'}}", false},
        {"{'spec':{'a':true}}", "{'spec':{'a':false}}", false},
        {"{'spec':{'limits':{'cpu':'1','memory':'1Ki'}}}",
         "{'spec':{'limits':{'memory':1024,'cpu':'1000m'}}}", true},
        {"{'spec':{'limits':{'cpu':'1'}}}", "{'spec':{'limits':{'cpu':'1001m'}}}", false},
        {"{'spec':{'limits':{'cpu':'1'}}}", "{'spec':{'requests':{'cpu':'1'}}}", false},
        {"{'spec':{'a':'1'}}", "{'spec':{'a':'1000m'}}", false},
        {"{'spec':{'labels':{'pod-template-hash':'7'}}}", "{'spec':{}}", false},
        {"{'spec':{'a':{'b':{'c':'d'}}}}", "{'spec':{'a':{'b':'c'}}}", false},
        {"null", "null", true},
        {"{}", "{}", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        strbuf_appendf(
            &text,
            "'deployments':[{'metadata':{'name':'nginx','namespace':'default','uid':'d1'"
            "},'spec':{'selector':{},'template':%s}}],'replicaSets':[{'metadata':{'uid':"
            "'r1','namespace':'default'," OWNER(
                "Deployment",
                "d1") "},'spec':{'template':%s}}],'pods':[" POD(OLD) "]" NOW
                                                                     ",'wire':'" FIVE_MINUTES "'%c",
            cases[i].a, cases[i].b, '\0');
        answers(text.p, cases[i].same ? COUNT("1", "0801") : COUNT("0", ""), true);
    }
}

static void what_is_refused(void **state) {
    (void)state;
    answers("'wire':'0a076d656d62657231'" NOW, "{'id':null,'error':'resource is nil'}", true);
    answers("'wire':'" NGINX "'" NOW, "'error':'deployments.apps \\'nginx\\' not found'}", true);
    answers("'wire':'" NGINX "','cluster':'m2'" NOW,
            "'error':'cluster name does not match, got: member1, desire: m2'}", true);
    answers("'wire':'" NGINX "','cluster':'member1'" NOW, "not found", true);
    /* StatefulSet default/nginx, and Deployment of apps/v2 */
    answers("'wire':'12260a07617070732f7631120b537461746566756c5365741a0764656661756c7422056e67696e"
            "78'" NOW,
            "'error':'kind(StatefulSet) of workload(default/nginx) is not supported'}", true);
    answers("'wire':'12250a07617070732f7632120a4465706c6f796d656e741a0764656661756c7422056e67696e7"
            "8'" NOW,
            "no matches for kind \\'Deployment\\' in version \\'apps/v2\\''}", true);
    answers("'now':'2026-01-01T01:00:00Z'", "question: wire is required", false);
    answers("'wire':'" NGINX "'", "question: now is required", false);
    answers("'wire':'ff'" NOW, "question.wire", false);
    answers("'wire':'" NGINX "','now':'today'", "question.now", false);
    answers("'deployments':[{'metadata':{'name':'nginx','namespace':'default'},'spec':{'selector':{"
            "'matchExpressions':[{'key':'a','operator':'Is'}]}}}],'wire':'" NGINX "'" NOW,
            "question.deployments: spec.selector", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_without_a_node),      cmocka_unit_test(which_pods_count),
        cmocka_unit_test(which_replica_set_counts), cmocka_unit_test(templates),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests_name("The step unschedulable", tests, NULL, NULL);
}
