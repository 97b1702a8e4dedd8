/* TopologyPolicy: decoding, what cannot work, order and matching. */
#include "model/policy.h"

#include "unit/model/decoding.h"
#include "yaml/yaml.h"

#include <stdio.h>

#define SPREAD "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]"
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
    assert_int_equal(p.targets, POLICY_POD);
    assert_int_equal(p.priority, 0);
    assert_false(p.namespaces.nothing || p.objects.nothing);
    assert_int_equal(p.namespaces.count + p.objects.count, 0);
    assert_int_equal(p.spread_count, 1);
    assert_int_equal(p.spread[0].max_skew, 1);
    assert_int_equal(p.spread[0].min_domains, 0);
    assert_false(p.spread[0].hard);
    assert_int_equal(p.spread[0].node_affinity, POLICY_INCLUSION_DEFAULT);
    assert_int_equal(p.locality, POLICY_LOCALITY_OFF);
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
        "\"x\":1},\"spec\":{\"targets\":[\"Pod\",\"Placement\",\"PropagationPolicy\"],"
        "\"priority\":-7,\"namespaceSelector\":{\"matchLabels\":{\"a\":\"b\"}},"
        "\"objectSelector\":{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"In\","
        "\"values\":[\"web\",\"api\"]}]},\"spread\":[{\"topologyKey\":\"zone\",\"maxSkew\":2,"
        "\"minDomains\":3,\"whenUnsatisfiable\":\"DoNotSchedule\",\"nodeAffinityPolicy\":"
        "\"Ignore\",\"nodeTaintsPolicy\":\"Honor\"}],\"locality\":{\"mode\":\"Required\",\"tiers\":"
        "[{\"topologyKey\":\"zone\",\"weight\":25}],\"keepOthersOffCacheNodes\":true},\"weights\":{"
        "\"spread\":0,\"locality\":1000}}}");
    assert_int_equal(p.targets, POLICY_POD | POLICY_PLACEMENT | POLICY_PROPAGATION_POLICY);
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
    assert_true(p.keep_others_off_cache_nodes);
    assert_int_equal(p.spread_weight, 0);
    assert_int_equal(p.locality_weight, 1000);
    assert_str(p.problem, "");
}

/* YAML takes Off without quotes for a boolean. */
static void yaml_reads_the_same(void **state) {
    (void)state;
    static const char yaml[] = "apiVersion: evenkeel.io/v1alpha1\n"
                               "kind: TopologyPolicy\n"
                               "metadata: {name: web}\n"
                               "spec:\n"
                               "  objectSelector: {matchLabels: {tier: web}}\n"
                               "  spread:\n"
                               "  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n"
                               "  locality: {mode: Off}\n";
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
    assert_int_equal(p.locality, POLICY_LOCALITY_OFF);
}

/* As an API server would take it: as if it were not there. */
static void a_selector_that_is_null_selects_everything(void **state) {
    (void)state;
    struct policy p = decode(POLICY("\"namespaceSelector\":null,\"objectSelector\":null," SPREAD));
    assert_false(p.namespaces.nothing || p.objects.nothing);
    assert_int_equal(p.namespaces.count + p.objects.count, 0);
    assert_str(p.problem, "");
}

static void errors_name_the_path(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"null", "metadata.name is required"},
        {"{\"metadata\":{\"name\":\"p\"}}", "spec is required"},
        {"{\"metadata\":{\"name\":\"p\"},\"spec\":null}", "spec is required"},
        {"{\"metadata\":{},\"spec\":{}}", "metadata.name is required"},
        {"{\"metadata\":{\"name\":\"p\"},\"spec\":{},\"data\":{}}", "doc.data: unknown field"},
        {POLICY("\"spreads\":[]"), "doc.spec.spreads: unknown field"},
        {POLICY("\"targets\":[\"Pod\",\"Job\"]"), "doc.spec.targets[1]: 'Job' is none of"},
        {POLICY("\"priority\":2147483648"), "doc.spec.priority: 2147483648 is not between"},
        {POLICY("\"objectSelector\":{\"matchLabel\":{}}"),
         "doc.spec.objectSelector.matchLabel: unknown field"},
        {POLICY("\"objectSelector\":[]"), "doc.spec.objectSelector: expected an object"},
        {POLICY("\"namespaceSelector\":{\"matchExpressions\":[{\"op\":\"In\"}]}"),
         "doc.spec.namespaceSelector.matchExpressions[0].op: unknown field"},
        {POLICY("\"spread\":[{\"whenUnsatisfiable\":\"DoNotSchedule\"}]"),
         "doc.spec.spread[0]: topologyKey is required"},
        {POLICY("\"spread\":[{\"topologyKey\":\"z\"}]"), "whenUnsatisfiable is required"},
        {POLICY("\"spread\":[{\"whenUnsatisfiable\":null}]"), "'' is neither 'DoNotSchedule' nor"},
        {POLICY("\"spread\":[{\"maxSkew\":0}]"), "doc.spec.spread[0].maxSkew: 0 is not between 1"},
        {POLICY("\"spread\":[{\"minDomains\":0}]"), "minDomains: 0 is not between 1 and"},
        {POLICY("\"spread\":[{\"nodeTaintsPolicy\":\"honor\"}]"), "'honor' is neither 'Honor'"},
        {POLICY("\"spread\":[{\"labelSelector\":{}}]"), "spread[0].labelSelector: unknown field"},
        {POLICY("\"locality\":{\"mode\":\"On\"}"), "doc.spec.locality.mode: 'On' is none of"},
        {POLICY("\"locality\":{\"mode\":true}"), "doc.spec.locality.mode: expected 'Off'"},
        {POLICY("\"locality\":{\"tier\":[]}"), "doc.spec.locality.tier: unknown field"},
        {POLICY("\"locality\":{\"tiers\":[{\"weight\":1}]}"), "topologyKey is required"},
        {POLICY("\"locality\":{\"tiers\":[{\"topologyKey\":\"z\"}]}"), "weight is required"},
        {POLICY("\"locality\":{\"tiers\":[{\"weight\":101}]}"), "weight: 101 is not between 1"},
        {POLICY("\"locality\":{\"tiers\":[{\"key\":\"z\"}]}"), "tiers[0].key: unknown field"},
        {POLICY("\"weights\":{\"spread\":-1}"), "doc.spec.weights.spread: -1 is not between"},
        {POLICY("\"weights\":{\"spreads\":1}"), "doc.spec.weights.spreads: unknown field"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        struct policy policy;
        policy_decode(&r, &policy);
        decoding_refused(&r, wrong[i][1]);
    }
}

#define SOFT(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
#define HARD(key) "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\"}"
#define TIER(key) "{\"topologyKey\":\"" key "\",\"weight\":1}"

/* Two requirements on label a. */
#define ASKED(op, values, op2, values2)                                                            \
    "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"" op "\",\"values\":[" values            \
    "]},{\"key\":\"a\",\"operator\":\"" op2 "\",\"values\":[" values2 "]}]}"

static void what_cannot_work_is_said(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {POLICY("\"targets\":[]," SPREAD), "spec.targets is empty"},
        {POLICY("\"priority\":1"), "neither spec.spread nor spec.locality asks for anything"},
        {POLICY("\"spread\":[],\"locality\":{\"mode\":\"Off\"}"), "neither spec.spread nor"},
        {POLICY("\"spread\":[" SOFT("a") "," SOFT("b c") "]"),
         "spec.spread[1]: 'b c' is not a label key"},
        {POLICY("\"spread\":[" SOFT("a") "," HARD("a") "," SOFT("a") "]"),
         "spec.spread[2]: topologyKey 'a' with the same whenUnsatisfiable is there already"},
        {POLICY("\"spread\":[{\"topologyKey\":\"a\",\"minDomains\":1,\"whenUnsatisfiable\":"
                "\"ScheduleAnyway\"}]"),
         "spec.spread[0]: minDomains needs whenUnsatisfiable: DoNotSchedule"},
        {POLICY("\"locality\":{\"tiers\":[" TIER("/") "]}"), "spec.locality.tiers[0]: '/' is not"},
        {POLICY("\"locality\":{\"tiers\":[" TIER("a") "," TIER("a") "]}"),
         "spec.locality.tiers[1]: topologyKey 'a' is there already"},
        {POLICY(SPREAD ",\"objectSelector\":{\"matchLabels\":{\"a b\":\"c\"}}"),
         "spec.objectSelector: 'a b' is not a label key"},
        {POLICY(SPREAD ",\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"a\","
                       "\"operator\":\"In\"}]}"),
         "spec.namespaceSelector: key 'a': In and NotIn need at least one value"},
        {POLICY(SPREAD ",\"objectSelector\":" ASKED("In", "\"x\",\"y\"", "NotIn", "\"y\",\"x\"")),
         "spec.objectSelector: no object can be what is asked of label 'a'"},
        {POLICY(SPREAD ",\"objectSelector\":" ASKED("In", "\"x\"", "In", "\"y\"")), "label 'a'"},
        {POLICY(SPREAD ",\"objectSelector\":" ASKED("In", "\"x\"", "DoesNotExist", "")),
         "label 'a'"},
        {POLICY(SPREAD ",\"namespaceSelector\":" ASKED("Exists", "", "DoesNotExist", "")),
         "spec.namespaceSelector: no object can be what is asked of label 'a'"},
    };
    static const char *const fine[] = {
        POLICY(SPREAD ",\"objectSelector\":{\"matchLabels\":{\"a\":\"x\",\"b\":\"y\"}}"),
        POLICY(SPREAD ",\"objectSelector\":" ASKED("In", "\"x\",\"y\"", "NotIn", "\"y\"")),
        POLICY(SPREAD ",\"objectSelector\":" ASKED("NotIn", "\"x\"", "DoesNotExist", "")),
        POLICY(SPREAD ",\"objectSelector\":" ASKED("NotIn", "\"x\"", "Exists", "")),
        POLICY(SPREAD ",\"objectSelector\":" ASKED("In", "\"x\",\"y\"", "In", "\"z\",\"y\"")),
        POLICY("\"spread\":[" SOFT("a") "," HARD("a") "]"),
        POLICY("\"locality\":{}"),
        POLICY("\"locality\":{\"tiers\":[" TIER("a") "," TIER("b") "]}"),
        POLICY("\"spread\":[{\"topologyKey\":\"a\",\"minDomains\":1,\"whenUnsatisfiable\":"
               "\"DoNotSchedule\"}]"),
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
    *p = (struct policy){.name = str_of(name), .priority = priority, .targets = POLICY_POD};
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

static const char *matched(const struct policy *policies, uint32_t count, enum policy_target target,
                           const struct labels *namespace, const struct labels *object) {
    static char name[64];
    bool unknown;
    const struct policy *p = policy_match(
        policies, count,
        &(struct policy_question){.target = target,
                                  .namespace_lookup = namespace != NULL ? labels_lookup : NULL,
                                  .namespace_labels = namespace,
                                  .object_labels = object},
        &unknown);
    assert_false(p != NULL && unknown);
    (void)snprintf(name, sizeof name, "%.*s", STR_ARG(p != NULL ? p->name : (struct str){0}));
    return unknown ? "unknown" : name;
}

/* The answer is that of looking at each selector. */
static void many_are_matched_as_few_are(void **state) {
    (void)state;
    enum { MANY = 60, TEAMS = 7 };
    struct policy policies[MANY], plain[MANY];
    for (int i = 0; i < MANY; i++) {
        static char texts[MANY][400];
        (void)snprintf(texts[i], sizeof texts[i],
                       "{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"objectSelector\":{"
                       "\"matchLabels\":{\"app\":\"a%d\"},\"matchExpressions\":[%s]},"
                       "\"namespaceSelector\":{\"matchLabels\":{\"team\":\"t%d\"}}," SPREAD "}}",
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
            struct policy_question question = {.target = POLICY_POD,
                                               .namespace_lookup = labels_lookup,
                                               .namespace_labels = &namespace,
                                               .namespace_bits = policy_label_bits(&namespace),
                                               .object_labels = &object};
            bool unknown;
            const struct policy *fast = policy_match(policies, MANY, &question, &unknown);
            question.namespace_bits = 0; /* not told: it is looked at */
            assert_ptr_equal(policy_match(policies, MANY, &question, &unknown), fast);
            const struct policy *slow = policy_match(plain, MANY, &question, &unknown);
            assert_int_equal(fast != NULL ? fast - policies : -1, slow != NULL ? slow - plain : -1);
            found += fast != NULL;
        }
    assert_in_range(found, 10, MANY);
}

static void first_match_wins(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":{\"name\":\"broken\"},\"spec\":{\"spread\":[" SOFT("b c") "]}}",
        "{\"metadata\":{\"name\":\"fleet\"},\"spec\":{\"targets\":[\"Placement\"]," SPREAD "}}",
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"objectSelector\":{\"matchLabels\":{"
        "\"tier\":\"web\"}},\"namespaceSelector\":{\"matchLabels\":{\"tier\":\"web\"}}," SPREAD
        "}}",
        "{\"metadata\":{\"name\":\"rest\"},\"spec\":{\"namespaceSelector\":{}," SPREAD "}}",
    };
    struct policy policies[4];
    for (size_t i = 0; i < 4; i++)
        policies[i] = decode(texts[i]);
    assert_string_equal(matched(policies, 4, POLICY_POD, &web, &web), "web");
    assert_string_equal(matched(policies, 4, POLICY_POD, &bare, &web), "rest");
    assert_string_equal(matched(policies, 4, POLICY_POD, &web, &bare), "rest");
    assert_string_equal(matched(policies, 4, POLICY_PLACEMENT, &web, &web), "fleet");
    assert_string_equal(matched(policies, 4, POLICY_PROPAGATION_POLICY, &web, &web), "");
    assert_string_equal(matched(policies, 3, POLICY_POD, &web, &bare), "");
    /* labels of the namespace matter only where a policy that could match asks for them */
    assert_string_equal(matched(policies, 4, POLICY_POD, NULL, &web), "unknown");
    assert_string_equal(matched(policies, 4, POLICY_POD, NULL, &bare), "rest");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(what_is_left_out_has_a_default),
        DECODING_TEST(every_field_is_read),
        DECODING_TEST(yaml_reads_the_same),
        DECODING_TEST(a_selector_that_is_null_selects_everything),
        DECODING_TEST(errors_name_the_path),
        DECODING_TEST(what_cannot_work_is_said),
        DECODING_TEST(higher_priority_first_then_name),
        DECODING_TEST(many_are_matched_as_few_are),
        DECODING_TEST(first_match_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
