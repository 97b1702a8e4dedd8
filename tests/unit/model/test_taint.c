/* Taints; upstream's own answers are in tests/conformance/test_kube_primitives.c. */
#include "model/taint.h"

#include "base/limits.h"
#include "unit/model/decoding.h"

static struct tolerations tolerations(const char *json) {
    struct json_reader r = decoding_reader(json);
    struct tolerations decoded = tolerations_decode(&r);
    decoding_good(&r);
    return decoded;
}

static bool tolerated(const char *taints, const char *by) {
    struct json_reader r = decoding_reader(taints);
    uint32_t count;
    const struct taint *decoded = taints_decode(&r, &count);
    decoding_good(&r);
    return taints_tolerated(decoded, count, tolerations(by));
}

#define TAINT(key, value, effect)                                                                  \
    "{\"key\":\"" key "\",\"value\":\"" value "\",\"effect\":\"" effect "\"}"

static void only_effects_that_keep_pods_off_matter(void **state) {
    (void)state;
    assert_true(tolerated("null", "null"));
    assert_true(tolerated("[]", "[]"));
    assert_true(tolerated("[" TAINT("k", "v", "PreferNoSchedule") "]", "[]"));
    assert_true(tolerated("[" TAINT("k", "v", "SomethingNew") "]", "[]"));
    assert_false(tolerated("[" TAINT("k", "v", "NoSchedule") "]", "[]"));
    assert_false(tolerated("[" TAINT("k", "v", "NoExecute") "]", "[]"));
    assert_false(tolerated(
        "[" TAINT("j", "", "PreferNoSchedule") "," TAINT("k", "v", "NoSchedule") "]", "[]"));
}

static void every_taint_needs_its_toleration(void **state) {
    (void)state;
    static const char two[] =
        "[" TAINT("a", "1", "NoSchedule") "," TAINT("b", "2", "NoExecute") "]";
    assert_false(tolerated(two, "[{\"key\":\"a\",\"operator\":\"Exists\"}]"));
    assert_false(tolerated(two, "[{\"key\":\"b\",\"operator\":\"Exists\"}]"));
    assert_true(tolerated(two, "[{\"key\":\"b\",\"operator\":\"Exists\"},"
                               "{\"key\":\"a\",\"value\":\"1\",\"effect\":\"NoSchedule\"}]"));
    assert_true(tolerated(two, "[{\"operator\":\"Exists\"}]"));
}

static void tolerations_fit_in_every_part(void **state) {
    (void)state;
    static const char taint[] = "[" TAINT("k", "v", "NoSchedule") "]";
    static const struct {
        const char *toleration;
        bool want;
    } rows[] = {
        {"{\"key\":\"k\",\"value\":\"v\"}", true},
        {"{\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"NoSchedule\"}", true},
        {"{\"key\":\"k\",\"value\":\"w\"}", false},
        {"{\"key\":\"j\",\"value\":\"v\"}", false},
        {"{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}", false},
        {"{\"key\":\"k\",\"operator\":\"Exists\",\"value\":\"w\"}", true},
        {"{\"key\":\"k\",\"operator\":\"exists\"}", false},
        {"{\"key\":\"k\",\"operator\":\"Lt\",\"value\":\"v\"}", false},
        {"{\"key\":\"k\",\"value\":\"v\",\"tolerationSeconds\":1,\"x\":null}", true},
        {"{}", false},
        {"null", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf by = {0};
        strbuf_appendf(&by, "[%s]", rows[i].toleration);
        strbuf_append(&by, "", 1);
        assert_int_equal(tolerated(taint, by.p), rows[i].want);
        strbuf_done(&by);
    }
}

static void wrong_types_are_refused(void **state) {
    (void)state;
    uint32_t count = 7;
    struct json_reader r = decoding_reader("{}");
    (void)taints_decode(&r, &count);
    decoding_refused(&r, "expected an array, found an object");
    r = decoding_reader("[{\"key\":1}]");
    (void)tolerations_decode(&r);
    decoding_refused(&r, "doc[0].key: expected a string, found a number");
}

static void as_many_as_an_object_holds(void **state) {
    (void)state;
    enum { MANY = 100000 };
    struct strbuf json = {0};
    strbuf_append_char(&json, '[');
    for (int i = 0; i < MANY; i++)
        strbuf_appendf(&json, "%s{}", i > 0 ? "," : "");
    strbuf_append(&json, "]", 2);
    assert_int_equal(tolerations(json.p).count, MANY);
    strbuf_done(&json);
}

/* ---- keys and copies ---- */

static const char *const different[] = {
    "[]",
    "[{}]",
    "[{},{}]",
    "[{\"key\":\"a\"}]",
    "[{\"operator\":\"a\"}]",
    "[{\"value\":\"a\"}]",
    "[{\"effect\":\"a\"}]",
    "[{\"key\":\"a\",\"operator\":\"b\"}]",
    "[{\"key\":\"ab\"}]",
    "[{\"key\":\"a\"},{}]",
    "[{},{\"key\":\"a\"}]",
};

static struct str key_of(struct tolerations t) {
    struct strbuf out = {0};
    tolerations_key(t, &out);
    struct str kept = arena_str(&decoding_arena, strbuf_str(&out));
    strbuf_done(&out);
    return kept;
}

static void keys_tell_tolerations_apart(void **state) {
    (void)state;
    size_t n = sizeof different / sizeof different[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            assert_int_equal(str_has_prefix(key_of(tolerations(different[i])),
                                            key_of(tolerations(different[j]))),
                             i == j);
}

static void a_copy_owns_its_strings(void **state) {
    (void)state;
    char text[] = "[{\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"e\"},{}]";
    struct arena own;
    arena_init(&own, 1u << 20);
    struct tolerations from = tolerations(text);
    struct str key = key_of(from);
    struct tolerations copy = tolerations_copy(from, &own);
    memset(text, 'x', sizeof text - 1);
    assert_true(str_eq(key_of(copy), key));
    arena_done(&own);
    arena_init(&own, 8);
    assert_int_equal(tolerations_copy(from, &own).count, 0);
    assert_true(arena_failed(&own));
    arena_done(&own);
}

/* upstream: k8s.io/api core/v1 well_known_taints.go; k8s.io/cloud-provider/api
 * well_known_taints.go */
static void taints_that_kubernetes_sets(void **state) {
    static const char *const passing[] = {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/out-of-service",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
    };
    const struct tolerations all = {passing_taint_tolerations, PASSING_TAINTS};
    const struct taint another = {STR("node.kubernetes.io/read"), STR(""), STR("NoSchedule")};
    (void)state; /* there is none */
    assert_int_equal(PASSING_TAINTS, sizeof passing / sizeof passing[0]);
    for (size_t i = 0; i < PASSING_TAINTS; i++) {
        const struct taint taint = {str_of(passing[i]), STR("any"), STR("NoExecute")};
        assert_true(taints_tolerated(&taint, 1, all));
        assert_false(taints_tolerated(&taint, 1, (struct tolerations){NULL, 0}));
    }
    assert_false(taints_tolerated(&another, 1, all));
    assert_str(cordon_taint.key, "node.kubernetes.io/unschedulable");
    assert_str(cordon_taint.value, "");
    assert_str(cordon_taint.effect, "NoSchedule");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(only_effects_that_keep_pods_off_matter),
        DECODING_TEST(every_taint_needs_its_toleration),
        DECODING_TEST(tolerations_fit_in_every_part),
        DECODING_TEST(wrong_types_are_refused),
        DECODING_TEST(as_many_as_an_object_holds),
        DECODING_TEST(keys_tell_tolerations_apart),
        DECODING_TEST(a_copy_owns_its_strings),
        DECODING_TEST(taints_that_kubernetes_sets),
    };
    return cmocka_run_group_tests_name("taints", tests, NULL, NULL);
}
