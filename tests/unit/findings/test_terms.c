/* A pod's own terms that hold nothing, or that an API server would refuse. Expected: kubernetes
 * pkg/apis/core/validation (v1.36). */
#include "findings/terms.h"

#include "base/limits.h"
#include "base/suggest.h"
#include "findings/workload.h"
#include "unit/unit.h"

#include <stdio.h>

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 22);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void read_pod(const char *spec, struct str *ret_json, struct pod *ret) {
    struct json_reader r;
    struct err err = {0};
    struct strbuf text = {0};
    strbuf_append_str(&text, STR("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                                 "\"p\",\"labels\":{\"app\":\"web\"}},\"spec\":{"));
    for (; *spec != '\0'; spec++)
        strbuf_append_char(&text, *spec == '\'' ? '"' : *spec);
    strbuf_append_str(&text, STR("}}"));
    *ret_json = arena_str(&arena, strbuf_str(&text));
    strbuf_done(&text);
    json_reader_init(&r, *ret_json, &arena, "Pod");
    pod_decode(&r, POD_SCORED, ret);
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
}

/* `want`: "CODE PATH|...", by path */
static void check(const char *spec, const char *want) {
    struct findings f = {.arena = &arena};
    CLEANUP(strbuf_done) struct strbuf said = {0};
    struct str json;
    struct pod pod;
    read_pod(spec, &json, &pod);
    assert_int_equal(findings_of_workload(json, &pod, STR("spec"), &f), 0);
    for (uint32_t i = 0; i < f.count; i++) {
        strbuf_appendf(&said, "%s%s %.*s", i > 0 ? "|" : "", finding_kinds[f.items[i].code].code,
                       STR_ARG(f.items[i].path));
        assert_true(f.items[i].remedy.n > 0);
    }
    assert_str(strbuf_str(&said), want);
}

#define CONSTRAINT(more)                                                                           \
    "{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'" more "}"
#define OWN ",'labelSelector':{'matchLabels':{'app':'web'}}"
#define SPREAD(items) "'topologySpreadConstraints':[" items "]"
#define AT "spec.topologySpreadConstraints"

static void selectors(void **state) {
    (void)state;
    check("", "");
    check(SPREAD(CONSTRAINT(OWN)), "");
    check(SPREAD(CONSTRAINT(",'labelSelector':{}")), "");
    check(SPREAD(CONSTRAINT("")), "SelectorMissesPod " AT "[0].labelSelector");
    check(SPREAD(CONSTRAINT(",'labelSelector':{'matchLabels':{'app':'wbe'}}")),
          "SelectorMissesPod " AT "[0].labelSelector");
    check(SPREAD(CONSTRAINT(OWN) "," CONSTRAINT(
              ",'labelSelector':{'matchExpressions':[{'key':'tier','operator':'Exists'}]}")),
          "Invalid " AT "[1]|SelectorMissesPod " AT "[1].labelSelector");
    /* keys whose values the pod's controller gives are no difference */
    check(SPREAD(CONSTRAINT(OWN ",'matchLabelKeys':['pod-template-hash']")), "");
}

#define IN(value) "{'key':'app','operator':'In','values':['" value "']}"
#define KEYED(expressions)                                                                         \
    ",'labelSelector':{'matchExpressions':[" expressions "]},'matchLabelKeys':['app']"

/* A pod that an API server gives has each of its matchLabelKeys in the selector, too. */
static void pods_as_stored(void **state) {
    (void)state;
    check(SPREAD(CONSTRAINT(KEYED(IN("web")))), "");
    check(SPREAD(CONSTRAINT(KEYED(IN("wbe")))),
          "Invalid " AT "[0]|SelectorMissesPod " AT "[0].labelSelector");
}

static void refused_values(void **state) {
    (void)state;
    check(SPREAD("{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'ScheduleAnyway',"
                 "'minDomains':2" OWN "}"),
          "Invalid " AT "[0].minDomains");
    check(SPREAD("{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'ScheduleAnyway',"
                 "'minDomains':1" OWN "}"),
          "Invalid " AT "[0].minDomains");
    check(SPREAD("{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'ScheduleAnyway',"
                 "'minDomains':null" OWN "}"),
          "");
    check(SPREAD(CONSTRAINT(OWN ",'minDomains':2")), "");
    check(SPREAD(CONSTRAINT(",'matchLabelKeys':['a']")),
          "Invalid " AT "[0]|SelectorMissesPod " AT "[0].labelSelector");
    check(SPREAD(CONSTRAINT(OWN ",'matchLabelKeys':['app']")), "Invalid " AT "[0]");
    check(SPREAD(CONSTRAINT(KEYED(IN("web") "," IN("web")))), "Invalid " AT "[0]");
    check(SPREAD(CONSTRAINT(KEYED("{'key':'app','operator':'Exists'}"))), "Invalid " AT "[0]");
    check(SPREAD(CONSTRAINT(OWN) ",{'maxSkew':2,'topologyKey':'zone','whenUnsatisfiable':"
                                 "'ScheduleAnyway'" OWN "}"),
          "");
    check(SPREAD(CONSTRAINT(OWN) "," CONSTRAINT(OWN)), "Invalid " AT "[1]");
}

#define EXPRESSION(text) ",'labelSelector':{'matchExpressions':[" text "]}"
#define AFFINITY(text) "'affinity':{" text "}"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static void refused_selectors(void **state) {
    (void)state;
    check(SPREAD(CONSTRAINT(EXPRESSION("{'key':'app','operator':'Inn','values':['web']}"))),
          "Invalid " AT "[0].labelSelector");
    check(SPREAD(CONSTRAINT(EXPRESSION("{'key':'app','operator':'In','values':[]}"))),
          "Invalid " AT "[0].labelSelector");
    check(SPREAD(CONSTRAINT(EXPRESSION("{'key':'app','operator':'Exists','values':['a']}"))),
          "Invalid " AT "[0].labelSelector");
    check(SPREAD(CONSTRAINT(",'labelSelector':{'matchLabels':{'app':'my web'}}")),
          "Invalid " AT "[0].labelSelector");
    check(AFFINITY("'nodeAffinity':{'" REQUIRED "':{'nodeSelectorTerms':[{'matchExpressions':"
                   "[{'key':'a','operator':'Gt','values':['1']},{'key':'a','operator':'Is'}]}]}}"),
          "Invalid spec.affinity.nodeAffinity." REQUIRED
          ".nodeSelectorTerms[0].matchExpressions[1].operator");
    check(AFFINITY("'podAntiAffinity':{'" REQUIRED "':[{'topologyKey':'zone','labelSelector':"
                   "{'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}}]}"),
          "Invalid spec.affinity.podAntiAffinity." REQUIRED
          "[0].labelSelector.matchExpressions[0].operator");
}

#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define NODES "spec.affinity.nodeAffinity."
#define NODE_TERMS(terms)                                                                          \
    AFFINITY("'nodeAffinity':{'" REQUIRED "':{'nodeSelectorTerms':[" terms "]}}")
#define NODE_EXPRESSION(text) NODE_TERMS("{},{'matchExpressions':[{'key':'a'," text "}]}")
#define NODE_FIELD(text) NODE_TERMS("{'matchFields':[{" text "}]}")
#define NODE_PREFERENCE(weight, text)                                                              \
    AFFINITY("'nodeAffinity':{'" PREFERRED "':[{'weight':" weight                                  \
             ",'preference':{'matchExpressions':[{" text "}]}}]}")

static void terms_on_nodes(void **state) {
    static const char at[] = "Invalid " NODES REQUIRED ".nodeSelectorTerms[1].matchExpressions[0]";
    (void)state;
    check(NODE_EXPRESSION("'operator':'In','values':['b','']"), "");
    check(NODE_EXPRESSION("'operator':'In'"), at);
    check(NODE_EXPRESSION("'operator':'NotIn','values':[]"), at);
    check(NODE_EXPRESSION("'operator':'Exists','values':['b']"), at);
    check(NODE_EXPRESSION("'operator':'DoesNotExist','values':['b']"), at);
    check(NODE_EXPRESSION("'operator':'Gt','values':[]"), at);
    check(NODE_EXPRESSION("'operator':'Lt','values':['1','2']"), at);
    check(NODE_EXPRESSION("'operator':'Lt','values':['-1']"), at); /* no label value */
    check(NODE_EXPRESSION("'operator':'Gt','values':['many']"), at);
    check(NODE_EXPRESSION("'operator':'In','values':['b c']"), at);
    check(NODE_EXPRESSION("'values':['b']"), at);
    check(NODE_TERMS("{'matchExpressions':[{'key':'a b','operator':'Exists'}]}"),
          "Invalid " NODES REQUIRED ".nodeSelectorTerms[0].matchExpressions[0]");
    check(NODE_TERMS(""), "Invalid " NODES REQUIRED ".nodeSelectorTerms");
    check(AFFINITY("'nodeAffinity':{'" REQUIRED "':null}"), "");
    check(NODE_FIELD("'key':'metadata.name','operator':'In','values':['n.1']"), "");
}

static void fields_of_nodes(void **state) {
#define FIELD "Invalid " NODES REQUIRED ".nodeSelectorTerms[0].matchFields[0]"
    (void)state;
    check(NODE_FIELD("'key':'metadata.name','operator':'NotIn','values':['n']"), "");
    check(NODE_FIELD("'key':'metadata.uid','operator':'In','values':['n']"), FIELD ".key");
    check(NODE_FIELD("'key':'metadata.name','operator':'Exists','values':['n']"),
          FIELD ".operator");
    check(NODE_FIELD("'key':'metadata.name','operator':'In'"), FIELD ".values");
    check(NODE_FIELD("'key':'metadata.name','operator':'In','values':['n','m']"), FIELD ".values");
    check(NODE_FIELD("'key':'metadata.name','operator':'In','values':['N']"), FIELD ".values");
}

static void preferences_of_nodes(void **state) {
    (void)state;
    check(NODE_PREFERENCE("1", "'key':'a','operator':'Exists'"), "");
    check(NODE_PREFERENCE("100", "'key':'a','operator':'Exists'"), "");
    check(NODE_PREFERENCE("0", "'key':'a','operator':'Exists'"),
          "Invalid " NODES PREFERRED "[0].weight");
    check(NODE_PREFERENCE("101", "'key':'a','operator':'Exists'"),
          "Invalid " NODES PREFERRED "[0].weight");
    check(NODE_PREFERENCE("-1", "'key':'a','operator':'Exists'"),
          "Invalid " NODES PREFERRED "[0].weight");
    check(NODE_PREFERENCE("5", "'key':'a','operator':'Exists','values':['b']"),
          "Invalid " NODES PREFERRED "[0].preference.matchExpressions[0]");
}

#define PODS(terms) AFFINITY("'podAffinity':{'" REQUIRED "':[" terms "]}")
#define PODS_PREFERRED(weight, term)                                                               \
    AFFINITY("'podAntiAffinity':{'" PREFERRED "':[{'weight':" weight ",'podAffinityTerm':{" term   \
             "}}]}")
#define PODS_AT "Invalid spec.affinity.podAffinity." REQUIRED

static void terms_on_pods(void **state) {
    (void)state;
    check(PODS("{'topologyKey':'zone'},{'topologyKey':'zone','labelSelector':{'matchLabels':{'a':"
               "'b'}},'namespaceSelector':{}}"),
          "");
    check(PODS("{'labelSelector':{}}"), PODS_AT "[0].topologyKey");
    check(PODS("{'topologyKey':'a zone'}"), PODS_AT "[0].topologyKey");
    check(PODS("{'topologyKey':'zone','labelSelector':{'matchLabels':{'a':'b c'}}}"),
          PODS_AT "[0].labelSelector.matchLabels");
    check(PODS("{'topologyKey':'zone','labelSelector':{'matchLabels':{'a b':'c'}}}"),
          PODS_AT "[0].labelSelector.matchLabels");
    check(PODS("{'topologyKey':'zone','namespaceSelector':{'matchExpressions':[{'key':'a',"
               "'operator':'In'}]}}"),
          PODS_AT "[0].namespaceSelector.matchExpressions[0]");
    check(PODS("{'topologyKey':'zone','labelSelector':{'matchLabels':{'a':'b'}},"
               "'matchLabelKeys':['a']}"),
          PODS_AT "[0]");
    check(PODS("{'topologyKey':'zone','matchLabelKeys':['a']}"), PODS_AT "[0]");
}

static void preferences_of_pods(void **state) {
#define PREFERENCE "Invalid spec.affinity.podAntiAffinity." PREFERRED "[0]"
    (void)state;
    check(PODS_PREFERRED("1", "'topologyKey':'zone'"), "");
    check(PODS_PREFERRED("100", "'topologyKey':'zone'"), "");
    check(PODS_PREFERRED("0", "'topologyKey':'zone'"), PREFERENCE ".weight");
    check(PODS_PREFERRED("101", "'topologyKey':'zone'"), PREFERENCE ".weight");
    check(PODS_PREFERRED("1", ""), PREFERENCE ".podAffinityTerm.topologyKey");
}

static void tolerations(void **state) {
    (void)state;
    check("'tolerations':[{'operator':'Exists'},{'key':'a','value':'b','effect':'NoSchedule'},"
          "{'key':'a','operator':'Exists','effect':'NoExecute','tolerationSeconds':3}]",
          "");
    check("'tolerations':[{'key':'a','operator':'Exist'}]", "Invalid spec.tolerations[0].operator");
    check("'tolerations':[{'key':'a'},{'key':'a','effect':'NoScedule'}]",
          "Invalid spec.tolerations[1].effect");
    check("'tolerations':[{'value':'a'}]", "Invalid spec.tolerations[0]");
    check("'tolerations':[{'key':'a','operator':'Exists','value':'b'}]",
          "Invalid spec.tolerations[0]");
    check("'tolerations':[{'key':'a b','operator':'Exists'},{'key':'x/y/z'},{'key':'x/y'}]",
          "Invalid spec.tolerations[0].key|Invalid spec.tolerations[1].key");
    check("'tolerations':[{'key':'a','value':'b c'},{'key':'a','operator':'Equal','value':'-'}]",
          "Invalid spec.tolerations[0].value|Invalid spec.tolerations[1].value");
}

/* Only pods have these rules, and null is no tolerationSeconds. */
static void toleration_seconds(void **state) {
    (void)state;
    check("'tolerations':[{'key':'a','effect':'NoExecute','tolerationSeconds':0},"
          "{'key':'a','effect':'NoSchedule','tolerationSeconds':null}]",
          "");
    check("'tolerations':[{'key':'a','effect':'NoSchedule','tolerationSeconds':0},"
          "{'key':'a','tolerationSeconds':-1}]",
          "Invalid spec.tolerations[0].tolerationSeconds|"
          "Invalid spec.tolerations[1].tolerationSeconds");
}

/* Where the feature gate TaintTolerationComparisonOperators is on. */
static void compared_tolerations(void **state) {
    static const char *const right[] = {"0", "7", "-1", "9223372036854775807"},
                             *const wrong[] = {"",   "x", "01",  "-0",
                                               "+1", "-", "1.5", "9223372036854775808"};
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "'tolerations':[{'key':'a','operator':'%s','value':'%s'}]",
                       i % 2 == 0 ? "Gt" : "Lt", right[i]);
        check(text, "");
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "'tolerations':[{'key':'a','operator':'%s','value':'%s'}]",
                       i % 2 == 0 ? "Gt" : "Lt", wrong[i]);
        check(text, "Invalid spec.tolerations[0].value");
    }
}

/* Looking for mistakes ends in time, however many there are. */
static void very_many_mistakes(void **state) {
    enum { MANY = 20000, WORDS = 2 };
    struct toleration *items = arena_array(&arena, MANY, sizeof *items);
    struct arena own;
    struct findings f;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        items[i] = (struct toleration){.key = STR("a"), .op = STR("Exit"), .effect = STR("No")};
    findings_init(&f, &own);
    findings_of_tolerations((struct tolerations){items, MANY}, TOLERATIONS_OF_PODS,
                            STR("spec.tolerations"), &f);
    assert_int_equal(f.count, LIMIT_FINDINGS);
    assert_in_range(f.omitted, 1, LIMIT_FINDINGS_STEPS / SUGGESTION_STEPS / WORDS);
    arena_done(&own);
}

/* Many keys beside many requirements are compared within the steps, and the last key is found. */
static void very_many_keys(void **state) {
    enum { MANY = 20000 };
    struct str *keys = arena_array(&arena, MANY, sizeof *keys);
    struct label_expression *expressions = arena_array(&arena, MANY, sizeof *expressions);
    struct spread_constraint c = {.topology_key = STR("zone"), .hard = true};
    struct arena own;
    struct findings f;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "k%u", i);
        keys[MANY - 1 - i] = arena_str(&arena, str_of(text));
        (void)snprintf(text, sizeof text, "%s%u", i == 0 ? "k" : "r", i);
        expressions[i] = (struct label_expression){.key = arena_str(&arena, str_of(text)),
                                                   .op = STR("DoesNotExist")};
    }
    c.match_label_keys = keys;
    c.match_label_key_count = MANY;
    c.selector = (struct label_selector){
        .present = true, .expressions = expressions, .expression_count = MANY};
    const struct pod pod = {.constraints = &c, .constraint_count = 1};
    findings_init(&f, &own);
    findings_of_pod(&pod, STR("spec"), &f);
    assert_int_equal(f.count, 1);
    assert_str(f.items[0].path, AT "[0]");
    arena_done(&own);
}

static void says_the_label(void **state) {
    struct findings f = {.arena = &arena};
    struct str json;
    struct pod pod;
    (void)state;
    read_pod(SPREAD(CONSTRAINT(",'labelSelector':{'matchLabels':{'app':'wbe'}}")), &json, &pod);
    findings_of_pod(&pod, STR("spec.template.spec"), &f);
    assert_int_equal(f.count, 1);
    assert_str(f.items[0].path, "spec.template.spec.topologySpreadConstraints[0].labelSelector");
    assert_str(f.items[0].message,
               "the labelSelector does not select the pod itself, which has no label 'app: wbe': "
               "the constraint counts none of these pods");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selectors, setup, teardown),
        cmocka_unit_test_setup_teardown(pods_as_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_values, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_selectors, setup, teardown),
        cmocka_unit_test_setup_teardown(terms_on_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_of_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(preferences_of_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(terms_on_pods, setup, teardown),
        cmocka_unit_test_setup_teardown(preferences_of_pods, setup, teardown),
        cmocka_unit_test_setup_teardown(tolerations, setup, teardown),
        cmocka_unit_test_setup_teardown(toleration_seconds, setup, teardown),
        cmocka_unit_test_setup_teardown(compared_tolerations, setup, teardown),
        cmocka_unit_test_setup_teardown(very_many_mistakes, setup, teardown),
        cmocka_unit_test_setup_teardown(very_many_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(says_the_label, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
