/* Spread constraints as decoded; upstream's own validation is in
 * tests/conformance/test_kube_primitives.c. */
#include "model/topology.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

#define MIN "\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\""

static struct spread_constraint decode(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct spread_constraint constraint;
    spread_constraint_decode(&r, &constraint);
    decoding_good(&r);
    return constraint;
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{" MIN "}",
        "{" MIN ",\"minDomains\":null,\"nodeAffinityPolicy\":null,\"nodeTaintsPolicy\":null,"
        "\"labelSelector\":null,\"matchLabelKeys\":null,\"somethingNew\":{\"x\":[]}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct spread_constraint c = decode(texts[i]);
        assert_int_equal(c.max_skew, 1);
        assert_str(c.topology_key, "zone");
        assert_true(c.hard);
        assert_int_equal(c.min_domains, 1);
        assert_true(c.honor_affinity);
        assert_false(c.honor_taints);
        assert_false(c.selector.present);
        assert_int_equal(c.match_label_key_count, 0);
    }
}

static void every_field_is_read(void **state) {
    (void)state;
    struct spread_constraint c = decode(
        "{\"matchLabelKeys\":[\"a\",\"b\"],\"minDomains\":2147483647,\"maxSkew\":2147483647,"
        "\"labelSelector\":{\"matchLabels\":{\"x\":\"y\"}},\"nodeAffinityPolicy\":\"Ignore\","
        "\"nodeTaintsPolicy\":\"Honor\",\"topologyKey\":\"any text // at all\","
        "\"whenUnsatisfiable\":\"ScheduleAnyway\"}");
    assert_int_equal(c.max_skew, INT32_MAX);
    assert_int_equal(c.min_domains, INT32_MAX);
    assert_str(c.topology_key, "any text // at all");
    assert_false(c.hard);
    assert_false(c.honor_affinity);
    assert_true(c.honor_taints);
    assert_true(c.selector.present);
    assert_str(c.selector.match_labels.items[0].key, "x");
    assert_int_equal(c.match_label_key_count, 2);
    assert_str(c.match_label_keys[1], "b");
}

static void errors_name_the_field(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}", "maxSkew is required"},
        {"{\"maxSkew\":null,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}",
         "maxSkew is required"},
        {"{\"maxSkew\":0,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}",
         "doc.maxSkew: 0 is not between 1 and 2147483647"},
        {"{\"maxSkew\":2147483648,\"topologyKey\":\"z\"}",
         "doc.maxSkew: 2147483648 is not between"},
        {"{\"maxSkew\":1.0,\"topologyKey\":\"z\"}", "doc.maxSkew: expected a whole number"},
        {"{\"maxSkew\":\"1\",\"topologyKey\":\"z\"}", "doc.maxSkew: expected a number"},
        {"{\"maxSkew\":1,\"whenUnsatisfiable\":\"DoNotSchedule\"}", "topologyKey is required"},
        {"{\"maxSkew\":1,\"topologyKey\":\"\",\"whenUnsatisfiable\":\"DoNotSchedule\"}",
         "topologyKey is required"},
        {"{\"maxSkew\":1,\"topologyKey\":\"z\"}", "whenUnsatisfiable is required"},
        {"{\"maxSkew\":1,\"topologyKey\":\"z\",\"whenUnsatisfiable\":null}",
         "whenUnsatisfiable is required"},
        {"{\"maxSkew\":1,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"doNotSchedule\"}",
         "doc.whenUnsatisfiable: 'doNotSchedule' is neither 'DoNotSchedule' nor 'ScheduleAnyway'"},
        {"{" MIN ",\"minDomains\":0}", "doc.minDomains: 0 is not between 1 and"},
        {"{" MIN ",\"nodeAffinityPolicy\":\"\"}",
         "doc.nodeAffinityPolicy: '' is neither 'Honor' nor 'Ignore'"},
        {"{" MIN ",\"nodeTaintsPolicy\":\"honor\"}", "doc.nodeTaintsPolicy: 'honor' is neither"},
        {"{" MIN ",\"labelSelector\":[]}", "doc.labelSelector: expected an object"},
        {"{" MIN ",\"matchLabelKeys\":\"a\"}", "doc.matchLabelKeys: expected an array"},
        {"[]", "expected an object, found an array"},
        {"null", "maxSkew is required"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct json_reader r = decoding_reader(wrong[i][0]);
        struct spread_constraint constraint;
        spread_constraint_decode(&r, &constraint);
        decoding_refused(&r, wrong[i][1]);
    }
}

/* The API server takes them, so a limit would keep a pod from being judged at all. */
static void lists_have_no_limit(void **state) {
    enum { MANY = 5000 };
    (void)state;
    struct strbuf json = {0};
    uint32_t count;
    strbuf_append_char(&json, '[');
    for (int i = 0; i < MANY; i++)
        strbuf_appendf(&json, "%s{" MIN "}", i > 0 ? "," : "");
    strbuf_append(&json, "]", 2);
    struct json_reader r = decoding_reader(json.p);
    const struct spread_constraint *constraints = spread_constraints_decode(&r, &count);
    decoding_good(&r);
    assert_int_equal(count, MANY);
    assert_str(constraints[MANY - 1].topology_key, "zone");
    strbuf_done(&json);
    r = decoding_reader("null");
    (void)spread_constraints_decode(&r, &count);
    decoding_good(&r);
    assert_int_equal(count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(what_is_left_out_has_a_default),
        DECODING_TEST(every_field_is_read),
        DECODING_TEST(errors_name_the_field),
        DECODING_TEST(lists_have_no_limit),
    };
    return cmocka_run_group_tests_name("spread constraints", tests, NULL, NULL);
}
