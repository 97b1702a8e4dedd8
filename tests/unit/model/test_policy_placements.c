/* The section `placements` of TopologyPolicy: decoding, what is refused, what cannot work, and that
 * pods have nothing of it. The rules are those of the documents (docs/guides/pods.md) and of Open
 * Cluster Management's CRD of Placements (v1.2.0). */
#include "model/policy.h"
#include "unit/model/decoding.h"

#include <stdio.h>
#include <string.h>

#define POLICY(spec) "{\"metadata\":{\"name\":\"p\"},\"spec\":{" spec "}}"
#define PLACEMENTS(items) "\"placements\":{\"spread\":[" items "]}"
#define PODS                                                                                       \
    "\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}"
#define KEY(key) "{\"topologyKey\":\"" key "\"}"

static struct policy decode(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct policy policy;
    policy_decode(&r, &policy);
    decoding_good(&r);
    return policy;
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    static const char *const texts[] = {
        POLICY(PLACEMENTS(KEY("region"))),
        POLICY(PLACEMENTS("{\"topologyKey\":\"region\",\"topologyKeyType\":null,\"maxSkew\":null,"
                          "\"minDomains\":null,\"whenUnsatisfiable\":null}")),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct policy p = decode(texts[i]);
        assert_int_equal(p.placement_term_count, 1);
        assert_str(p.placement_terms[0].key, "region");
        assert_false(p.placement_terms[0].is_claim);
        assert_int_equal(p.placement_terms[0].max_skew, 1);
        assert_int_equal(p.placement_terms[0].min_domains, 0);
        assert_false(p.placement_terms[0].hard);
        assert_str(p.problem, "");
    }
}

static void every_field_is_read(void **state) {
    (void)state;
    struct policy p = decode(POLICY(PLACEMENTS(
        "{\"topologyKey\":\"region\",\"topologyKeyType\":\"Claim\",\"maxSkew\":2,\"minDomains\":3,"
        "\"whenUnsatisfiable\":\"DoNotSchedule\"},{\"topologyKey\":\"zone\",\"topologyKeyType\":"
        "\"Label\",\"maxSkew\":1,\"minDomains\":1,\"whenUnsatisfiable\":\"ScheduleAnyway\"},"
        "{\"topologyKey\":\"rack\",\"maxSkew\":2147483647,\"minDomains\":2147483647}")));
    const struct placement_term *terms = p.placement_terms;
    assert_int_equal(p.placement_term_count, 3);
    assert_str(terms[0].key, "region");
    assert_true(terms[0].is_claim && terms[0].hard);
    assert_int_equal(terms[0].max_skew, 2);
    assert_int_equal(terms[0].min_domains, 3);
    assert_str(terms[1].key, "zone");
    assert_false(terms[1].is_claim || terms[1].hard);
    assert_int_equal(terms[1].max_skew, 1);
    assert_int_equal(terms[1].min_domains, 1);
    assert_int_equal(terms[2].max_skew, INT32_MAX);
    assert_int_equal(terms[2].min_domains, INT32_MAX);
    assert_str(p.problem, "");
}

/* Either section is enough, and a section that is null is none. */
static void a_policy_has_one_section_or_both(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        bool pods, placements;
    } cases[] = {
        {POLICY(PODS), true, false},
        {POLICY(PLACEMENTS(KEY("region"))), false, true},
        {POLICY(PODS "," PLACEMENTS(KEY("region"))), true, true},
        {POLICY("\"pods\":null," PLACEMENTS(KEY("region"))), false, true},
        {POLICY(PODS ",\"placements\":null"), true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct policy p = decode(cases[i].spec);
        assert_int_equal(policy_is_for(&p, POLICY_FOR_PODS), cases[i].pods);
        assert_int_equal(policy_is_for(&p, POLICY_FOR_PLACEMENTS), cases[i].placements);
        assert_int_equal(policy_has(&p, POLICY_PLACEMENTS), cases[i].placements);
        assert_str(p.problem, "");
    }
}

static void one_key_may_be_there_once_for_each_type(void **state) {
    (void)state;
    struct policy p = decode(
        POLICY(PLACEMENTS(KEY("a") ",{\"topologyKey\":\"a\",\"topologyKeyType\":\"Claim\"}")));
    assert_int_equal(p.placement_term_count, 2);
    assert_str(p.problem, "");
}

/* A policy with so many terms on different keys. */
static const char *with_terms(int count) {
    static char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"placements\":{"
                                "\"spread\":["); /* all of it fits */
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s" KEY("k%d"), i > 0 ? "," : "", i);
    (void)snprintf(text + n, sizeof text - n, "]}}}");
    return text;
}

static void eight_terms_are_the_most(void **state) {
    (void)state;
    assert_int_equal(decode(with_terms(7)).placement_term_count, 7);
    assert_int_equal(decode(with_terms(8)).placement_term_count, 8);
    struct json_reader r = decoding_reader(with_terms(9));
    struct policy policy;
    policy_decode(&r, &policy);
    decoding_refused(&r, "doc.spec.placements.spread[8]: more than 8 items");
}

static void errors_name_the_path(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {POLICY("\"placements\":null"), "doc.spec: pods or placements is required"},
        {POLICY("\"placements\":[]"), "doc.spec.placements: expected an object"},
        {POLICY("\"placements\":{\"spreads\":[]}"), "doc.spec.placements.spreads: unknown field"},
        {POLICY("\"placements\":{\"spread\":{}}"), "doc.spec.placements.spread: expected an array"},
        {POLICY("\"placement\":{}"), "doc.spec.placement: unknown field"},
        {POLICY(PLACEMENTS("{}")), "doc.spec.placements.spread[0]: topologyKey is required"},
        {POLICY(PLACEMENTS(KEY("a") "," KEY(""))), "spread[1]: topologyKey is required"},
        {POLICY(PLACEMENTS("{\"topologyKey\":\"a\",\"labelSelector\":{}}")),
         "doc.spec.placements.spread[0].labelSelector: unknown field"},
        {POLICY(PLACEMENTS("{\"maxSkew\":0}")),
         "doc.spec.placements.spread[0].maxSkew: 0 is not between 1 and 2147483647"},
        {POLICY(PLACEMENTS("{\"minDomains\":0}")),
         "doc.spec.placements.spread[0].minDomains: 0 is not between 1 and 2147483647"},
        {POLICY(PLACEMENTS("{\"minDomains\":2147483648}")), "minDomains: 2147483648 is not"},
        {POLICY(PLACEMENTS("{\"maxSkew\":\"1\"}")), "maxSkew: expected a number"},
        {POLICY(PLACEMENTS("{\"topologyKeyType\":\"Lable\"}")),
         "doc.spec.placements.spread[0].topologyKeyType: 'Lable': did you mean 'Label'?"},
        {POLICY(PLACEMENTS("{\"topologyKeyType\":\"claim\"}")), "did you mean 'Claim'?"},
        {POLICY(PLACEMENTS("{\"topologyKeyType\":\"Property\"}")),
         "topologyKeyType: 'Property' is not one of Label, Claim"},
        {POLICY(PLACEMENTS("{\"topologyKeyType\":\"\"}")), "'' is not one of Label, Claim"},
        {POLICY(PLACEMENTS("{\"whenUnsatisfiable\":\"DoNotSchedul\"}")),
         "doc.spec.placements.spread[0].whenUnsatisfiable: 'DoNotSchedul': did you mean "
         "'DoNotSchedule'?"},
        {POLICY(PLACEMENTS("{\"whenUnsatisfiable\":\"Never\"}")),
         "'Never' is not one of ScheduleAnyway, DoNotSchedule"},
        {POLICY(PLACEMENTS(KEY("a") "," KEY("b") "," KEY("a"))),
         "doc.spec.placements.spread: items 0 and 2 have the same topologyKey 'a' of type Label"},
        /* how much else differs does not matter */
        {POLICY(PLACEMENTS(
             "{\"topologyKey\":\"a\",\"topologyKeyType\":\"Claim\",\"maxSkew\":2},{\"topologyKey\":"
             "\"a\",\"topologyKeyType\":\"Claim\",\"whenUnsatisfiable\":\"DoNotSchedule\"}")),
         "items 0 and 1 have the same topologyKey 'a' of type Claim"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        struct policy policy;
        policy_decode(&r, &policy);
        decoding_refused(&r, wrong[i][1]);
    }
}

#define CLAIM(key) "{\"topologyKey\":\"" key "\",\"topologyKeyType\":\"Claim\"}"

static void what_cannot_work_is_said(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {POLICY("\"placements\":{}"), "spec.placements.spread is empty, or is not there"},
        {POLICY("\"placements\":{\"spread\":null}"), "spec.placements.spread is empty, or"},
        {POLICY(PLACEMENTS("")), "spec.placements.spread is empty, or is not there"},
        {POLICY(PODS ",\"placements\":{}"), "spec.placements.spread is empty, or is not there"},
        {POLICY("\"pods\":{}," PLACEMENTS(KEY("a"))), "spec.pods has none of spread, locality and"},
        {POLICY("\"pods\":{\"schedulerNames\":[\"x\"]}," PLACEMENTS(KEY("a"))),
         "spec.pods has none of spread, locality and weights"},
        {POLICY(PLACEMENTS(KEY("a") "," KEY("b c"))),
         "spec.placements.spread[1]: 'b c' is not a label key, so no cluster has it"},
        {POLICY(PLACEMENTS(CLAIM("b c"))),
         "spec.placements.spread[0]: 'b c' is not the name of a claim, so no cluster has it"},
        {POLICY(PLACEMENTS(CLAIM("a/b/c"))), "'a/b/c' is not the name of a claim"},
        {POLICY(PODS "," PLACEMENTS(KEY("b c"))), "spec.placements.spread[0]: 'b c'"},
        {POLICY(PLACEMENTS(KEY("a")) ",\"match\":{\"exclude\":{\"objectSelector\":{}}}"),
         "spec.match.exclude.objectSelector is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ERR_TEXT_SIZE];
        struct policy p = decode(cases[i][0]);
        (void)snprintf(text, sizeof text, "%.*s", STR_ARG(p.problem)); /* fits */
        assert_contains(text, cases[i][1]);
    }
    /* minDomains of a soft term counts in its skew, so that is no contradiction as it is for pods
     */
    assert_str(decode(POLICY(PLACEMENTS("{\"topologyKey\":\"a\",\"minDomains\":2}"))).problem, "");
}

/* A label's name is as long as 63 characters, and a claim's as 253. */
static void the_longest_keys(void **state) {
    (void)state;
    static const struct {
        const char *type;
        int length;
        bool good;
    } cases[] = {{"Label", 63, true},
                 {"Label", 64, false},
                 {"Claim", 64, true},
                 {"Claim", 253, true},
                 {"Claim", 254, false}};
    char key[255], text[512];
    memset(key, 'a', sizeof key);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"placements\":{\"spread\":[{"
                       "\"topologyKey\":\"%.*s\",\"topologyKeyType\":\"%s\"}]}}}",
                       cases[i].length, key, cases[i].type); /* fits */
        struct policy p = decode(text);
        assert_int_equal(str_empty(p.problem), cases[i].good);
    }
}

/* What is asked for one target takes nothing from the other, whoever comes first. */
static void pods_and_placements_choose_apart(void **state) {
    (void)state;
    const struct labels none = {0};
    struct policy policies[] = {
        decode(POLICY(PLACEMENTS(KEY("region")))),
        decode(POLICY(PODS)),
        decode(POLICY(PODS "," PLACEMENTS(KEY("zone")))),
    };
    struct policy_question question = {.object_labels = &none};
    struct policy_choice choice;
    assert_true(policy_match(policies, 3, &question, &choice));
    assert_ptr_equal(choice.enforced[POLICY_SPREAD], &policies[1]);
    assert_null(choice.enforced[POLICY_PLACEMENTS]);
    question.target = POLICY_FOR_PLACEMENTS;
    assert_true(policy_match(policies, 3, &question, &choice));
    assert_ptr_equal(choice.enforced[POLICY_PLACEMENTS], &policies[0]);
    assert_null(choice.enforced[POLICY_SPREAD]);
    assert_true(policy_match(policies + 1, 2, &question, &choice));
    assert_ptr_equal(choice.enforced[POLICY_PLACEMENTS], &policies[2]);
    assert_true(policy_match(policies + 1, 1, &question, &choice));
    assert_null(choice.enforced[POLICY_PLACEMENTS]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(what_is_left_out_has_a_default),
        DECODING_TEST(every_field_is_read),
        DECODING_TEST(a_policy_has_one_section_or_both),
        DECODING_TEST(one_key_may_be_there_once_for_each_type),
        DECODING_TEST(eight_terms_are_the_most),
        DECODING_TEST(errors_name_the_path),
        DECODING_TEST(what_cannot_work_is_said),
        DECODING_TEST(the_longest_keys),
        DECODING_TEST(pods_and_placements_choose_apart),
    };
    return cmocka_run_group_tests_name("placements of policies", tests, NULL, NULL);
}
