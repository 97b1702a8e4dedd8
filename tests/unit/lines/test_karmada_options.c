/* `options` of a question about Karmada's scheduling: contract 5 and 10 of fleets. Plugins:
 * upstream, karmada v1.18.1 pkg/scheduler/framework/runtime registry_test.go. */
#include "lines/karmada_options.h"

#include "unit/model/decoding.h"

static struct karmada_options decode(const char *json) {
    struct karmada_options o;
    struct json_reader r = decoding_reader(json);
    karmada_options_decode(&r, &o);
    decoding_good(&r);
    return o;
}

static void refused(const char *json, const char *words) {
    struct karmada_options o;
    struct json_reader r = decoding_reader(json);
    karmada_options_decode(&r, &o);
    decoding_refused(&r, words);
}

static void defaults(void **state) {
    (void)state;
    static const char *const texts[] = {
        "null", "{}",
        "{\"missingTopology\":null,\"noConstraint\":null,\"compat\":null,\"models\":null,"
        "\"searchBudget\":null,\"maxGroupsUnset\":null,\"staticWeightsKeepSpread\":null,"
        "\"division\":null,\"setUnits\":null,\"resourceQuota\":null,\"overcommitProtection\":null,"
        "\"plugins\":null}",
        "{\"missingTopology\":\"Refuse\",\"noConstraint\":\"All\",\"compat\":\"\",\"models\":3,"
        "\"searchBudget\":1000000,\"maxGroupsUnset\":\"Zero\",\"staticWeightsKeepSpread\":false,"
        "\"division\":\"Webster\",\"setUnits\":\"ByFamily\",\"resourceQuota\":false,"
        "\"overcommitProtection\":false,\"plugins\":[\"*\"]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct karmada_options o = decode(texts[i]);
        assert_int_equal(o.missing, MISSING_REFUSE);
        assert_int_equal(o.no_constraint, NO_CONSTRAINT_ALL);
        assert_int_equal(o.compat, COMPAT_NONE);
        assert_int_equal(o.models, MODELS_THIRD);
        assert_int_equal(o.search_budget, 1000000);
        assert_int_equal(o.division, DIVISION_WEBSTER);
        assert_false(o.max_unset_is_unlimited || o.static_keeps_spread || o.sets_by_name);
        assert_false(o.resource_quota || o.overcommit_protection || o.empty_propagation);
        assert_int_equal(o.plugins, KARMADA_UPSTREAM_PLUGINS);
    }
}

static void every_one(void **state) {
    (void)state;
    const struct karmada_options o =
        decode("{\"missingTopology\":\"Default\",\"noConstraint\":\"UntilEnough\",\"compat\":"
               "\"v1.18.1\",\"models\":\"Off\",\"searchBudget\":1,\"maxGroupsUnset\":\"Unlimited\","
               "\"staticWeightsKeepSpread\":true,\"division\":\"Remainder\",\"setUnits\":\"ByName\""
               ",\"resourceQuota\":true,\"overcommitProtection\":true,\"plugins\":[]}");
    assert_int_equal(o.missing, MISSING_DEFAULT);
    assert_int_equal(o.no_constraint, NO_CONSTRAINT_UNTIL_ENOUGH);
    assert_int_equal(o.compat, COMPAT_1_18_1);
    assert_int_equal(o.models, MODELS_OFF);
    assert_int_equal(o.search_budget, 1);
    assert_int_equal(o.division, DIVISION_REMAINDER);
    assert_true(o.max_unset_is_unlimited && o.static_keeps_spread && o.sets_by_name);
    assert_true(o.resource_quota && o.overcommit_protection);
    assert_int_equal(o.plugins, 0);
    assert_int_equal(decode("{\"models\":1}").models, MODELS_FIRST);
    assert_int_equal(decode("{\"models\":2}").models, MODELS_SECOND);
    assert_int_equal(decode("{\"models\":\"1\"}").models, MODELS_FIRST);
    assert_int_equal(decode("{\"models\":\"3\"}").models, MODELS_THIRD);
}

static void plugins(void **state) {
    (void)state;
    const uint32_t all = KARMADA_UPSTREAM_PLUGINS;
    const uint32_t capacity = 1u << PLUGIN_CAPACITY, eviction = 1u << PLUGIN_CLUSTER_EVICTION;
    assert_int_equal(all & (capacity | 1u << PLUGIN_FREE_CAPACITY | 1u << PLUGIN_DATA_LOCALITY), 0);
    assert_int_equal(decode("{\"plugins\":[\"*\",\"Capacity\"]}").plugins, all | capacity);
    assert_int_equal(decode("{\"plugins\":[\"Capacity\",\"*\"]}").plugins, all | capacity);
    assert_int_equal(decode("{\"plugins\":[\"ClusterEviction\"]}").plugins, eviction);
    assert_int_equal(decode("{\"plugins\":[\"*\",\"-ClusterEviction\"]}").plugins, all & ~eviction);
    assert_int_equal(decode("{\"plugins\":[\"-ClusterEviction\",\"*\"]}").plugins, all & ~eviction);
    assert_int_equal(decode("{\"plugins\":[\"-ClusterEviction\"]}").plugins, 0);
    assert_int_equal(decode("{\"plugins\":[\"Capacity\",\"-Capacity\"]}").plugins, 0);
    assert_int_equal(decode("{\"plugins\":[\"-Capacity\",\"Capacity\"]}").plugins, capacity);
    refused("{\"plugins\":[\"capacity\"]}", "doc.plugins: there is no plugin 'capacity'; did you "
                                            "mean 'Capacity'?");
    refused("{\"plugins\":[\"-Frobnicate\"]}", "there is no plugin 'Frobnicate', at");
    refused("{\"plugins\":[\"\"]}", "there is no plugin ''");
    refused("{\"plugins\":\"*\"}", "doc.plugins");
}

static void what_is_refused(void **state) {
    (void)state;
    refused("{\"missingTopology\":\"Refused\"}", "missingTopology: 'Refused': did you mean "
                                                 "'Refuse'?");
    refused("{\"noConstraint\":\"None\"}", "noConstraint");
    refused("{\"compat\":\"v1.18\"}", "compat: 'v1.18' is not one of v1.18.1");
    refused("{\"models\":0}", "doc.models");
    refused("{\"models\":4}", "doc.models");
    refused("{\"models\":\"off!\"}", "models: 'off!': did you mean 'Off'?");
    refused("{\"searchBudget\":0}", "doc.searchBudget");
    refused("{\"searchBudget\":-1}", "doc.searchBudget");
    refused("{\"maxGroupsUnset\":true}", "maxGroupsUnset: expected a string");
    refused("{\"staticWeightsKeepSpread\":\"yes\"}", "staticWeightsKeepSpread");
    refused("{\"plugin\":[]}", "doc.plugin: there is no such option; did you mean 'plugins'?");
    refused("{\"frobnicate\":1}", "doc.frobnicate: there is no such option, at");
    refused("[]", "expected an object");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(defaults),
        DECODING_TEST(every_one),
        DECODING_TEST(plugins),
        DECODING_TEST(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
