/* What an editor of pods reads beside the decoders of pods. */
#include "model/pod_details.h"

#include "unit/model/decoding.h"

#include <errno.h>

static struct pod_details details_of(const char *pod) {
    struct pod_details d = {.namespace = {0}};
    struct err err;
    if (pod_details_read_metadata(str_of(pod), &decoding_arena, &d, &err) != 0 ||
        pod_details_read_spec(str_of(pod), &decoding_arena, &d, &err) != 0)
        fail_msg("%s", err.text);
    return d;
}

static void metadata_is_read_as_written(void **state) {
    (void)state;
    struct pod_details d =
        details_of("{\"spec\":{},\"metadata\":{\"namespace\":\"n\",\"annotations\""
                   ":{\"b\":\"2\",\"a\":\"1\"}}}");
    assert_str(d.namespace, "n");
    assert_int_equal(d.annotations.count, 2);
    assert_str(d.annotations.items[0].key, "a");
    d = details_of("{}"); /* no default here */
    assert_str(d.namespace, "");
    assert_int_equal(d.annotations.count, 0);
}

static void claims_and_mounts_are_found(void **state) {
    (void)state;
    struct pod_details d = details_of(
        "{\"spec\":{\"initContainers\":[{\"name\":\"i\"},{\"volumeMounts\":[{\"name\":\"v\"}]}],"
        "\"volumes\":[{\"name\":\"e\",\"emptyDir\":{}},{\"name\":\"v\",\"persistentVolumeClaim\":{"
        "\"claimName\":\"c\"}},{\"persistentVolumeClaim\":null}],\"containers\":[{\"volumeMounts\":"
        "[{\"name\":\"e\",\"mountPropagation\":\"None\"},{\"name\":\"v\",\"mountPropagation\":null}"
        "]},{\"volumeMounts\":null},{\"volumeMounts\":[{\"mountPropagation\":\"\",\"name\":\"w\"}]}"
        "]}}");
    static const struct {
        const char *volume;
        bool init, propagates;
        uint32_t container, mount;
    } mounts[] = {{"v", true, false, 1, 0},
                  {"e", false, true, 0, 0},
                  {"v", false, false, 0, 1},
                  {"w", false, false, 2, 0}};
    assert_int_equal(d.volume_count, 3);
    assert_int_equal(d.claim_count, 1);
    assert_str(d.claims[0].name, "v");
    assert_str(d.claims[0].claim, "c");
    assert_int_equal(d.mount_count, sizeof mounts / sizeof mounts[0]);
    for (uint32_t i = 0; i < d.mount_count; i++) {
        assert_str(d.mounts[i].volume, mounts[i].volume);
        assert_int_equal(d.mounts[i].in_init_container, mounts[i].init);
        assert_int_equal(d.mounts[i].propagates, mounts[i].propagates);
        assert_int_equal(d.mounts[i].container, mounts[i].container);
        assert_int_equal(d.mounts[i].mount, mounts[i].mount);
    }
}

#define NODE_AFFINITY(text) "{\"spec\":{\"affinity\":{\"nodeAffinity\":" text "}}}"
#define REQUIRED(text)                                                                             \
    NODE_AFFINITY("{\"requiredDuringSchedulingIgnoredDuringExecution\":" text "}")
#define PREFERRED(text)                                                                            \
    NODE_AFFINITY("{\"preferredDuringSchedulingIgnoredDuringExecution\":" text "}")

static void terms_keep_their_text(void **state) {
    (void)state;
    struct pod_details d = details_of(REQUIRED(
        "{\"nodeSelectorTerms\":[ {\"x\":1.0, \"matchExpressions\" : [ {\"key\":\"k\",\"operator\":"
        "\"In\",\"values\":[\"b\",\"a\"],\"y\":2} ]},null,{\"matchFields\":[{\"key\":\"f\"}],"
        "\"matchExpressions\":null}]}"));
    const struct written_term *terms = d.affinity.terms;
    assert_true(d.affinity.present && d.affinity.required && !d.affinity.prefers);
    assert_int_equal(d.affinity.term_count, 3);
    assert_str(terms[0].text, "{\"x\":1.0, \"matchExpressions\" : [ {\"key\":\"k\",\"operator\":"
                              "\"In\",\"values\":[\"b\",\"a\"],\"y\":2} ]}");
    assert_str(terms[0].expressions_text, "[ {\"key\":\"k\",\"operator\":\"In\",\"values\":[\"b\","
                                          "\"a\"],\"y\":2} ]");
    assert_int_equal(terms[0].expression_count, 1);
    assert_str(terms[0].expressions[0].values[0], "b");
    assert_str(terms[1].text, "null");
    assert_int_equal(terms[1].expression_count + terms[1].field_count, 0);
    assert_str(terms[2].expressions_text, "null");
    assert_int_equal(terms[2].field_count, 1);
    assert_str(terms[2].fields[0].key, "f");
}

static void what_is_there_is_told_from_what_is_not(void **state) {
    (void)state;
    static const struct {
        const char *pod;
        bool present, required, prefers;
        uint32_t terms, preferences;
    } cases[] = {
        {"{\"spec\":{\"affinity\":{}}}", false, false, false, 0, 0},
        {NODE_AFFINITY("null"), false, false, false, 0, 0},
        {NODE_AFFINITY("{}"), true, false, false, 0, 0},
        {REQUIRED("null"), true, false, false, 0, 0},
        {REQUIRED("{}"), true, true, false, 0, 0},
        {REQUIRED("{\"nodeSelectorTerms\":[]}"), true, true, false, 0, 0},
        {PREFERRED("null"), true, false, false, 0, 0},
        {PREFERRED("[]"), true, false, true, 0, 0},
        {PREFERRED("[{\"weight\":3,\"preference\":{\"matchExpressions\":[{}]}},{\"weight\":4}]"),
         true, false, true, 0, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct written_affinity a = details_of(cases[i].pod).affinity;
        if (a.present != cases[i].present || a.required != cases[i].required ||
            a.prefers != cases[i].prefers || a.term_count != cases[i].terms ||
            a.preference_count != cases[i].preferences)
            fail_msg("%s", cases[i].pod);
    }
}

/* Something else stands where an object must be: nothing will be overwritten. */
static void strange_documents_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{\"spec\":3}", "Pod.spec: expected an object"},
        {"{\"spec\":{\"affinity\":[]}}", "Pod.spec.affinity: expected an object"},
        {NODE_AFFINITY("\"x\""), "nodeAffinity: expected an object"},
        {PREFERRED("{}"), "expected an array"},
        {REQUIRED("{\"nodeSelectorTerms\":[7]}"), "expected an object"},
        {"{\"spec\":{\"containers\":{}}}", "Pod.spec.containers: expected an array"},
        {"{\"spec\":{\"volumes\":[{\"name\":1}]}}", "Pod.spec.volumes[0].name: expected a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pod_details d = {.namespace = {0}};
        struct err err = {0};
        assert_int_equal(pod_details_read_spec(str_of(cases[i][0]), &decoding_arena, &d, &err),
                         -EINVAL);
        assert_contains(err.text, cases[i][1]);
    }
}

static void memory_that_runs_out_is_an_error(void **state) {
    (void)state;
    struct arena small;
    struct pod_details d = {.namespace = {0}};
    arena_init(&small, 1);
    assert_int_equal(
        pod_details_read_spec(STR("{\"spec\":{\"containers\":[{\"volumeMounts\":[{}]}]}}"), &small,
                              &d, NULL),
        -ENOMEM);
    arena_done(&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(metadata_is_read_as_written),
        DECODING_TEST(claims_and_mounts_are_found),
        DECODING_TEST(terms_keep_their_text),
        DECODING_TEST(what_is_there_is_told_from_what_is_not),
        DECODING_TEST(strange_documents_are_refused),
        DECODING_TEST(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests_name("pod details", tests, NULL, NULL);
}
