/* Placements. Fields, defaults, ranges and words: upstream's CRD (api v1.2.0). The warnings and the
 * nearest word: the contract of `simulate --placement`. */
#include "model/ocm.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

static struct placement decode(const char *json) {
    struct placement p;
    struct json_reader r = decoding_reader(json);
    placement_decode(&r, &p);
    decoding_good(&r);
    return p;
}

static struct placement decode_stored(const char *json) {
    struct placement p;
    struct json_reader r = decoding_reader(json);
    placement_decode_as(&r, (struct placement_reading){.is_stored = true}, &p);
    decoding_good(&r);
    return p;
}

static void refused(const char *json, const char *words) {
    struct placement p;
    struct json_reader r = decoding_reader(json);
    placement_decode(&r, &p);
    decoding_refused(&r, words);
}

static void nothing_is_given(void **state) {
    (void)state;
    struct placement p = decode("{\"metadata\":{\"name\":\"p\"},\"spec\":{}}");
    assert_str(p.meta.name, "p");
    assert_str(p.meta.namespace, "default");
    assert_int_equal(p.annotations.count, 0);
    assert_int_equal(p.set_count + p.predicate_count + p.prioritizer_count + p.term_count, 0);
    assert_int_equal(p.toleration_count + p.group_count + p.warning_count, 0);
    assert_false(p.has_number);
    assert_str(p.mode, "");
    assert_true(p.group_length.is_text);
    assert_str(p.group_length.text, "100%");
}

/* As a Go client writes what is not set. */
static void everything_is_null(void **state) {
    (void)state;
    struct placement p = decode(
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"annotations\":null},\"spec\":{"
        "\"clusterSets\":null,\"numberOfClusters\":null,\"predicates\":null,\"prioritizerPolicy\":"
        "null,\"spreadPolicy\":{},\"tolerations\":null,\"decisionStrategy\":{\"groupStrategy\":{"
        "\"clustersPerDecisionGroup\":null,\"decisionGroups\":null}}}}");
    assert_str(p.meta.namespace, "n");
    assert_int_equal(p.set_count + p.predicate_count + p.prioritizer_count + p.term_count, 0);
    assert_false(p.has_number);
    assert_str(p.group_length.text, "100%");
}

static void sets_number_and_annotations(void **state) {
    (void)state;
    struct placement p =
        decode("{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\"},\"annotations\":{\"b\":"
               "\"2\",\"a\":\"any \\\"text\\\" at all\"},\"generation\":3},\"spec\":{"
               "\"clusterSets\":[\"prod\",\"dr\"],\"numberOfClusters\":0}}");
    struct str value;
    assert_true(labels_lookup(&p.annotations, STR("a"), &value));
    assert_str(value, "any \"text\" at all");
    assert_true(labels_lookup(&p.meta.labels, STR("app"), &value));
    assert_int_equal(p.set_count, 2);
    assert_str(p.sets[1], "dr");
    assert_true(p.has_number);
    assert_int_equal(p.number, 0);
    assert_int_equal(decode("{\"spec\":{\"numberOfClusters\":2147483647}}").number, INT32_MAX);
    refused("{\"spec\":{\"numberOfClusters\":-1}}", "doc.spec.numberOfClusters: -1 is negative");
    assert_int_equal(decode_stored("{\"spec\":{\"numberOfClusters\":-1}}").number, -1);
    refused("{\"spec\":{\"numberOfClusters\":2147483648}}", "is not between");
    refused("{\"spec\":{\"numberOfClusters\":\"3\"}}", "expected a number");
    refused("{\"spec\":{\"clusterSets\":[1]}}", "doc.spec.clusterSets[0]: expected a string");
}

static void outlines(void **state) {
    static const struct placement_reading outline = {.is_outline = true};
    struct placement p;
    (void)state;
    struct json_reader r = decoding_reader(
        "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\"},\"annotations\":{\"a\":\"b\"}},"
        "\"spec\":{\"predicates\":7,\"tolerations\":7,\"clusterSets\":7,\"numberOfClusters\":4,"
        "\"spreadPolicy\":{\"spreadConstraints\":[{\"topologyKey\":\"zone\","
        "\"topologyKeyType\":\"Claim\"}]}}}");
    placement_decode_as(&r, outline, &p);
    decoding_good(&r);
    assert_true(p.is_outline);
    assert_str(p.meta.name, "p");
    assert_int_equal(p.meta.labels.count + p.annotations.count, 2);
    assert_int_equal(p.number, 4);
    assert_int_equal(p.term_count, 1);
    assert_str(p.terms[0].key, "zone");
    r = decoding_reader("{\"spec\":{\"numberOfClusters\":-1}}");
    placement_decode_as(&r, outline, &p);
    decoding_refused(&r, "doc.spec.numberOfClusters: -1 is negative");
    assert_false(decode("{\"spec\":{\"numberOfClusters\":4}}").is_outline);
}

static void predicates_match_all_unless_they_say_more(void **state) {
    (void)state;
    struct placement p = decode(
        "{\"spec\":{\"predicates\":[null,{},{\"requiredClusterSelector\":{}},"
        "{\"requiredClusterSelector\":{\"labelSelector\":null,\"claimSelector\":null,"
        "\"celSelector\":{\"celExpressions\":[]}}},"
        "{\"requiredClusterSelector\":{\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}},"
        "\"claimSelector\":{\"matchLabels\":{\"no\":\"such field\"},\"matchExpressions\":[{\"key\":"
        "\"zone\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}]},"
        "\"celSelector\":{\"celExpressions\":[\"true\",\"false\"]}}}]}}");
    assert_int_equal(p.predicate_count, 5);
    for (uint32_t i = 0; i < p.predicate_count; i++) {
        const struct placement_predicate *q = &p.predicates[i];
        assert_true(q->selector.labels.present && q->selector.claims.present);
        assert_int_equal(q->selector.labels.match_labels.count, i == 4);
        assert_int_equal(q->selector.claims.expression_count, i == 4);
        assert_int_equal(q->selector.claims.match_labels.count, 0);
        assert_int_equal(q->has_cel, i == 4);
    }
    assert_str(p.predicates[4].selector.claims.expressions[0].key, "zone");
    assert_int_equal(p.predicates[4].selector.claims.expressions[0].value_count, 2);
}

/* Gates of ours are no CEL that somebody would have to evaluate; all else is. */
static void gates(void **state) {
    static const struct {
        const char *expressions;
        bool has_cel, is_gated;
    } table[] = {
#define GATE                                                                                       \
    "\"managedCluster.scores(\\\"evenkeel-3\\\").exists(s, s.name == \\\"s3-0a1b2c3d\\\" && "      \
    "s.value > "                                                                                   \
    "0)\""
        {"[]", false, false},
        {"null", false, false},
        {"[" GATE "]", false, true},
        {"[" GATE ", \"true\"]", true, true},
        {"[\"true\", " GATE "]", true, true},
        {"[" GATE ", null]", true, true},
        {"[\"true\"]", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "{\"spec\":{\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                       "\"celExpressions\":%s}}}]}}",
                       table[i].expressions);
        const struct placement p = decode(text);
        assert_int_equal(p.predicate_count, 1);
        assert_int_equal(p.predicates[0].has_cel, table[i].has_cel);
        assert_int_equal(p.predicates[0].is_gated, table[i].is_gated);
    }
}

static void prioritizers(void **state) {
    (void)state;
    struct placement p = decode(
        "{\"spec\":{\"prioritizerPolicy\":{\"mode\":\"exact\",\"configurations\":["
        "{\"scoreCoordinate\":{\"builtIn\":\"Balance\"},\"weight\":null},"
        "{\"scoreCoordinate\":{\"type\":\"BuiltIn\",\"builtIn\":\"Spread\"},\"weight\":-10},"
        "{\"scoreCoordinate\":{\"type\":\"\",\"builtIn\":\"Steady\"},\"weight\":10},"
        "{\"scoreCoordinate\":{\"type\":\"AddOn\",\"addOn\":{\"resourceName\":\"r\",\"scoreName\":"
        "\"\"}},\"weight\":0},"
        "{\"scoreCoordinate\":{\"type\":\"AddOn\"}},{\"weight\":3},"
        "{\"scoreCoordinate\":{\"type\":null}}]}}}");
    const struct placement_prioritizer *q = p.prioritizers;
    assert_str(p.mode, "exact"); /* as it is written: whoever decides refuses it */
    assert_int_equal(p.prioritizer_count, 7);
    assert_int_equal(p.warning_count, 0);
    assert_true(q[0].has_coordinate && q[0].type == PRIORITIZER_BUILT_IN && !q[0].has_add_on);
    assert_str(q[0].built_in, "Balance");
    assert_int_equal(q[0].weight, 1);
    assert_int_equal(q[1].weight, -10);
    assert_int_equal(q[2].weight, 10);
    assert_int_equal(q[2].type, PRIORITIZER_BUILT_IN);
    assert_true(q[3].has_add_on && q[3].type == PRIORITIZER_ADD_ON);
    assert_str(q[3].resource, "r");
    assert_str(q[3].score, "");
    assert_int_equal(q[3].weight, 0);
    assert_true(q[4].has_coordinate && q[4].type == PRIORITIZER_ADD_ON && !q[4].has_add_on);
    assert_false(q[5].has_coordinate);
    assert_true(q[6].has_coordinate && q[6].type == PRIORITIZER_BUILT_IN);
    assert_str(q[6].built_in, "");
}

#define CONFIGURATION(text) "{\"spec\":{\"prioritizerPolicy\":{\"configurations\":[{}," text "]}}}"

static void prioritizers_that_are_refused(void **state) {
    (void)state;
    refused(CONFIGURATION("{\"scoreCoordinate\":{\"type\":\"BuildIn\"}}"),
            "doc.spec.prioritizerPolicy.configurations[1].scoreCoordinate.type: 'BuildIn': did you "
            "mean 'BuiltIn'?");
    refused(CONFIGURATION("{\"scoreCoordinate\":{\"type\":\"addon\"}}"),
            "'addon': did you mean 'AddOn'?");
    refused(CONFIGURATION("{\"scoreCoordinate\":{\"type\":\"Plugin\"}}"),
            "'Plugin' is not one of BuiltIn, AddOn,");
    refused(CONFIGURATION("{\"weight\":-11}"), "configurations[1].weight: -11 is not between -10");
    refused(CONFIGURATION("{\"weight\":11}"), "11 is not between -10 and 10");
    refused(CONFIGURATION("{\"weight\":1.5}"), "expected a whole number");
    refused(CONFIGURATION("{\"scoreCoordinate\":{\"addOn\":{\"resourceName\":\"r\"}}}"),
            "scoreCoordinate.addOn: scoreName is required");
    refused(CONFIGURATION("{\"scoreCoordinate\":{\"addOn\":{\"scoreName\":\"s\",\"resourceName\":"
                          "null}}}"),
            "resourceName is required");
}

static void warnings_are(const struct placement *p, const char *wanted) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t i = 0; i < p->warning_count; i++)
        strbuf_appendf(&got, "%.*s\n", STR_ARG(p->warnings[i]));
    assert_str(strbuf_str(&got), wanted);
}

static void the_old_name_of_a_prioritizer(void **state) {
    (void)state;
    struct placement p = decode(
        "{\"spec\":{\"prioritizerPolicy\":{\"configurations\":[{\"name\":\"Balance\"},"
        "{\"name\":\"\",\"weight\":2},{\"name\":\"Steady\",\"scoreCoordinate\":{\"builtIn\":"
        "\"Balance\"}},{\"scoreCoordinate\":{\"type\":\"AddOn\",\"addOn\":{\"resourceName\":\"r\","
        "\"scoreName\":\"s\"}},\"name\":\"Steady\"},{\"name\":\"Steady\",\"scoreCoordinate\":{"
        "\"type\":\"BuiltIn\"}}]}}}");
    warnings_are(&p, "spec.prioritizerPolicy.configurations[0].name is deprecated: use "
                     "scoreCoordinate.builtIn\n"
                     "spec.prioritizerPolicy.configurations[2].name is deprecated: use "
                     "scoreCoordinate.builtIn; 'Steady' is not used\n"
                     "spec.prioritizerPolicy.configurations[3].name is deprecated: use "
                     "scoreCoordinate.builtIn; 'Steady' is not used\n"
                     "spec.prioritizerPolicy.configurations[4].name is deprecated: use "
                     "scoreCoordinate.builtIn\n");
    assert_true(p.prioritizers[0].has_coordinate);
    assert_str(p.prioritizers[0].built_in, "Balance");
    assert_false(p.prioritizers[1].has_coordinate);
    assert_str(p.prioritizers[2].built_in, "Balance");
    assert_str(p.prioritizers[3].built_in, "");
    assert_true(p.prioritizers[3].has_add_on);
    assert_str(p.prioritizers[4].built_in, "Steady");
}

static void the_old_version(void **state) {
    (void)state;
    static const char warning[] =
        "apiVersion cluster.open-cluster-management.io/v1alpha1 is no longer served: read as "
        "v1beta1\n";
    /* the version may stand at the end, and its warning is the first */
    struct placement p =
        decode("{\"spec\":{\"prioritizerPolicy\":{\"configurations\":[{\"name\":\"x\"}]}},"
               "\"apiVersion\":\"cluster.open-cluster-management.io/v1alpha1\"}");
    assert_int_equal(p.warning_count, 2);
    p.warning_count = 1;
    warnings_are(&p, warning);
    p = decode("{\"apiVersion\":\"cluster.open-cluster-management.io/v1alpha1\"}");
    warnings_are(&p, warning);
    p = decode("{\"apiVersion\":\"cluster.open-cluster-management.io/v1beta1\"}");
    warnings_are(&p, "");
}

#define TERMS(text) "{\"spec\":{\"spreadPolicy\":{\"spreadConstraints\":[" text "]}}}"
#define TERM(more) "{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Label\"" more "}"

static void terms(void **state) {
    (void)state;
    struct placement p = decode(
        TERMS(TERM("") "," TERM(",\"maxSkew\":null,\"whenUnsatisfiable\":null,\"minDomains\":"
                                "5") ","
                                     "{\"topologyKey\":\"rack\",\"topologyKeyType\":"
                                     "\"Claim\",\"maxSkew\":7,"
                                     "\"whenUnsatisfiable\":\"DoNotSchedule\"}," TERM(
                                         ",\"whenUnsatisfiable\":\"ScheduleAnyway\","
                                         "\"maxSkew\":2147483647")));
    assert_int_equal(p.term_count, 4);
    for (uint32_t i = 0; i < 2; i++) {
        assert_str(p.terms[i].key, "zone");
        assert_false(p.terms[i].is_claim || p.terms[i].hard);
        assert_int_equal(p.terms[i].max_skew, 1);
        assert_int_equal(p.terms[i].min_domains, 0); /* OCM has no such field */
    }
    assert_str(p.terms[2].key, "rack");
    assert_true(p.terms[2].is_claim && p.terms[2].hard);
    assert_int_equal(p.terms[2].max_skew, 7);
    assert_false(p.terms[3].hard);
    assert_int_equal(p.terms[3].max_skew, INT32_MAX);
}

#define SEVEN TERM("") "," TERM("") "," TERM("") "," TERM("") "," TERM("") "," TERM("") "," TERM("")

static void terms_that_are_refused(void **state) {
    (void)state;
    assert_int_equal(decode(TERMS(SEVEN)).term_count, 7);
    assert_int_equal(decode(TERMS(SEVEN "," TERM(""))).term_count, PLACEMENT_TERMS);
    refused(TERMS(SEVEN "," TERM("") "," TERM("")), "spreadConstraints[8]: more than 8 items");
    refused(TERMS(TERM(",\"maxSkew\":0")), "spreadConstraints[0].maxSkew: 0 is not between 1");
    refused(TERMS("{\"topologyKeyType\":\"Label\"}"), "topologyKey is required");
    refused(TERMS("{\"topologyKey\":\"\",\"topologyKeyType\":\"Label\"}"),
            "topologyKey is required");
    refused(TERMS("{\"topologyKey\":\"zone\"}"), "topologyKeyType is required: Label or Claim");
    refused(TERMS("{\"topologyKey\":\"zone\",\"topologyKeyType\":null}"),
            "topologyKeyType is required");
    refused(TERMS("{\"topologyKey\":\"zone\",\"topologyKeyType\":\"Lable\"}"),
            "topologyKeyType: 'Lable': did you mean 'Label'?");
    refused(TERMS(TERM(",\"whenUnsatisfiable\":\"DoNotSchedul\"")),
            "whenUnsatisfiable: 'DoNotSchedul': did you mean 'DoNotSchedule'?");
    refused(TERMS(TERM(",\"whenUnsatisfiable\":\"\"")), "'' is not one of");
    refused(TERMS("null"), "topologyKey is required");
}

static void tolerations(void **state) {
    (void)state;
    struct placement p =
        decode("{\"spec\":{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\",\"value\":\"v\","
               "\"effect\":\"NoSelectIfNew\",\"tolerationSeconds\":-9223372036854775808},"
               "{\"effect\":\"\",\"operator\":\"Sometimes\",\"tolerationSeconds\":null},{},"
               "{\"tolerationSeconds\":0}]}}");
    const struct placement_toleration *t = p.tolerations;
    assert_int_equal(p.toleration_count, 4);
    assert_str(t[0].toleration.key, "k");
    assert_str(t[0].toleration.op, "Exists");
    assert_str(t[0].toleration.value, "v");
    assert_str(t[0].toleration.effect, "NoSelectIfNew");
    assert_true(t[0].has_seconds && t[0].seconds == INT64_MIN);
    assert_str(t[1].toleration.op, "Sometimes"); /* no enum: it tolerates nothing */
    assert_str(t[1].toleration.effect, "");
    assert_false(t[1].has_seconds || t[2].has_seconds);
    assert_true(t[3].has_seconds && t[3].seconds == 0);
    refused("{\"spec\":{\"tolerations\":[{\"effect\":\"NoSchedule\"}]}}",
            "doc.spec.tolerations[0].effect: 'NoSchedule'");
    refused("{\"spec\":{\"tolerations\":[{\"effect\":\"noselect\"}]}}", "did you mean 'NoSelect'?");
    refused("{\"spec\":{\"tolerations\":[{\"tolerationSeconds\":\"5\"}]}}", "expected a number");
}

#define GROUPS(text) "{\"spec\":{\"decisionStrategy\":{\"groupStrategy\":{" text "}}}}"

static void group_length_is(const char *written, bool is_text, const char *text, int32_t number) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    strbuf_appendf(&json, GROUPS("\"clustersPerDecisionGroup\":%s") "%c", written, '\0');
    const struct placement_group_length length = decode(json.p).group_length;
    assert_int_equal(length.is_text, is_text);
    assert_str(length.text, text);
    assert_int_equal(length.number, number);
}

static void group_length_is_refused(const char *written) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    strbuf_appendf(&json, GROUPS("\"clustersPerDecisionGroup\":%s") "%c", written, '\0');
    refused(json.p, "doc.spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup: ");
}

/* upstream's pattern of texts: ^((100|[1-9][0-9]{0,1})%|[1-9][0-9]*)$ */
static void lengths_of_groups(void **state) {
    (void)state;
    group_length_is("0", false, "", 0);
    group_length_is("-5", false, "", -5);
    group_length_is("2147483647", false, "", INT32_MAX);
    group_length_is("\"1%\"", true, "1%", 0);
    group_length_is("\"99%\"", true, "99%", 0);
    group_length_is("\"100%\"", true, "100%", 0);
    group_length_is("\"25\"", true, "25", 0);
    group_length_is("\"99999999999999999999\"", true, "99999999999999999999", 0);
    const char *bad[] = {"\"0%\"",  "\"101%\"",   "\"\"",    "\"%\"",    "\"0\"",
                         "\"05\"",  "\"5 %\"",    "\"-5%\"", "\"5.5%\"", "\"x\"",
                         "\"5%%\"", "2147483648", "1.5",     "true"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        group_length_is_refused(bad[i]);
}

static void groups(void **state) {
    (void)state;
    struct placement p =
        decode(GROUPS("\"clustersPerDecisionGroup\":2,\"decisionGroups\":[{\"groupName\":"
                      "\"canary\",\"groupClusterSelector\":{\"labelSelector\":{\"matchLabels\":{"
                      "\"a\":\"b\"}},\"claimSelector\":{\"matchExpressions\":[{\"key\":\"c\","
                      "\"operator\":\"Exists\"}]}}},{\"groupName\":\"rest\","
                      "\"groupClusterSelector\":{}}]"));
    assert_int_equal(p.group_count, 2);
    assert_str(p.groups[0].name, "canary");
    assert_int_equal(p.groups[0].selector.labels.match_labels.count, 1);
    assert_int_equal(p.groups[0].selector.claims.expression_count, 1);
    assert_true(p.groups[1].selector.labels.present && p.groups[1].selector.claims.present);
    assert_int_equal(p.group_length.number, 2);
    refused(GROUPS("\"decisionGroups\":[{\"groupClusterSelector\":{}}]"),
            "decisionGroups[0]: groupName is required");
    refused(GROUPS("\"decisionGroups\":[{\"groupName\":\"g\"}]"),
            "groupClusterSelector is required");
}

/* A selector of so many bytes. */
static int parse_group(uint32_t bytes, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    CLEANUP(arena_done) struct arena arena;
    struct selector selector;
    strbuf_append_str(&json, STR("{\"metadata\":{\"name\":\"p\",\"annotations\":{"
                                 "\"" PLACEMENT_GROUP_ANNOTATION "\":\""));
    for (uint32_t i = 0; i < bytes; i++)
        strbuf_append_char(&json, i % 10 == 9 ? ',' : 'a');
    strbuf_append_str(&json, STR("\"}},\"spec\":{}}"));
    strbuf_append_char(&json, '\0');
    const struct placement p = decode(json.p);
    arena_init(&arena, 1 << 20);
    return placement_group_parse(&p, &arena, &selector, err);
}

static void a_spread_group(void **state) {
    CLEANUP(arena_done) struct arena arena;
    struct selector selector;
    struct err err;
    (void)state;
    arena_init(&arena, 1 << 20);
    struct placement p = decode("{\"metadata\":{\"name\":\"p\"},\"spec\":{}}");
    assert_int_equal(placement_group_parse(&p, &arena, &selector, &err), -ENOENT);
    assert_int_equal(parse_group(LIMIT_SPREAD_GROUP_TEXT - 1, &err), 0);
    assert_int_equal(parse_group(LIMIT_SPREAD_GROUP_TEXT, &err), 0);
    assert_int_equal(parse_group(LIMIT_SPREAD_GROUP_TEXT + 1, &err), -EINVAL);
    assert_string_equal(err.text, "the selector has 1025 bytes, more than 1024");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(nothing_is_given),
        DECODING_TEST(everything_is_null),
        DECODING_TEST(sets_number_and_annotations),
        DECODING_TEST(outlines),
        DECODING_TEST(predicates_match_all_unless_they_say_more),
        DECODING_TEST(gates),
        DECODING_TEST(prioritizers),
        DECODING_TEST(prioritizers_that_are_refused),
        DECODING_TEST(the_old_name_of_a_prioritizer),
        DECODING_TEST(the_old_version),
        DECODING_TEST(terms),
        DECODING_TEST(terms_that_are_refused),
        DECODING_TEST(tolerations),
        DECODING_TEST(lengths_of_groups),
        DECODING_TEST(groups),
        DECODING_TEST(a_spread_group),
    };
    return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
