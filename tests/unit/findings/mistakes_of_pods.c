/* A pod's own terms: selectors that miss it, and values that an API server refuses. */
#include "unit/findings/mistakes.h"

#include <stdio.h>
#include <string.h>

/* Returns one of a pod's constraints at random, with its index. */
static cJSON *draw_constraint(struct drawn *d, uint32_t *ret) {
    cJSON *all = drawn_of_pod(d, "topologySpreadConstraints");
    *ret = drawn_below(d, (uint32_t)cJSON_GetArraySize(all));
    return cJSON_GetArrayItem(all, (int)*ret);
}

static void want_in_constraint(struct drawn *d, enum finding_code code, uint32_t i,
                               const char *behind, const char *remedy) {
    drawn_want(d, code, remedy, "%s.topologySpreadConstraints[%u]%s", d->spec, i, behind);
}

/* ---- selectors ---- */

static void miss_pod(struct drawn *d) {
    static const char *const selectors[] = {
        "{'matchLabels':{'app':'wbe'}}",
        "{'matchLabels':{'App':'web'}}",
        "{'matchLabels':{'app':'web','tier':'front','more':'x'}}",
        "{'matchExpressions':[{'key':'app','operator':'NotIn','values':['x','web']}]}",
        "{'matchExpressions':[{'key':'app','operator':'In','values':['x','y']}]}",
        "{'matchExpressions':[{'key':'gone','operator':'Exists'}]}",
        "{'matchExpressions':[{'key':'tier','operator':'DoesNotExist'}]}",
        "{'matchLabels':{'app':'web'},'matchExpressions':[{'key':'gone','operator':'Exists'}]}",
    };
    uint32_t i;
    cJSON *c = draw_constraint(d, &i);
    drawn_set(c, "labelSelector",
              drawn_json(selectors[drawn_below(d, sizeof selectors / sizeof selectors[0])]));
    want_in_constraint(d, FINDING_SELECTOR_MISSES_POD, i, ".labelSelector",
                       "Select labels that the pod has");
}

static void have_no_selector(struct drawn *d) {
    uint32_t i;
    cJSON *c = draw_constraint(d, &i);
    cJSON_DeleteItemFromObjectCaseSensitive(c, "labelSelector");
    want_in_constraint(d, FINDING_SELECTOR_MISSES_POD, i, ".labelSelector", "Add a labelSelector");
    if (cJSON_HasObjectItem(c, "matchLabelKeys"))
        want_in_constraint(d, FINDING_INVALID, i, "", "Add a labelSelector");
}

/* Beside nodes a file with such a selector is refused. */
static void forget_state(struct drawn *d) {
    cJSON_Delete(d->state);
    d->state = NULL;
}

static void refuse_selector(struct drawn *d) {
    static const char *const selectors[] = {
        "{'matchLabels':{'app':'my web'}}",
        "{'matchLabels':{'-app':'web'}}",
        "{'matchExpressions':[{'key':'app','operator':'in','values':['web']}]}",
        "{'matchExpressions':[{'key':'app','operator':'NotIn','values':[]}]}",
        "{'matchExpressions':[{'key':'app','operator':'DoesNotExist','values':['a']}]}",
    };
    uint32_t i;
    cJSON *c = draw_constraint(d, &i);
    drawn_set(c, "labelSelector",
              drawn_json(selectors[drawn_below(d, sizeof selectors / sizeof selectors[0])]));
    want_in_constraint(d, FINDING_INVALID, i, ".labelSelector", "Write valid labels");
    forget_state(d);
}

/* An operator of an affinity's expression. */
static void misspell_operator(struct drawn *d) {
    static struct place places[DRAWN_PLACES];
    static char remedy[64];
    const struct place *p;
    char wrong[64];
    do
        p = &places[drawn_below(d, drawn_places(d, places))];
    while (strstr(p->path, ".affinity.") == NULL || !cJSON_HasObjectItem(p->object, "operator"));
    const char *right = drawn_below(d, 2) == 0 ? "Exists" : "DoesNotExist";
    drawn_misspell(d, right, wrong, sizeof wrong);
    (void)snprintf(remedy, sizeof remedy, "Write %s", right);
    drawn_set_text(p->object, "operator", wrong);
    drawn_want(d, FINDING_INVALID, remedy, "%s.operator", p->path);
    forget_state(d);
}

/* ---- affinities ---- */

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution[0]"
#define NODE_TERMS "nodeAffinity." REQUIRED ".nodeSelectorTerms"
#define REQUIREMENT "Write a label key, and values that fit"
#define A_NODE "Write the name of one node"

/* The member of the affinity's object at `path` becomes `value`. */
struct refused {
    const char *path, *member, *value;
    const char *wanted, *remedy; /* the finding's path, within the affinity */
};

static void refuse_of_affinity(struct drawn *d, const struct refused *row) {
    char path[DRAWN_PATH];
    (void)snprintf(path, sizeof path, "%s.affinity.%s", d->spec, row->path);
    drawn_set(drawn_at(d, path), row->member, drawn_json(row->value));
    drawn_want(d, FINDING_INVALID, row->remedy, "%s.affinity.%s", d->spec, row->wanted);
    forget_state(d);
}

static void refuse_node_term(struct drawn *d) {
    static const struct refused rows[] = {
        {NODE_TERMS "[0].matchExpressions[0]", "values", "[]", NODE_TERMS "[0].matchExpressions[0]",
         REQUIREMENT},
        {NODE_TERMS "[0].matchExpressions[0]", "operator", "'Gt'",
         NODE_TERMS "[0].matchExpressions[0]", REQUIREMENT},
        {NODE_TERMS "[0].matchExpressions[0]", "operator", "'DoesNotExist'",
         NODE_TERMS "[0].matchExpressions[0]", REQUIREMENT},
        {NODE_TERMS "[0].matchExpressions[0]", "key", "'a/b/c'",
         NODE_TERMS "[0].matchExpressions[0]", REQUIREMENT},
        {NODE_TERMS "[0]", "matchFields",
         "[{'key':'metadata.name','operator':'In','values':['a','b']}]",
         NODE_TERMS "[0].matchFields[0].values", A_NODE},
        {NODE_TERMS "[0]", "matchFields",
         "[{'key':'metadata.labels','operator':'In','values':['a']}]",
         NODE_TERMS "[0].matchFields[0].key", "Write metadata.name"},
        {"nodeAffinity." REQUIRED, "nodeSelectorTerms", "[]", NODE_TERMS, "Add a term"},
        {"nodeAffinity." PREFERRED, "weight", "0", "nodeAffinity." PREFERRED ".weight",
         "Write a weight"},
        {"nodeAffinity." PREFERRED, "weight", "101", "nodeAffinity." PREFERRED ".weight",
         "Write a weight"},
        {"nodeAffinity." PREFERRED ".preference.matchExpressions[0]", "values", "['a']",
         "nodeAffinity." PREFERRED ".preference.matchExpressions[0]", REQUIREMENT},
    };
    refuse_of_affinity(d, &rows[drawn_below(d, sizeof rows / sizeof rows[0])]);
}

static void refuse_pod_term(struct drawn *d) {
    static const struct refused rows[] = {
        {"podAffinity." PREFERRED, "weight", "101", "podAffinity." PREFERRED ".weight",
         "Write a weight"},
        {"podAffinity." PREFERRED, "weight", "-3", "podAffinity." PREFERRED ".weight",
         "Write a weight"},
        {"podAffinity." PREFERRED ".podAffinityTerm", "topologyKey", "''",
         "podAffinity." PREFERRED ".podAffinityTerm.topologyKey", "Write a label of nodes"},
        {"podAffinity." PREFERRED ".podAffinityTerm.labelSelector", "matchLabels", "{'app':'d b'}",
         "podAffinity." PREFERRED ".podAffinityTerm.labelSelector.matchLabels",
         "Write labels that a pod can have"},
        {"podAntiAffinity." REQUIRED "[0]", "topologyKey", "'a b'",
         "podAntiAffinity." REQUIRED "[0].topologyKey", "Write a label of nodes"},
        {"podAntiAffinity." REQUIRED "[0].labelSelector.matchExpressions[0]", "values", "[]",
         "podAntiAffinity." REQUIRED "[0].labelSelector.matchExpressions[0]", REQUIREMENT},
        {"podAntiAffinity." REQUIRED "[0].namespaceSelector", "matchExpressions",
         "[{'key':'a','operator':'Exists','values':['b']}]",
         "podAntiAffinity." REQUIRED "[0].namespaceSelector.matchExpressions[0]", REQUIREMENT},
        {"podAntiAffinity." REQUIRED "[0]", "matchLabelKeys", "['app']",
         "podAntiAffinity." REQUIRED "[0]", "Remove it from one of them"},
    };
    refuse_of_affinity(d, &rows[drawn_below(d, sizeof rows / sizeof rows[0])]);
}

/* ---- constraints ---- */

static void have_min_domains(struct drawn *d) {
    uint32_t i;
    cJSON *c = draw_constraint(d, &i);
    drawn_set_text(c, "whenUnsatisfiable", "ScheduleAnyway");
    drawn_set(c, "minDomains", cJSON_CreateNumber(1 + drawn_below(d, 4)));
    want_in_constraint(d, FINDING_INVALID, i, ".minDomains", "Remove it, or write");
}

static void select_twice(struct drawn *d) {
    uint32_t i;
    cJSON *c = draw_constraint(d, &i);
    const bool by_expression = drawn_below(d, 2) == 0;
    drawn_set(c, "labelSelector",
              drawn_json(by_expression ? "{'matchExpressions':[{'key':'tier','operator':'Exists'}]}"
                                       : "{'matchLabels':{'tier':'front'}}"));
    drawn_set(c, "matchLabelKeys", drawn_json("['pod-template-hash','tier']"));
    want_in_constraint(d, FINDING_INVALID, i, "", "Remove it from one of them");
}

/* A constraint stands a second time, with another skew. */
static void repeat(struct drawn *d) {
    cJSON *all = drawn_of_pod(d, "topologySpreadConstraints");
    uint32_t i;
    cJSON *copy = cJSON_Duplicate(draw_constraint(d, &i), true);
    drawn_set(copy, "maxSkew", cJSON_CreateNumber(3));
    want_in_constraint(d, FINDING_INVALID, (uint32_t)cJSON_GetArraySize(all), "",
                       "Remove one of them");
    assert_true(cJSON_AddItemToArray(all, copy));
}

/* ---- tolerations ---- */

static const char *list_of(const struct drawn *d, char path[DRAWN_PATH]) {
    (void)snprintf(path, DRAWN_PATH, "%s.%s", d->spec != NULL ? d->spec : "spec",
                   d->subject == SUBJECT_BINDING || d->subject == SUBJECT_PROPAGATION
                       ? "placement.clusterTolerations"
                       : "tolerations");
    return path;
}

/* Adds a toleration at the end, and returns its path. */
static const char *tolerate(struct drawn *d, const char *text, char ret[2 * DRAWN_PATH]) {
    char path[DRAWN_PATH];
    cJSON *all = drawn_at(d, list_of(d, path));
    (void)snprintf(ret, (size_t)2 * DRAWN_PATH, "%s[%d]", path, cJSON_GetArraySize(all));
    assert_true(cJSON_AddItemToArray(all, drawn_json(text)));
    return ret;
}

/* A word of a toleration is misspelt. A Placement with such an effect is refused. */
static void misspell_toleration(struct drawn *d) {
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    static const char *const operators[] = {"Equal", "Exists"};
    static char remedy[64];
    char word[64], text[256], at[2 * DRAWN_PATH];
    const bool is_effect = d->subject != SUBJECT_PLACEMENT && drawn_below(d, 2) == 0;
    const char *right = is_effect ? effects[drawn_below(d, 3)] : operators[drawn_below(d, 2)];
    drawn_misspell(d, right, word, sizeof word);
    (void)snprintf(remedy, sizeof remedy, "Write %s", right);
    (void)snprintf(text, sizeof text, "{'key':'k','%s':'%s'}", is_effect ? "effect" : "operator",
                   word);
    drawn_want(d, FINDING_INVALID, remedy, "%s.%s", tolerate(d, text, at),
               is_effect ? "effect" : "operator");
}

static void combine(struct drawn *d) {
    static const struct {
        const char *text, *remedy;
    } rows[] = {
        {"{'operator':'Equal','value':'a'}", "Write operator: Exists, or a key"},
        {"{'effect':'NoSchedule'}", "Write operator: Exists, or a key"},
        {"{'key':'a','operator':'Exists','value':'b'}", "Remove the value"},
    };
    const uint32_t i = drawn_below(d, sizeof rows / sizeof rows[0]);
    char at[2 * DRAWN_PATH];
    drawn_want(d, FINDING_INVALID, rows[i].remedy, "%s", tolerate(d, rows[i].text, at));
}

static void refuse_part(struct drawn *d) {
    static const struct {
        const char *text, *part, *remedy;
    } rows[] = {
        {"{'key':'a b','operator':'Exists'}", "key", "Write the key of a taint"},
        {"{'key':'/a','value':'b'}", "key", "Write the key of a taint"},
        {"{'key':'a','value':'b c'}", "value", "Write the value of a taint"},
        {"{'key':'a','operator':'Gt','value':'many'}", "value", "Write a whole number"},
        {"{'key':'a','operator':'Lt'}", "value", "Write a whole number"},
        {"{'key':'a','effect':'NoSchedule','tolerationSeconds':3}", "tolerationSeconds",
         "Remove it, or write effect: NoExecute"},
        {"{'operator':'Exists','tolerationSeconds':0}", "tolerationSeconds",
         "Remove it, or write effect: NoExecute"},
    };
    const uint32_t i = drawn_below(d, sizeof rows / sizeof rows[0]);
    char at[2 * DRAWN_PATH];
    drawn_want(d, FINDING_INVALID, rows[i].remedy, "%s.%s", tolerate(d, rows[i].text, at),
               rows[i].part);
}

const struct mistake mistakes_of_pods[] = {
    {"a selector that misses the pod", FINDING_SELECTOR_MISSES_POD, OF_WORKLOADS, false, miss_pod},
    {"no selector", FINDING_SELECTOR_MISSES_POD, OF_WORKLOADS, false, have_no_selector},
    {"a selector that is refused", FINDING_INVALID, OF_WORKLOADS, false, refuse_selector},
    {"an operator of an affinity", FINDING_INVALID, OF_WORKLOADS, false, misspell_operator},
    {"a term on nodes", FINDING_INVALID, OF_WORKLOADS, false, refuse_node_term},
    {"a term on pods", FINDING_INVALID, OF_WORKLOADS, false, refuse_pod_term},
    {"minDomains of a soft constraint", FINDING_INVALID, OF_WORKLOADS, false, have_min_domains},
    {"a key in selector and matchLabelKeys", FINDING_INVALID, OF_WORKLOADS, false, select_twice},
    {"a constraint twice", FINDING_INVALID, OF_WORKLOADS, false, repeat},
    {"a word of a toleration", FINDING_INVALID, OF_WORKLOADS | OF_PLACEMENTS | OF_BINDINGS, false,
     misspell_toleration},
    {"a toleration that cannot be", FINDING_INVALID, OF_WORKLOADS, false, combine},
    {"a part of a toleration", FINDING_INVALID, OF_WORKLOADS, false, refuse_part},
    {.name = NULL},
};
