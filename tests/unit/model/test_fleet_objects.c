/* Sets, bindings, decisions and scores of Open Cluster Management. Fields, defaults and words:
 * upstream's CRDs (api v1.2.0); of two items of one name the last: AddOnPlacementScores are read so
 * by the placement controller's prioritizer. */
#include "model/ocm.h"

#include "unit/model/decoding.h"

static struct cluster_set set_of(const char *json) {
    struct cluster_set s;
    struct json_reader r = decoding_reader(json);
    cluster_set_decode(&r, &s);
    decoding_good(&r);
    return s;
}

static void set_refused(const char *json, const char *words) {
    struct cluster_set s;
    struct json_reader r = decoding_reader(json);
    cluster_set_decode(&r, &s);
    decoding_refused(&r, words);
}

#define SET(selector) "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"clusterSelector\":" selector "}}"

static void sets(void **state) {
    (void)state;
    const char *by_label[] = {
        "{\"metadata\":{\"name\":\"s\"}}",
        "{\"metadata\":{\"name\":\"s\"},\"spec\":null}",
        SET("null"),
        SET("{}"),
        SET("{\"selectorType\":null}"),
        SET("{\"selectorType\":\"ExclusiveClusterSetLabel\"}"),
        "{\"kind\":\"ManagedClusterSet\",\"apiVersion\":\"cluster.open-cluster-management.io/"
        "v1beta1\",\"metadata\":{\"name\":\"s\"},\"spec\":{\"clusterSelector\":{\"selectorType\":"
        "\"LegacyClusterSetLabel\"}}}",
    };
    for (size_t i = 0; i < sizeof by_label / sizeof by_label[0]; i++) {
        struct cluster_set s = set_of(by_label[i]);
        assert_str(s.meta.name, "s");
        assert_int_equal(s.type, CLUSTER_SET_BY_LABEL);
    }
    struct cluster_set s = set_of(SET("{\"selectorType\":\"LabelSelector\"}"));
    assert_int_equal(s.type, CLUSTER_SET_BY_SELECTOR);
    assert_false(s.selector.present); /* nothing */
    s = set_of(SET("{\"labelSelector\":{},\"selectorType\":\"LabelSelector\"}"));
    assert_true(s.selector.present); /* everything */
    s = set_of(SET("{\"selectorType\":\"LabelSelector\",\"labelSelector\":{\"matchLabels\":{\"a\":"
                   "\"b\"}}}"));
    assert_int_equal(s.selector.match_labels.count, 1);
    set_refused(SET("{\"selectorType\":\"errorType\"}"),
                "doc.spec.clusterSelector.selectorType: 'errorType' is not one of "
                "ExclusiveClusterSetLabel, LabelSelector");
    set_refused(SET("{\"selectorType\":\"labelselector\"}"), "did you mean 'LabelSelector'?");
    set_refused(SET("{\"selectorType\":\"LegacyClusterSetLabel\"}"), "'LegacyClusterSetLabel'");
}

static void bindings(void **state) {
    (void)state;
    struct object_meta meta;
    struct json_reader r = decoding_reader(
        "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"spec\":{\"clusterSet\":\"other\"}}");
    cluster_set_binding_decode(&r, &meta);
    decoding_good(&r);
    assert_str(meta.name, "s");
    assert_str(meta.namespace, "n");
    r = decoding_reader("{\"metadata\":{\"name\":\"s\"}}");
    cluster_set_binding_decode(&r, &meta);
    assert_str(meta.namespace, "default");
}

static void decisions(void **state) {
    (void)state;
    struct placement_decision d;
    struct json_reader r = decoding_reader(
        "{\"metadata\":{\"name\":\"p-decision-1\",\"namespace\":\"n\",\"labels\":{"
        "\"" PLACEMENT_LABEL
        "\":\"p\"}},\"status\":{\"decisions\":[{\"clusterName\":\"c2\",\"reason\":\"\"},"
        "{\"reason\":\"x\",\"score\":3,\"clusterName\":\"c1\"},{\"clusterName\":\"c2\"}]}}");
    struct str whose;
    placement_decision_decode(&r, &d);
    decoding_good(&r);
    assert_true(labels_lookup(&d.meta.labels, STR(PLACEMENT_LABEL), &whose));
    assert_str(whose, "p");
    assert_int_equal(d.cluster_count, 3);
    assert_str(d.clusters[0], "c2");
    assert_str(d.clusters[1], "c1");
    assert_str(d.clusters[2], "c2");
    uint64_t reasons = placement_reasons_add(0, STR(""));
    reasons = placement_reasons_add(reasons, STR("x"));
    assert_true(d.reasons != placement_reasons_add(reasons, STR("x")));
    assert_true(d.reasons == placement_reasons_add(reasons, STR("")));
    const char *empty[] = {"{\"metadata\":{\"name\":\"d\"}}",
                           "{\"metadata\":{\"name\":\"d\"},\"status\":null}",
                           "{\"metadata\":{\"name\":\"d\"},\"status\":{\"decisions\":null}}",
                           "{\"metadata\":{\"name\":\"d\"},\"status\":{\"decisions\":[]}}"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        r = decoding_reader(empty[i]);
        placement_decision_decode(&r, &d);
        decoding_good(&r);
        assert_int_equal(d.cluster_count, 0);
        assert_str(d.meta.namespace, "default");
    }
    r = decoding_reader("{\"status\":{\"decisions\":[{\"clusterName\":1}]}}");
    placement_decision_decode(&r, &d);
    decoding_refused(&r, "doc.status.decisions[0].clusterName: expected a string");
}

static struct placement_score score_of(const char *json) {
    struct placement_score s;
    struct json_reader r = decoding_reader(json);
    placement_score_decode(&r, &s);
    decoding_good(&r);
    return s;
}

static void score_refused(const char *json, const char *words) {
    struct placement_score s;
    struct json_reader r = decoding_reader(json);
    placement_score_decode(&r, &s);
    decoding_refused(&r, words);
}

static void scores(void **state) {
    (void)state;
    struct placement_score s = score_of(
        "{\"metadata\":{\"name\":\"demo\",\"namespace\":\"c1\"},\"status\":{\"validUntil\":"
        "\"1970-01-01T00:00:01Z\",\"scores\":[{\"name\":\"mem\",\"value\":-100},{\"name\":\"cpu\","
        "\"value\":1},{\"value\":100000,\"name\":\"cpu\"},{\"name\":\"net\"}]}}");
    assert_str(s.meta.name, "demo");
    assert_str(s.meta.namespace, "c1");
    assert_true(s.has_end);
    assert_int_equal(s.valid_until_ms, 1000);
    assert_int_equal(s.item_count, 3);
    assert_str(s.items[0].name, "cpu");
    assert_int_equal(s.items[0].value, 100000);
    assert_str(s.items[1].name, "mem");
    assert_int_equal(s.items[1].value, -100);
    assert_str(s.items[2].name, "net");
    assert_int_equal(s.items[2].value, 0);
    const char *empty[] = {"{\"metadata\":{\"name\":\"d\"}}", "{\"status\":null}",
                           "{\"status\":{\"scores\":null,\"validUntil\":null}}",
                           "{\"status\":{\"scores\":[]}}"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        s = score_of(empty[i]);
        assert_int_equal(s.item_count, 0);
        assert_false(s.has_end);
    }
    score_refused("{\"status\":{\"validUntil\":\"soon\"}}", "doc.status.validUntil: 'soon' is not");
    score_refused("{\"status\":{\"scores\":[{\"name\":\"a\",\"value\":\"5\"}]}}",
                  "doc.status.scores[0].value: expected a number");
    score_refused("{\"status\":{\"scores\":[{\"name\":\"a\",\"value\":2147483648}]}}",
                  "is not between");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(sets),
        DECODING_TEST(bindings),
        DECODING_TEST(decisions),
        DECODING_TEST(scores),
    };
    return cmocka_run_group_tests_name("fleet objects", tests, NULL, NULL);
}
