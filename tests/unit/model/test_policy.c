/* TopologyPolicy: decoding, what cannot work, order and matching. */
#include "model/policy.h"

#include "unit/model/decoding.h"
#include "yaml/yaml.h"

#include <stdio.h>

#define PODS(members) "\"pods\":{" members "}"
#define MATCH(members) "\"match\":{" members "}"
#define SPREAD                                                                                     \
    PODS("\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]")
#define POLICY(spec) "{\"metadata\":{\"name\":\"p\"},\"spec\":{" spec "}}"

static struct policy decode(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct policy policy;
    policy_decode(&r, &policy);
    decoding_good(&r);
    return policy;
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    struct policy p = decode(POLICY(SPREAD));
    assert_str(p.name, "p");
    assert_int_equal(p.mode, POLICY_ENFORCE);
    assert_int_equal(p.priority, 0);
    assert_int_equal(p.owner_count + p.scheduler_count + p.group_by.label_count, 0);
    assert_int_equal(p.group_by.unit, POLICY_UNIT_AUTO);
    assert_false(p.excludes_namespaces || p.excludes_objects || p.replace_defaults);
    assert_false(p.namespaces.nothing || p.objects.nothing);
    assert_int_equal(p.namespaces.count + p.objects.count, 0);
    assert_int_equal(p.spread_count, 1);
    assert_int_equal(p.spread[0].max_skew, 1);
    assert_int_equal(p.spread[0].min_domains, 0);
    assert_false(p.spread[0].hard);
    assert_int_equal(p.spread[0].node_affinity, POLICY_INCLUSION_DEFAULT);
    assert_int_equal(p.locality, POLICY_LOCALITY_NOT_GIVEN);
    assert_int_equal(p.keep_others_off, 0);
    assert_false(p.has_weights);
    assert_int_equal(p.spread_weight, 50);
    assert_int_equal(p.locality_weight, 50);
    assert_str(p.problem, "");
}

/* As an API server sends it. */
static void every_field_is_read(void **state) {
    (void)state;
    struct policy p = decode(
        "{\"apiVersion\":\"evenkeel.io/v1alpha1\",\"kind\":\"TopologyPolicy\",\"metadata\":{"
        "\"name\":\"web\",\"uid\":\"u\",\"generation\":3,\"managedFields\":[{}]},\"status\":{"
        "\"x\":1},\"spec\":{\"priority\":-7,\"mode\":\"Audit\",\"match\":{\"namespaceSelector\":{"
        "\"matchLabels\":{\"a\":\"b\"}},\"objectSelector\":{\"matchExpressions\":[{\"key\":"
        "\"tier\",\"operator\":\"In\",\"values\":[\"web\",\"api\"]}]},\"ownerKinds\":[{\"group\":"
        "\"apps\",\"kind\":\"Deployment\"},{\"kind\":\"Pod\"}],\"exclude\":{\"namespaceSelector\":{"
        "\"matchLabels\":{\"c\":\"d\"}},\"objectSelector\":{\"matchLabels\":{\"e\":\"f\"}}}},"
        "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"maxSkew\":2,"
        "\"minDomains\":3,\"whenUnsatisfiable\":\"DoNotSchedule\",\"nodeAffinityPolicy\":"
        "\"Ignore\",\"nodeTaintsPolicy\":\"Honor\"}],\"replaceDefaults\":true,\"groupBy\":{"
        "\"labels\":[\"app\",\"role\"],\"unit\":\"Pod\"},\"locality\":{\"mode\":\"Required\","
        "\"weight\":50,\"tiers\":[{\"topologyKey\":\"zone\",\"weight\":25}],"
        "\"keepOthersOffCacheNodes\":{\"mode\":\"Preferred\",\"weight\":7}},\"weights\":{"
        "\"spread\":0,\"locality\":1000},\"schedulerNames\":[\"default-scheduler\",\"mine\"]}}}");
    assert_int_equal(p.mode, POLICY_AUDIT);
    assert_str(p.owners[0].group, "apps");
    assert_str(p.owners[0].kind, "Deployment");
    assert_int_equal(p.owner_count, 2);
    assert_str(p.owners[1].group, "");
    assert_true(p.excludes_namespaces && p.excludes_objects);
    assert_str(p.not_namespaces.items[0].key, "c");
    assert_str(p.not_objects.items[0].key, "e");
    assert_true(p.replace_defaults);
    assert_int_equal(p.group_by.label_count, 2);
    assert_str(p.group_by.labels[1], "role");
    assert_int_equal(p.group_by.unit, POLICY_UNIT_POD);
    assert_int_equal(p.scheduler_count, 2);
    assert_str(p.schedulers[1], "mine");
    assert_true(p.has_weights);
    assert_int_equal(p.priority, -7);
    assert_str(p.namespaces.items[0].key, "a");
    assert_int_equal(p.objects.items[0].value_count, 2);
    assert_int_equal(p.spread[0].max_skew, 2);
    assert_int_equal(p.spread[0].min_domains, 3);
    assert_true(p.spread[0].hard);
    assert_int_equal(p.spread[0].node_affinity, POLICY_IGNORE);
    assert_int_equal(p.spread[0].node_taints, POLICY_HONOR);
    assert_int_equal(p.locality, POLICY_LOCALITY_REQUIRED);
    assert_str(p.tiers[0].topology_key, "zone");
    assert_int_equal(p.tiers[0].weight, 25);
    assert_int_equal(p.tier_percent, 50);
    assert_int_equal(p.keep_others_off, 7);
    assert_int_equal(p.spread_weight, 0);
    assert_int_equal(p.locality_weight, 1000);
    assert_str(p.problem, "");
}

static void yaml_reads_the_same(void **state) {
    (void)state;
    static const char yaml[] = "apiVersion: evenkeel.io/v1alpha1\n"
                               "kind: TopologyPolicy\n"
                               "metadata: {name: web}\n"
                               "spec:\n"
                               "  match: {objectSelector: {matchLabels: {tier: web}}}\n"
                               "  pods:\n"
                               "    spread:\n"
                               "    - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n"
                               "    locality: {mode: Disabled}\n";
    struct yaml_json json;
    struct err err;
    struct policy p;
    struct json_reader r;
    assert_int_equal(yaml_to_json(str_of(yaml), false, &decoding_arena, &json, &err), 0);
    json_reader_init(&r, json.documents[0], &decoding_arena, "policy");
    policy_decode(&r, &p);
    decoding_good(&r);
    assert_str(p.objects.items[0].values[0], "web");
    assert_true(p.spread[0].hard);
    assert_int_equal(p.locality, POLICY_LOCALITY_DISABLED);
}

/* As an API server would take it: as if it were not there. */
static void a_selector_that_is_null_selects_everything(void **state) {
    (void)state;
    struct policy p =
        decode(POLICY(MATCH("\"namespaceSelector\":null,\"objectSelector\":null,\"exclude\":{"
                            "\"namespaceSelector\":null,\"objectSelector\":null}") "," SPREAD));
    assert_false(p.namespaces.nothing || p.objects.nothing);
    assert_int_equal(p.namespaces.count + p.objects.count, 0);
    assert_str(p.problem, "");
}

static void others_are_kept_off(void **state) {
    (void)state;
    struct policy p;
    static const struct {
        const char *mode;
        int32_t weight;
        bool required;
    } cases[] = {{"Preferred", 100, false}, {"Required", 100, true}, {"Disabled", 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        struct arena arena;
        struct json_reader r;
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"pods\":{\"locality\":{"
                       "\"keepOthersOffCacheNodes\":{\"mode\":\"%s\"}}}}}",
                       cases[i].mode);
        arena_init(&arena, 1 << 20);
        json_reader_init(&r, str_of(text), &arena, "policy");
        policy_decode(&r, &p);
        assert_int_equal(json_finish(&r, NULL), 0);
        assert_int_equal(p.keep_others_off, cases[i].weight);
        assert_int_equal(p.requires_others_off, cases[i].required);
        arena_done(&arena);
    }
}

static void errors_name_the_path(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"null", "metadata.name is required"},
        {"{\"metadata\":{\"name\":\"p\"}}", "spec is required"},
        {"{\"metadata\":{\"name\":\"p\"},\"spec\":null}", "spec is required"},
        {"{\"metadata\":{},\"spec\":{\"pods\":{}}}", "metadata.name is required"},
        {"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"pods\":{}},\"data\":{}}",
         "doc.data: unknown field"},
        {POLICY("\"spreads\":[]"), "doc.spec.spreads: unknown field"},
        {POLICY("\"priority\":2147483648"), "doc.spec.priority: 2147483648 is not between"},
        {POLICY(MATCH("\"objectSelector\":{\"matchLabel\":{}}")),
         "doc.spec.match.objectSelector.matchLabel: unknown field"},
        {POLICY(MATCH("\"objectSelector\":[]")),
         "doc.spec.match.objectSelector: expected an object"},
        {POLICY(MATCH("\"namespaceSelector\":{\"matchExpressions\":[{\"op\":\"In\"}]}")),
         "doc.spec.match.namespaceSelector.matchExpressions[0].op: unknown field"},
        {POLICY(PODS("\"spread\":[{\"whenUnsatisfiable\":\"DoNotSchedule\"}]")),
         "doc.spec.pods.spread[0]: topologyKey is required"},
        {POLICY(PODS("\"spread\":[{\"topologyKey\":\"z\"}]")), "whenUnsatisfiable is required"},
        {POLICY(PODS("\"spread\":[{\"whenUnsatisfiable\":null}]")),
         "'' is neither 'DoNotSchedule' nor"},
        {POLICY(PODS("\"spread\":[{\"maxSkew\":0}]")),
         "doc.spec.pods.spread[0].maxSkew: 0 is not between 1"},
        {POLICY(PODS("\"spread\":[{\"minDomains\":0}]")), "minDomains: 0 is not between 1 and"},
        {POLICY(PODS("\"spread\":[{\"nodeTaintsPolicy\":\"honor\"}]")),
         "'honor' is neither 'Honor'"},
        {POLICY(PODS("\"spread\":[{\"labelSelector\":{}}]")),
         "spread[0].labelSelector: unknown field"},
        {POLICY(PODS("\"locality\":{\"mode\":\"On\"}")),
         "doc.spec.pods.locality.mode: 'On' is not one of"},
        {POLICY(PODS("\"locality\":{\"mode\":true}")),
         "doc.spec.pods.locality.mode: expected 'Preferred'"},
        {POLICY(PODS("\"locality\":{\"tier\":[]}")), "doc.spec.pods.locality.tier: unknown field"},
        {POLICY(PODS("\"locality\":{\"tiers\":[{\"weight\":1}]}")), "topologyKey is required"},
        {POLICY(PODS("\"locality\":{\"tiers\":[{\"topologyKey\":\"z\"}]}")), "weight is required"},
        {POLICY(PODS("\"locality\":{\"tiers\":[{\"weight\":101}]}")),
         "weight: 101 is not between 1"},
        {POLICY(PODS("\"locality\":{\"tiers\":[{\"key\":\"z\"}]}")), "tiers[0].key: unknown field"},
        {POLICY(PODS("\"weights\":{\"spread\":-1}")),
         "doc.spec.pods.weights.spread: -1 is not between"},
        {POLICY(PODS("\"weights\":{\"spreads\":1}")),
         "doc.spec.pods.weights.spreads: unknown field"},
        {POLICY("\"mode\":\"enforce\""), "doc.spec.mode: 'enforce': did you mean 'Enforce'?"},
        {POLICY("\"priority\":1"), "doc.spec: pods or placements is required"},
        {POLICY("\"pods\":null"), "doc.spec: pods or placements is required"},
        {POLICY("\"pods\":{\"spreads\":[]}"), "doc.spec.pods.spreads: unknown field"},
        {POLICY("\"match\":{\"names\":[]}"), "doc.spec.match.names: unknown field"},
        {POLICY(MATCH("\"ownerKinds\":[{\"group\":\"apps\"}]")), "ownerKinds[0]: kind is required"},
        {POLICY(MATCH("\"exclude\":{\"ownerKinds\":[]}")), "exclude.ownerKinds: unknown field"},
        {POLICY(PODS("\"groupBy\":{\"unit\":1}")), "groupBy.unit: expected a string"},
        {POLICY(PODS("\"groupBy\":{\"keys\":[]}")), "doc.spec.pods.groupBy.keys: unknown field"},
        {POLICY(PODS("\"locality\":{\"weight\":101}")), "locality.weight: 101 is not between 1"},
        {POLICY(PODS("\"locality\":{\"keepOthersOffCacheNodes\":{\"mode\":\"Always\"}}")),
         "'Always' is not one of Preferred, Disabled, Required"},
        {POLICY(PODS("\"schedulerNames\":\"x\"")), "schedulerNames: expected an array"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        struct policy policy;
        policy_decode(&r, &policy);
        decoding_refused(&r, wrong[i][1]);
    }
}

/* The form that the kind had before: what became of each of its fields. */
static void the_former_form_is_told_where_its_fields_went(void **state) {
    (void)state;
    static const char *const former[][2] = {
        {POLICY("\"targets\":[\"Pod\"]," SPREAD),
         "doc.spec.targets: is gone: the settings for pods are in spec.pods"},
        {POLICY("\"spread\":[]"), "doc.spec.spread: moved to spec.pods.spread"},
        {POLICY("\"locality\":{}"), "doc.spec.locality: moved to spec.pods.locality"},
        {POLICY("\"weights\":{}"), "doc.spec.weights: moved to spec.pods.weights"},
        {POLICY("\"namespaceSelector\":{}"),
         "doc.spec.namespaceSelector: moved to spec.match.namespaceSelector"},
        {POLICY("\"objectSelector\":{}"),
         "doc.spec.objectSelector: moved to spec.match.objectSelector"},
        {POLICY(PODS("\"locality\":{\"mode\":\"Off\"}")), "'Disabled' (the new word for 'Off')"},
        {POLICY(PODS("\"locality\":{\"mode\":false}")), "'Disabled' (the new word for 'Off')"},
        {POLICY(PODS("\"locality\":{\"keepOthersOffCacheNodes\":true}")),
         "is an object now: write {mode: Preferred} instead of true"},
        /* from an API server that knows the new form, which leaves out the fields of the former */
        {POLICY("\"priority\":10"),
         "is required: spec.spread, spec.locality and spec.weights moved to spec.pods"},
    };
    for (size_t i = 0; i < sizeof former / sizeof former[0]; i++) {
        struct json_reader r = decoding_reader(former[i][0]);
        struct policy policy;
        policy_decode(&r, &policy);
        decoding_refused(&r, former[i][1]);
    }
}

#define SOFT(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
#define HARD(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\"}"
#define TIER(key) "{\"topologyKey\":\"" key "\",\"weight\":1}"

/* Two requirements on label a. */
#define ASKED(op, values, op2, values2)                                                            \
    "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"" op "\",\"values\":[" values            \
    "]},{\"key\":\"a\",\"operator\":\"" op2 "\",\"values\":[" values2 "]}]}"

static void a_unit_may_be_named_by_a_label(void **state) {
    (void)state;
    struct policy p = decode(POLICY(PODS(
        "\"spread\":[" SOFT("a") "],\"groupBy\":{\"labels\":[\"b\"],\"unit\":\"example.com/x\"}")));
    assert_int_equal(p.group_by.unit, POLICY_UNIT_LABEL);
    assert_str(p.group_by.unit_key, "example.com/x");
    assert_str(p.problem, "");
    p = decode(POLICY(PODS("\"spread\":[" SOFT("a") "],\"groupBy\":{\"unit\":\"Auto\"}")));
    assert_int_equal(p.group_by.unit, POLICY_UNIT_AUTO);
    assert_str(p.problem, "");
}

static void what_cannot_work_is_said(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {POLICY(PODS("")), "spec.pods has none of spread, locality and weights"},
        {POLICY(PODS("\"spread\":[],\"weights\":{}")), "spec.pods.spread is empty"},
        {POLICY(PODS("\"locality\":{},\"groupBy\":{}")),
         "spec.pods.groupBy means nothing without spec.pods.spread"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "," SOFT("b c") "]")),
         "spec.pods.spread[1]: 'b c' is not a label key"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "," HARD("a") "," SOFT("a") "]")),
         "spec.pods.spread[2]: topologyKey 'a' with the same whenUnsatisfiable is there already"},
        {POLICY(PODS("\"spread\":[{\"topologyKey\":\"a\",\"minDomains\":1,\"whenUnsatisfiable\":"
                     "\"ScheduleAnyway\"}]")),
         "spec.pods.spread[0]: minDomains needs whenUnsatisfiable: DoNotSchedule"},
        {POLICY(PODS("\"locality\":{\"tiers\":[" TIER("/") "]}")),
         "spec.pods.locality.tiers[0]: '/' is not"},
        {POLICY(PODS("\"locality\":{\"tiers\":[" TIER("a") "," TIER("a") "]}")),
         "spec.pods.locality.tiers[1]: topologyKey 'a' is there already"},
        {POLICY(PODS("\"locality\":{\"mode\":\"Disabled\",\"tiers\":[" TIER("a") "]}")),
         "spec.pods.locality: mode Disabled needs neither tiers nor"},
        {POLICY(PODS("\"locality\":{\"mode\":\"Disabled\",\"keepOthersOffCacheNodes\":{}}")),
         "spec.pods.locality: mode Disabled needs neither tiers nor"},
        {POLICY(PODS("\"weights\":{\"spread\":0,\"locality\":0}")),
         "spec.pods.weights: both are 0"},
        {POLICY(PODS("\"locality\":{},\"groupBy\":{\"labels\":[\"a\"]}")),
         "spec.pods.groupBy means nothing without spec.pods.spread"},
        {POLICY(PODS("\"locality\":{},\"replaceDefaults\":true")),
         "spec.pods.replaceDefaults means nothing without spec.pods.spread"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "],\"groupBy\":{\"labels\":[\"a\",\"b c\"]}")),
         "spec.pods.groupBy.labels[1]: 'b c' is not a label key"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "],\"groupBy\":{\"labels\":[\"a\",\"a\"]}")),
         "spec.pods.groupBy.labels[1]: 'a' is there already"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "],\"groupBy\":{\"unit\":\"b c\"}")),
         "spec.pods.groupBy.unit: 'b c' is neither Auto nor Pod, nor a label key"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "],\"groupBy\":{\"unit\":\"pod\"}")),
         "spec.pods.groupBy.unit: 'pod' is neither Auto nor Pod"},
        {POLICY(PODS("\"spread\":[" SOFT("a") "],\"groupBy\":{\"unit\":\"\"}")),
         "spec.pods.groupBy.unit: '' is neither Auto nor Pod"},
        {POLICY(PODS(
             "\"spread\":[" SOFT("a") "],\"groupBy\":{\"labels\":[\"b\",\"x\"],\"unit\":\"x\"}")),
         "spec.pods.groupBy: 'x' is the unit and among the labels"},
        {POLICY(SPREAD "," MATCH("\"objectSelector\":{\"matchLabels\":{\"a b\":\"c\"}}")),
         "spec.match.objectSelector: 'a b' is not a label key"},
        {POLICY(SPREAD "," MATCH("\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"a\","
                                 "\"operator\":\"In\"}]}")),
         "spec.match.namespaceSelector: key 'a': In and NotIn need at least one value"},
        {POLICY(SPREAD "," MATCH(
             "\"objectSelector\":" ASKED("In", "\"x\",\"y\"", "NotIn", "\"y\",\"x\""))),
         "spec.match.objectSelector: no object can meet all requirements on label 'a'"},
        {POLICY(SPREAD "," MATCH("\"objectSelector\":" ASKED("In", "\"x\"", "In", "\"y\""))),
         "label 'a'"},
        {POLICY(SPREAD "," MATCH("\"objectSelector\":" ASKED("In", "\"x\"", "DoesNotExist", ""))),
         "label 'a'"},
        {POLICY(SPREAD "," MATCH("\"namespaceSelector\":" ASKED("Exists", "", "DoesNotExist", ""))),
         "spec.match.namespaceSelector: no object can meet all requirements on label 'a'"},
        {POLICY(SPREAD "," MATCH("\"exclude\":{\"namespaceSelector\":{}}")),
         "spec.match.exclude.namespaceSelector is empty: it excludes everything"},
        {POLICY(SPREAD "," MATCH("\"exclude\":{\"objectSelector\":{\"matchLabels\":{}}}")),
         "spec.match.exclude.objectSelector is empty: it excludes everything"},
    };
    static const char *const fine[] = {
        POLICY(SPREAD "," MATCH("\"objectSelector\":{\"matchLabels\":{\"a\":\"x\",\"b\":\"y\"}}")),
        POLICY(SPREAD
               "," MATCH("\"objectSelector\":" ASKED("In", "\"x\",\"y\"", "NotIn", "\"y\""))),
        POLICY(SPREAD "," MATCH("\"objectSelector\":" ASKED("NotIn", "\"x\"", "DoesNotExist", ""))),
        POLICY(SPREAD "," MATCH("\"objectSelector\":" ASKED("NotIn", "\"x\"", "Exists", ""))),
        POLICY(SPREAD
               "," MATCH("\"objectSelector\":" ASKED("In", "\"x\",\"y\"", "In", "\"z\",\"y\""))),
        POLICY(PODS("\"spread\":[" SOFT("a") "," HARD("a") "]")),
        POLICY(PODS("\"locality\":{}")),
        POLICY(PODS("\"locality\":{\"mode\":\"Disabled\"}")), /* turns off what others ask for */
        POLICY(PODS("\"weights\":{\"spread\":0}")),
        POLICY(PODS("\"locality\":{\"tiers\":[" TIER("a") "," TIER("b") "]}")),
        POLICY(PODS("\"spread\":[{\"topologyKey\":\"a\",\"minDomains\":1,\"whenUnsatisfiable\":"
                    "\"DoNotSchedule\"}]")),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ERR_TEXT_SIZE];
        struct policy p = decode(cases[i][0]);
        (void)snprintf(text, sizeof text, "%.*s", STR_ARG(p.problem)); /* fits */
        assert_contains(text, cases[i][1]);
    }
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        assert_str(decode(fine[i]).problem, "");
}

static void named(struct policy *p, const char *name, int32_t priority) {
    *p = (struct policy){.name = str_of(name), .priority = priority};
}

static void higher_priority_first_then_name(void **state) {
    (void)state;
    struct policy policies[5];
    named(&policies[0], "b", 0);
    named(&policies[1], "c", -1);
    named(&policies[2], "a", 0);
    named(&policies[3], "d", INT32_MAX);
    named(&policies[4], "e", INT32_MIN);
    policies_sort(policies, 5);
    static const char *const order[] = {"d", "a", "b", "c", "e"};
    for (size_t i = 0; i < 5; i++)
        assert_str(policies[i].name, order[i]);
}

/* ---- matching ---- */

static const struct label web_label[] = {{{"tier", 4}, {"web", 3}}};
static const struct labels web = {web_label, 1}, bare = {0};

static const char *name_of(const struct policy *p) {
    static char name[64];
    (void)snprintf(name, sizeof name, "%.*s", STR_ARG(p != NULL ? p->name : (struct str){0}));
    return name;
}

static struct policy_question question_of(const struct labels *namespace,
                                          const struct labels *object) {
    return (struct policy_question){.namespace_lookup = namespace != NULL ? labels_lookup : NULL,
                                    .namespace_labels = namespace,
                                    .object_labels = object};
}

/* Whose spread the object's is. */
static const char *matched(const struct policy *policies, uint32_t count,
                           const struct labels *namespace, const struct labels *object) {
    const struct policy_question question = question_of(namespace, object);
    struct policy_choice choice;
    bool known = policy_match(policies, count, &question, &choice);
    assert_true(known || choice.enforced[POLICY_SPREAD] == NULL);
    return known ? name_of(choice.enforced[POLICY_SPREAD]) : "unknown";
}

/* The answer is that of looking at each selector. */
static void many_are_matched_as_few_are(void **state) {
    (void)state;
    enum { MANY = 60, TEAMS = 7 };
    struct policy policies[MANY], plain[MANY];
    for (int i = 0; i < MANY; i++) {
        static char texts[MANY][400];
        (void)snprintf(texts[i], sizeof texts[i],
                       "{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"match\":{\"objectSelector\":{"
                       "\"matchLabels\":{\"app\":\"a%d\"},\"matchExpressions\":[%s]},"
                       "\"namespaceSelector\":{\"matchLabels\":{\"team\":\"t%d\"}}}," SPREAD "}}",
                       i, i / 4,
                       i % 2 == 0 ? "{\"key\":\"x\",\"operator\":\"Exists\"}"
                                  : "{\"key\":\"x\",\"operator\":\"NotIn\",\"values\":[\"1\"]}",
                       i % TEAMS);
        plain[i] = policies[i] = decode(texts[i]);
        assert_true(policies[i].object_bits != 0 && policies[i].namespace_bits != 0);
        plain[i].object_bits = plain[i].namespace_bits = 0;
    }
    int found = 0;
    for (int app = 0; app <= MANY / 4; app++)
        for (int team = 0; team <= TEAMS; team++) {
            char a[8], t[8];
            (void)snprintf(a, sizeof a, "a%d", app);
            (void)snprintf(t, sizeof t, "t%d", team);
            const struct label own[] = {{STR("app"), str_of(a)}, {STR("x"), STR("")}};
            const struct label teams[] = {{STR("team"), str_of(t)}};
            const struct labels object = {own, 1 + (uint32_t)(team % 2)}, namespace = {teams, 1};
            struct policy_question question = {.namespace_lookup = labels_lookup,
                                               .namespace_labels = &namespace,
                                               .namespace_bits = policy_label_bits(&namespace),
                                               .object_labels = &object};
            struct policy_choice choice;
            assert_true(policy_match(policies, MANY, &question, &choice));
            const struct policy *fast = choice.enforced[POLICY_SPREAD];
            question.namespace_bits = 0; /* not told: it is looked at */
            assert_true(policy_match(policies, MANY, &question, &choice));
            assert_ptr_equal(choice.enforced[POLICY_SPREAD], fast);
            assert_true(policy_match(plain, MANY, &question, &choice));
            const struct policy *slow = choice.enforced[POLICY_SPREAD];
            assert_int_equal(fast != NULL ? fast - policies : -1, slow != NULL ? slow - plain : -1);
            found += fast != NULL;
        }
    assert_in_range(found, 10, MANY);
}

static void first_match_wins(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":{\"name\":\"broken\"},\"spec\":{" PODS("\"spread\":[" SOFT("b c") "]") "}}",
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"match\":{\"objectSelector\":{\"matchLabels\":"
        "{"
        "\"tier\":\"web\"}},\"namespaceSelector\":{\"matchLabels\":{\"tier\":\"web\"}}}," SPREAD
        "}}",
        "{\"metadata\":{\"name\":\"rest\"},\"spec\":{\"match\":{\"namespaceSelector\":{}}," SPREAD
        "}}",
    };
    struct policy policies[3];
    for (size_t i = 0; i < 3; i++)
        policies[i] = decode(texts[i]);
    assert_string_equal(matched(policies, 3, &web, &web), "web");
    assert_string_equal(matched(policies, 3, &bare, &web), "rest");
    assert_string_equal(matched(policies, 3, &web, &bare), "rest");
    assert_string_equal(matched(policies, 2, &web, &bare), "");
    /* labels of the namespace matter only where a policy that could match asks for them */
    assert_string_equal(matched(policies, 3, NULL, &web), "unknown");
    assert_string_equal(matched(policies, 3, NULL, &bare), "rest");
}

/* Either selector excludes; an exclusion by namespace needs the labels of the namespace. */
static void exclusions(void **state) {
    (void)state;
#define WITHOUT(selector)                                                                          \
    POLICY(MATCH("\"exclude\":{\"" selector "\":{\"matchLabels\":{\"tier\":\"web\"}}}") "," SPREAD)
    struct policy p = decode(WITHOUT("objectSelector"));
    assert_string_equal(matched(&p, 1, &bare, &web), "");
    assert_string_equal(matched(&p, 1, &web, &bare), "p");
    assert_string_equal(matched(&p, 1, NULL, &bare), "p");
    p = decode(WITHOUT("namespaceSelector"));
    assert_string_equal(matched(&p, 1, &bare, &web), "p");
    assert_string_equal(matched(&p, 1, &web, &bare), "");
    assert_string_equal(matched(&p, 1, NULL, &bare), "unknown");
}

/* A platform's spread and a team's locality are both the pod's. */
static void each_part_has_its_own_policy(void **state) {
    (void)state;
    struct policy policies[] = {
        decode(POLICY("\"mode\":\"Audit\"," SPREAD)),
        decode(POLICY(PODS("\"locality\":{\"mode\":\"Disabled\"}"))),
        decode(POLICY("\"mode\":\"Audit\"," PODS("\"locality\":{},\"weights\":{}"))),
        decode(POLICY(MATCH("\"objectSelector\":{\"matchLabels\":{\"tier\":\"web\"}}") "," SPREAD)),
        decode(POLICY(PODS("\"spread\":[" SOFT("a") "],\"locality\":{}"))),
    };
    struct policy_question question = question_of(NULL, &web);
    struct policy_choice choice;
    assert_true(policy_match(policies, 5, &question, &choice));
    assert_ptr_equal(choice.enforced[POLICY_SPREAD], &policies[3]);
    assert_ptr_equal(choice.enforced[POLICY_LOCALITY], &policies[1]);
    assert_null(choice.enforced[POLICY_WEIGHTS]);
    /* an audited policy takes nothing away, and says only what it would have if it were enforced */
    assert_ptr_equal(choice.audited[POLICY_SPREAD], &policies[0]);
    assert_null(choice.audited[POLICY_LOCALITY]);
    assert_ptr_equal(choice.audited[POLICY_WEIGHTS], &policies[2]);
    question.object_labels = &bare;
    assert_true(policy_match(policies, 5, &question, &choice));
    assert_ptr_equal(choice.enforced[POLICY_SPREAD], &policies[4]);
}

static void owners_and_schedulers(void **state) {
    (void)state;
    struct policy p = decode(
        POLICY(MATCH("\"ownerKinds\":[{\"group\":\"apps\",\"kind\":\"Deployment\"},{\"kind\":"
                     "\"Pod\"}]") "," PODS("\"weights\":{},\"schedulerNames\":[\"a\",\"b\"]")));
    static const struct {
        const char *group, *kind, *group2, *kind2, *scheduler;
        bool match;
    } cases[] = {
        {"apps", "ReplicaSet", "apps", "Deployment", "a", true},
        {"apps", "ReplicaSet", NULL, NULL, "a", false},
        {"apps", "Deployment", NULL, NULL, "", true},
        {"other", "Deployment", NULL, NULL, "", false},
        {"", "Pod", NULL, NULL, "b", true},
        {"", "Pod", NULL, NULL, "default-scheduler", false},
        {NULL, NULL, NULL, NULL, "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct policy_question question = question_of(NULL, &bare);
        struct policy_choice choice;
        question.scheduler = str_of(cases[i].scheduler);
        if (cases[i].kind != NULL)
            question.owners[question.owner_count++] =
                (struct policy_owner){str_of(cases[i].group), str_of(cases[i].kind)};
        if (cases[i].kind2 != NULL)
            question.owners[question.owner_count++] =
                (struct policy_owner){str_of(cases[i].group2), str_of(cases[i].kind2)};
        assert_true(policy_match(&p, 1, &question, &choice));
        if ((choice.enforced[POLICY_WEIGHTS] != NULL) != cases[i].match)
            fail_msg("case %zu", i);
    }
    p = decode(POLICY(SPREAD));
    struct policy_question question = question_of(NULL, &bare);
    struct policy_choice choice;
    question.scheduler = STR("volcano");
    assert_true(policy_match(&p, 1, &question, &choice));
    assert_null(choice.enforced[POLICY_SPREAD]);
    question.scheduler = STR("default-scheduler");
    assert_true(policy_match(&p, 1, &question, &choice));
    assert_ptr_equal(choice.enforced[POLICY_SPREAD], &p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(what_is_left_out_has_a_default),
        DECODING_TEST(every_field_is_read),
        DECODING_TEST(yaml_reads_the_same),
        DECODING_TEST(a_selector_that_is_null_selects_everything),
        DECODING_TEST(others_are_kept_off),
        DECODING_TEST(errors_name_the_path),
        DECODING_TEST(the_former_form_is_told_where_its_fields_went),
        DECODING_TEST(a_unit_may_be_named_by_a_label),
        DECODING_TEST(what_cannot_work_is_said),
        DECODING_TEST(higher_priority_first_then_name),
        DECODING_TEST(many_are_matched_as_few_are),
        DECODING_TEST(first_match_wins),
        DECODING_TEST(exclusions),
        DECODING_TEST(each_part_has_its_own_policy),
        DECODING_TEST(owners_and_schedulers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
